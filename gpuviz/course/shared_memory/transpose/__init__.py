"""Lesson: matrix transpose."""
