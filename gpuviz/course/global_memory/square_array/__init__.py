"""Lesson: strides, offsets, groups."""
