"""Lesson: matmul: boundaries."""
