"""Sweeps in the window: what to vary, the work on it, the map that fills in."""
