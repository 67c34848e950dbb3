"""Lesson: constant memory."""
