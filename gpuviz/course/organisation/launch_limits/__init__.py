"""Lesson: limits and launches."""
