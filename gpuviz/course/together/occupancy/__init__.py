"""Lesson: occupancy."""
