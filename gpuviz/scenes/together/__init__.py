"""Pieces of the lessons that put it together."""
