"""Lesson: divergence."""
