"""Which files another file may name: those in its own folder, and those its reader agreed to.

A lecture comes from anybody. What it names is read, shown and packed, so it must not name what
lies elsewhere on the machine of whoever opens it. Nor may a file, a link or the memory of gpuviz
lead to another machine: opening `//host/share/x` makes Windows log in to that host, and a folder of
automatic mounts asks a host for what is named in it. What the user types or chooses is the user's
own affair.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base.errors import Elsewhere, InputError


@dataclass(frozen=True)
class Reach:
    """The folder of a file, and files outside of it that its reader agreed to, by whole names."""

    folder: Path
    agreed: frozenset[Path] = frozenset()

    def elsewhere(self, file: Path) -> Path | None:
        """The file to be agreed to before this one may be read; None when it may be.

        A link counts as what it leads to. Nothing outside of the folder is touched: a name can be
        that of another machine.
        """
        whole = whole_name(self.folder / file)
        if whole in self.agreed:
            return None
        own = self.folder.resolve()
        if not any(map(whole.is_relative_to, (whole_name(self.folder), own))):
            return whole
        real = (self.folder / file).resolve()
        return None if real.is_relative_to(own) or real in self.agreed else real

    def check(self, what: str, files: Iterable[Path]) -> None:
        """Elsewhere, which names them, if some of these files may not be read by `what`."""
        found = tuple(one for one in map(self.elsewhere, files) if one is not None)
        if found:
            raise Elsewhere(what, tuple(dict.fromkeys(found)))


def whole_name(file: Path) -> Path:
    """An absolute name without `..`, as it is read: links are not followed."""
    return Path(os.path.normpath(file.absolute()))


_ELSEWHERE = re.compile(r"[\\/]{2}|[\\/]\?\?[\\/]|file:|[A-Za-z][\w+.-]+://", re.IGNORECASE)
_MOUNTED = ("net", "afs", "network")  # folders whose first part is the name of a host or cell
_ROOTS = re.compile(
    r"/(?:proc/(?:[^/]+/)+?root|System/Volumes/Data)(?=/)", re.IGNORECASE
)  # are "/"


def local(name: str, folder: Path | None = None) -> str:
    """The name of a file again; `folder` is what it is seen from, if that is known.

    Raises
    ------
    InputError : it leads to another host, or may
    """
    if _ELSEWHERE.match(name.strip()):
        raise _refused(name)
    if os.name == "posix":
        cell = _cell(os.path.normpath(os.path.join(folder or "/", os.path.expanduser(name))))
        if cell and cell not in (_cell(str(folder or "")), _cell(str(Path.home()))):
            raise _refused(name)
    return name


def _cell(path: str) -> tuple[str, ...]:
    """The folder of mounts and the host that a path begins with, () when it does not."""
    while found := _ROOTS.match(path):
        path = path[found.end() :]
    parts = tuple(part for part in path.split("/") if part)
    return parts[:2] if path.startswith("/") and parts and parts[0].lower() in _MOUNTED else ()


def _refused(name: str) -> InputError:
    return InputError(
        f"{name[:300]} leads to another computer: gpuviz does not follow there what a file or a "
        "link names. Copy it to this one, and open it here"
    )
