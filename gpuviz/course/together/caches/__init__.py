"""Lesson: caches."""
