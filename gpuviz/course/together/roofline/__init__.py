"""Lesson: roofline."""
