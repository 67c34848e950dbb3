"""Pieces of the lessons on organisation."""
