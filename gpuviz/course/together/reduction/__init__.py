"""Lesson: reduction."""
