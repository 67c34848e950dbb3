"""Frames painted, on screen and without a display."""
