"""How much memory this machine can still give, so that what needs more is refused before; and the
C library's heap, in a program that computes in one thread after the other.
"""

import ctypes
import os
import sys
from pathlib import Path

from gpuviz.base.errors import InputError

_SHARE = 0.8  # of what is free: the rest is for the window and for others
_UNKNOWN = 8 << 30  # bytes that are believed to be free where the system does not say


def available() -> int:
    """Bytes that this process can still get."""
    return max(0, min(_of_machine(), _of_group(), _of_process()))


def check_memory(needed: int, what: str) -> None:
    """Refuse what needs more memory than there is; `what` says who wants it, "the arguments need".

    Raises
    ------
    InputError : names both amounts
    """
    free = available()
    if needed > free * _SHARE:
        raise InputError(
            f"{what} {needed:,} bytes of memory, and {free:,} are free for it here: make it smaller"
        )


def _of_machine() -> int:
    found = _named("/proc/meminfo", "MemAvailable:")
    if found is not None:
        return found
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows
        return _UNKNOWN


def _of_group() -> int:
    """What a container leaves."""
    try:
        folder = Path("/sys/fs/cgroup")
        limit = (folder / "memory.max").read_text()
        used = (folder / "memory.current").read_text()
        return int(limit) - int(used)
    except (OSError, ValueError):  # no container, or one without a limit
        return _UNKNOWN << 20


def _of_process() -> int:
    """What `ulimit -v` leaves."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        return _UNKNOWN << 20
    return _UNKNOWN << 20 if limit == resource.RLIM_INFINITY else limit - address_space()


def address_space() -> int:
    """Bytes of it that this process has mapped, 0 where the system does not say."""
    return _named("/proc/self/status", "VmSize:") or 0


def _named(file: str, name: str) -> int | None:
    """A row of a file of Linux's, `MemAvailable:  1234 kB`, in bytes."""
    try:
        with open(file, encoding="ascii", errors="replace") as rows:
            found = next((row for row in rows if row.startswith(name)), None)
    except OSError:
        return None
    return int(found.split()[1]) << 10 if found else None


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
