"""The code of strangers that the user agreed to run on a GPU: known by content, kept in a file."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gpuviz.base import records
from gpuviz.base.errors import Error
from gpuviz.files import bounded, folders
from gpuviz.files import writing as files
from gpuviz.gpu.consent import Code

FILE = "agreed.json"
_MOST = 1000  # that are remembered; the oldest are asked about again
_LARGEST = 1 << 20  # bytes of the file


@dataclass(frozen=True)
class _Kept:
    """What the user agreed to, and when; `kernel` and `file` are for who reads the file."""

    digest: str
    kernel: str
    file: str
    date: str


class ConsentList:
    """A container of digests. Without a file it is forgotten with the session."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._now: frozenset[str] = frozenset()
        self._kept: tuple[_Kept, ...] | None = None
        self._lock = threading.Lock()

    def __contains__(self, digest: object) -> bool:
        """Whether the user agreed to code of this digest."""
        with self._lock:
            if self._kept is None:
                self._kept = _read(self._file)
            return digest in self._now or any(one.digest == digest for one in self._kept)

    def for_now(self, codes: Iterable[Code]) -> None:
        """Agree for this session alone."""
        with self._lock:
            self._now |= {code.digest for code in codes}

    def add(self, codes: Iterable[Code]) -> None:
        """Agree, and remember it; where that cannot be written, for this session alone."""
        wanted = {code.digest: code for code in codes}
        self.for_now(wanted.values())
        today = datetime.now(UTC).date().isoformat()
        with self._lock:
            before = (one for one in _read(self._file) if one.digest not in wanted)
            new = (_Kept(c.digest, c.kernel, c.file, today) for c in wanted.values())
            self._kept = (*before, *new)[-_MOST:]
            self._write()

    def forget(self) -> None:
        """Ask about everything again."""
        with self._lock:
            self._now, self._kept = frozenset(), ()
            self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        try:
            files.write(self._file, records.text(self._kept or (), 1), parents=True)
        except Error:
            return


def kept() -> ConsentList:
    """What this user agreed to, for all windows and commands."""
    return ConsentList(folders.data() / FILE)


def _read(file: Path | None) -> tuple[_Kept, ...]:
    """A file that is missing or damaged agrees to nothing."""
    if file is None:
        return ()
    try:
        return records.read(bounded.read(file, _LARGEST), tuple[_Kept, ...], str(file))
    except Error:
        return ()
