"""Lesson: latency and what hides it."""
