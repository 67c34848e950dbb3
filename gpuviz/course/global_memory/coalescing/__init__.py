"""Lesson: coalescing."""
