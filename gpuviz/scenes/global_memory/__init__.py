"""Pieces of the lessons on global memory."""
