"""Pieces of the four lessons on matrix multiplication."""
