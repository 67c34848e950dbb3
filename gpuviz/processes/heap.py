"""The C library's heap, in a program that computes in one thread after the other."""

from __future__ import annotations

import ctypes
import sys

_ARENA_MAX = -8  # of glibc's malloc.h


def keep_together() -> None:
    """Have one heap for all threads, where the C library would give each its own.

    What a thread frees stays with its heap: a window that runs lessons in threads came to 2 GB of
    memory, most of it free. To be called before there are threads.
    """
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    if mallopt is not None:
        mallopt(_ARENA_MAX, 1)
