"""Lesson: ILP against TLP."""
