"""Kernels of other libraries as launches of gpuviz: one file for each library.

A file imports its library only when one of its kernels is given, which means that it is there.
"""
