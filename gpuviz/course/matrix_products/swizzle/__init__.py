"""Lesson: layouts and swizzles."""
