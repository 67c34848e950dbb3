"""Lesson: block shapes."""
