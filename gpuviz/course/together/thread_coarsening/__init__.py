"""Lesson: several cells a thread."""
