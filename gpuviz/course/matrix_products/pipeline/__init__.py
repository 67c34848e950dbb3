"""Lesson: pipelines of copies."""
