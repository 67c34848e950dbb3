"""Lesson: matmul: barriers."""
