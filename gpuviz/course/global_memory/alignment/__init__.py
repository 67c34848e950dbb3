"""Lesson: structs: alignment and arrays."""
