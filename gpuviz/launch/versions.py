"""Earlier texts of a user's kernel file, kept whenever one has run: what B may be beside A."""

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpuviz.base.errors import Error, InputError
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files

_KEPT = 30  # of a file
_LARGEST = 1 << 20  # bytes of a text that is kept


@dataclass(frozen=True)
class Version:
    """A text that ran: `file` holds it, `date` is when it ran first, in seconds."""

    file: Path
    date: int

    @property
    def said(self) -> str:
        """When it ran first, `2026-11-22 14:02:11`."""
        try:
            return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.date))
        except (OverflowError, OSError, ValueError):  # of a file whose name no clock gave
            return str(self.date)

    def text(self) -> str:
        """The text; InputError when it cannot be read any more."""
        return bounded.text(self.file, _LARGEST)


def versions(path: Path) -> tuple[Version, ...]:
    """The texts of a file that have run, the newest last."""
    found = _folder(path).glob(f"*{path.suffix}")
    made = (Version(file, int(file.stem)) for file in found if file.stem.isdecimal())
    return tuple(sorted(made, key=lambda one: one.date))


def keep(path: Path, text: str | None = None) -> None:
    """Keep a text of a file that has just run, by default what is in it, unless it is the newest
    kept; never fails.
    """
    with suppress(Error, OSError):
        text = bounded.text(path, _LARGEST) if text is None else text
        known = versions(path)
        if known and known[-1].text() == text:
            return
        date = max(int(time.time()), 0, known[-1].date + 1 if known else 0)
        files.write(_folder(path) / f"{date}{path.suffix}", text, parents=True)
        for old in known[: max(0, len(known) + 1 - _KEPT)]:
            old.file.unlink(missing_ok=True)


def before(path: Path, back: int) -> Version:
    """The text that a file had so many versions ago, counted from the text it has now.

    Raises
    ------
    InputError : there is none
    """
    now = bounded.text(path, _LARGEST)
    known = [one for one in versions(path) if one.text() != now]
    if not 1 <= back <= len(known):
        there = f"there are {len(known)}" if known else "none has run here"
        raise InputError(f"{path}@-{back}: no such earlier version of the file ({there})")
    return known[-back]


def _folder(path: Path) -> Path:
    name = hashlib.sha256(str(path.absolute()).encode(errors="surrogatepass")).hexdigest()[:16]
    return folders.state() / "versions" / name
