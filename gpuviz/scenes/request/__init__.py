"""Requests to global memory of one warp: what they are, how they are told and drawn."""
