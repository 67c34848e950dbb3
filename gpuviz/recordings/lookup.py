"""Measurements for machines without a GPU: found in recordings, when they are of this very launch.

`resources/recordings` holds those that gpuviz ships; what a file brought is asked after them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from gpuviz.base.errors import Error
from gpuviz.files import checksums
from gpuviz.recordings.measurement import Measurement
from gpuviz.recordings.recording import SUFFIX, Entry, LaunchKey, Recording, key_of, of_file, read
from gpuviz.traces.geometry import LaunchSpec
from gpuviz.words.language import later

FOLDER = "recordings"
NO_TEXTS: Mapping[Path, str] = MappingProxyType({})
NOT_RECORDED = later(
    "this launch has not been recorded: gpuviz record does that on a machine with a GPU, and its "
    "file can be opened here"
)
DAMAGED = later("{file}, which came with gpuviz, is damaged: install gpuviz again")
STALE = later("the recording is of an older version of this kernel: it has to be made again")


@dataclass(frozen=True, eq=False)
class Found:
    """The measurement of a launch, or None and why there is none, in English."""

    measurement: Measurement | None
    why: str = ""
    file: str = ""  # that the reason is about, "" where it is about none


class Recordings:
    """Recordings, asked for the launches they hold; of several, the first that has it answers.

    `damaged` names a file that should have been among them; `texts` are run in place of what is in
    files.
    """

    def __init__(
        self,
        recordings: Iterable[Recording],
        damaged: str = "",
        texts: Mapping[Path, str] = NO_TEXTS,
    ) -> None:
        self.recordings, self.damaged, self._texts = tuple(recordings), damaged, texts
        entries = [entry for one in self.recordings for entry in one.entries]
        self._exact = {entry.launch: entry for entry in reversed(entries)}
        self._any_source = {_sourceless(entry) for entry in entries}

    def find(self, plan: LaunchSpec) -> Found:
        """The measurement of a lesson's launch."""
        key = self._key(plan)
        if (entry := self._exact.get(key)) is not None:
            return Found(entry.measurement)
        if self.damaged:
            return Found(None, DAMAGED, self.damaged)
        stale = replace(key, source_hash="") in self._any_source
        return Found(None, STALE if stale else NOT_RECORDED)

    def entry(self, plan: LaunchSpec) -> Entry | None:
        """What is recorded of a launch, to be kept elsewhere."""
        return self._exact.get(self._key(plan))

    def _key(self, plan: LaunchSpec) -> LaunchKey:
        return key_of(plan, self._texts.get(Path(plan.kernel)))


def _sourceless(entry: Entry) -> object:
    return replace(entry.launch, source_hash="")


def beside_shipped(
    chosen: Iterable[Path], opened: Iterable[Recording], texts: Mapping[Path, str] = NO_TEXTS
) -> Recordings:
    """The recordings in the files chosen, those that ship, and those opened, in this order."""
    own = (one for path in chosen if (one := _own(path)) is not None)
    ships = shipped()
    return Recordings((*own, *ships.recordings, *opened), ships.damaged, texts)


def _own(path: Path) -> Recording | None:
    """A recording that the user chose, None where it cannot be read: its file may be gone."""
    try:
        return of_file(read(path), path.name)
    except Error:
        return None


def load(paths: Iterable[Path]) -> Recordings:
    """Recordings from files; InputError and FormatError as `recording.read`."""
    return Recordings(read(path) for path in paths)


@cache
def shipped() -> Recordings:
    """The recordings that came with gpuviz, those that are as they came; none is no error."""
    found = dict(checksums.every(f"{FOLDER}/*{SUFFIX}", read))
    damaged = next((file.name for file, one in found.items() if one is None), "")
    return Recordings((one for one in found.values() if one is not None), damaged)
