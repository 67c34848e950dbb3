"""Lesson: threads, warps, lanes."""
