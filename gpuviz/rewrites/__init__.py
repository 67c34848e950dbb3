"""Rewrites of a kernel that may make it faster, each proven: compiled, run, its buffers compared
with those of before, looked through for faults, its time predicted.
"""
