"""Lesson: matmul: tiled."""
