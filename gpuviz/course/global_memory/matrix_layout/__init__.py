"""Lesson: matrix layout."""
