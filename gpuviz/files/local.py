"""Paths that a file, a link or the memory of gpuviz names: they lead to this machine only.

Opening `//host/share/x` makes Windows log in to that host, and a folder of automatic mounts asks a
host for what is named in it. What the user types or chooses is the user's own affair.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from gpuviz.base.errors import InputError

_ELSEWHERE = re.compile(r"[\\/]{2}|file:|[A-Za-z][\w+.-]+://", re.IGNORECASE)
_MOUNTED = ("net", "afs", "Network")  # folders whose first part is the name of a host or cell


def local(name: str, folder: Path | None = None) -> str:
    """The name of a file again; `folder` is what it is seen from, if that is known.

    Raises
    ------
    InputError : it leads to another host, or may
    """
    if _ELSEWHERE.match(name.strip()):
        raise _refused(name)
    if os.name == "posix" and not name.startswith("~"):
        cell = _cell(os.path.normpath(os.path.join(folder or "/", name)))
        if cell and cell not in (_cell(str(folder or "")), _cell(str(Path.home()))):
            raise _refused(name)
    return name


def _cell(path: str) -> tuple[str, ...]:
    """The folder of mounts and the host that a path begins with, () when it does not."""
    parts = tuple(part for part in path.split("/") if part)
    return parts[:2] if path.startswith("/") and parts[:1] in {(one,) for one in _MOUNTED} else ()


def _refused(name: str) -> InputError:
    return InputError(
        f"{name[:300]} leads to another computer: gpuviz does not follow there what a file or a "
        "link names. Copy it to this one, and open it here"
    )
