"""Where lectures are found: files, those that ship, and bundles with all that they need."""

from __future__ import annotations

from pathlib import Path

from gpuviz import resources
from gpuviz.errors import InputError
from gpuviz.lectures.lecture import SUFFIX


def shipped() -> tuple[Path, ...]:
    """The files of the lectures that came with gpuviz."""
    return tuple(sorted(resources.path("lectures").glob("*" + SUFFIX)))


def find(name: str) -> Path:
    """The file of a name: a path, or that of a lecture that ships; InputError lists these."""
    path = Path(name)
    if path.exists():
        return path
    found = next((file for file in shipped() if name in (file.stem, file.name)), None)
    if found is None:
        known = ", ".join(file.stem for file in shipped())
        raise InputError(f"there is no lecture {name}; those that ship are: {known}")
    return found


def unpacked(path: Path) -> Path:
    """The text file of a lecture: the file itself."""
    return path
