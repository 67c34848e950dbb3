"""Lesson: a launch on the chip."""
