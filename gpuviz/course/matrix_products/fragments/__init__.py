"""Lesson: fragments of tensor cores."""
