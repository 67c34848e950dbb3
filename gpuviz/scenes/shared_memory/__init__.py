"""Pieces of the lessons on shared, constant and other memories."""
