"""Lesson: memory spaces."""
