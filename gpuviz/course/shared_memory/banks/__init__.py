"""Lesson: shared memory banks."""
