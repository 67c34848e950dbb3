"""What a launch takes on a device: caches, one multiprocessor cycle by cycle, what limits."""
