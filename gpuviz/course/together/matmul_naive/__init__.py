"""Lesson: matmul: naive."""
