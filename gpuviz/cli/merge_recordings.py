"""A folder of recordings put among those that ship: the newest of each launch, dead ones gone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.cli.launches_to_record import Variant, of_lecture, of_the_table, taken, variants
from gpuviz.course import SCENES
from gpuviz.files import checksums
from gpuviz.files.folders import LECTURE
from gpuviz.gpu.placement import SHIPPED_BLOCKS
from gpuviz.recordings import lookup
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.recordings.recording import SUFFIX, Entry, LaunchKey, Recording, read, write

FOLDER = resources.path(lookup.FOLDER)


@dataclass(frozen=True)
class Tally:
    """How many launches came anew, stayed as they were, were no launch of ours any more, and lack
    a recording still."""

    new: int
    kept: int
    dropped: int
    lacking: int


def merge(folder: Path, into: Path = FOLDER) -> Tally:
    """Merge the recordings of a folder into those of another one, and seal it.

    Of one launch that both have the folder's is taken. Files are named after their GPU.

    Raises
    ------
    InputError : there are no recordings in the folder; and as `recording.read` and `write`
    """
    new, old = _read(folder), _read(into)
    if not new:
        raise InputError(f"{folder} holds no recordings (*{SUFFIX})")
    lectures = sorted(resources.path("lectures").glob("*" + LECTURE))
    ours = (*variants(SCENES), *of_the_table())
    theirs = tuple(one for file in lectures for one in of_lecture(file))
    told = [
        _of_device(into, device, new.get(name, []), old.get(name, []), (ours, theirs))
        for name, device in _devices((*new.values(), *old.values())).items()
    ]
    checksums.seal(into)
    lookup.shipped.cache_clear()
    return Tally(*(sum(getattr(one, name) for one in told) for name in Tally.__annotations__))


def _of_device(
    into: Path,
    device: DeviceFacts,
    new: list[Recording],
    old: list[Recording],
    wanted: tuple[tuple[Variant, ...], tuple[Variant, ...]],
) -> Tally:
    """Write the two files of a GPU: of the lessons' launches, and of the lectures'."""
    came, known = _entries(new), _entries(old)
    found = known | came
    slug = re.sub(r"\W+", "-", device.name.lower()).strip("-")
    used: set[LaunchKey] = set()
    lacking = 0
    for name, launches in zip((slug, f"{slug}_lectures"), wanted, strict=True):
        launches = taken(launches, device.sm)
        entries = tuple(
            _as_now(found[variant[3]], variant) for variant in launches if variant[3] in found
        )
        used |= {entry.launch for entry in entries}
        lacking += len(launches) - len(entries)
        path = into / (name + SUFFIX)
        if entries:
            write(path, Recording(device, entries))
        else:
            path.unlink(missing_ok=True)
    anew = len(used & came.keys())
    return Tally(anew, len(used) - anew, len(found.keys() - used), lacking)


def _as_now(entry: Entry, variant: Variant) -> Entry:
    """An entry under the names that its launch has in the course now, as it ships."""
    lesson, values, plan, _ = variant
    found = entry.measurement
    if prod(plan.grid) > SHIPPED_BLOCKS and not plan.placed:
        found = replace(found, placement=None)
    return replace(entry, lesson=lesson.id, role=plan.role, values=dict(values), measurement=found)


def _read(folder: Path) -> dict[str, list[Recording]]:
    """By the names of the GPUs."""
    found: dict[str, list[Recording]] = {}
    for file in sorted(folder.glob("*" + SUFFIX)):
        recording = read(file)
        found.setdefault(recording.device.name, []).append(recording)
    return found


def _devices(all_of_them: Iterable[list[Recording]]) -> dict[str, DeviceFacts]:
    """Each GPU once; as the first recording has it, which is a new one where there is one."""
    devices: dict[str, DeviceFacts] = {}
    for recordings in all_of_them:
        for one in recordings:
            devices.setdefault(one.device.name, one.device)
    return devices


def _entries(recordings: list[Recording]) -> dict[LaunchKey, Entry]:
    """By what was launched; of several the last measured, of one day the first that is there."""
    found: dict[LaunchKey, Entry] = {}
    for entry in (entry for one in recordings for entry in one.entries):
        before = found.get(entry.launch)
        if before is None or before.measurement.date < entry.measurement.date:
            found[entry.launch] = entry
    return found
