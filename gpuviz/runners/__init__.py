"""Ways to run a launch: emulated here, recorded, or on a GPU."""
