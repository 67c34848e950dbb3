"""Files outside of a lecture's folder that its reader has agreed to, by lecture, for later starts.

They are kept by name in the folder of the user's data.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base import records
from gpuviz.base.errors import InputError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import whole_name

_MOST = 200  # lectures; the one agreed to longest ago is forgotten first
_LARGEST = 1 << 20  # bytes of the file


@dataclass(frozen=True)
class _Agreement:
    """A lecture's file, and those that it may read."""

    lecture: str
    files: tuple[str, ...]


def of(lecture: Path) -> frozenset[Path]:
    """What this lecture may read outside of its folder."""
    name = str(whole_name(lecture))
    return frozenset(Path(file) for one in _kept() if one.lecture == name for file in one.files)


def remember(lecture: Path, agreed: Iterable[Path]) -> None:
    """These, too; where that cannot be kept they are asked about again."""
    name = str(whole_name(lecture))
    every = sorted({str(file) for file in (*of(lecture), *map(whole_name, agreed))})
    if {*map(Path, every)} == of(lecture):
        return
    others = [one for one in _kept() if one.lecture != name]
    kept = (*others[-_MOST + 1 :], _Agreement(name, tuple(every)))
    with suppress(InputError):
        files.write(_file(), records.text(kept, 1), parents=True)


def _file() -> Path:
    return folders.data() / "files-agreed-to.json"


def _kept() -> tuple[_Agreement, ...]:
    file = _file()
    try:
        return records.read(bounded.read(file, _LARGEST), tuple[_Agreement, ...], file.name)
    except InputError:  # there is none yet, or somebody wrote into it
        return ()
