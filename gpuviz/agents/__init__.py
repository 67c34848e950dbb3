"""Answers for programs that write kernels: what a launch costs and why, small enough for a model to
read, over the Model Context Protocol.
"""
