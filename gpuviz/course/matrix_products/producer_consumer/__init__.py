"""Lesson: producer and consumers."""
