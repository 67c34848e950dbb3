"""PTX text to a whole-launch SIMT emulation with NumPy."""
