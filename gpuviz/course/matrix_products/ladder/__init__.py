"""Lesson: the ladder to cuBLAS."""
