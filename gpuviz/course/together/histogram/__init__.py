"""Lesson: histogram."""
