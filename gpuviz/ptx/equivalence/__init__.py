"""A launch counted from classes of its blocks: those that provably do the same, each run once."""
