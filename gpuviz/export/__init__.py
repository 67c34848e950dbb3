"""Frames to files."""
