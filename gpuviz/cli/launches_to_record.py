"""Launches to be recorded: of lessons, what is covered, lectures; recordings put together."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress
from math import prod
from pathlib import Path

from gpuviz.arguments import BufferSpec, parse
from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.course import SCENES, lesson
from gpuviz.files import checksums
from gpuviz.files.folders import LECTURE
from gpuviz.gpu.placement import SHIPPED_BLOCKS
from gpuviz.lectures import reading
from gpuviz.lectures.bundle import unpacked
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.recordings import lookup
from gpuviz.recordings.lookup import Recordings
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.recordings.recording import SUFFIX, Entry, LaunchKey, Recording, key_of, read, write
from gpuviz.story.lesson import Lesson, Plan, Value, Values, check_values
from gpuviz.story.perform import accepted
from gpuviz.views.make_view import variants_of

Variant = tuple[Lesson, Values, Plan, LaunchKey]
FOLDER = resources.path(lookup.FOLDER)


def variants(lessons: tuple[Lesson, ...]) -> Iterator[Variant]:
    """Every different launch of the default values and the presets of lessons."""
    seen: set[tuple[str, LaunchKey]] = set()
    for one in lessons:
        for given in ({}, *(preset.values for preset in one.presets)):
            yield from _unseen(one, check_values(one, given), seen)


def of_the_table() -> Iterator[Variant]:
    """Every launch that what is covered (docs/coverage.md) shows besides."""
    seen = set(_of_the_course())
    systems = resources.table("coverage.toml")["system"]
    for one in (figure for system in systems for figure in system["figures"]):
        given = values_of(one["lesson"], one.get("preset", ""), one.get("settings", {}))
        yield from _unseen(lesson(one["lesson"]), given, seen)


def values_of(name: str, preset: str, settings: Mapping[str, Value]) -> Values:
    """Of all parameters of a lesson; InputError when there is no such lesson or preset."""
    chosen = lesson(name)
    known = {one.label: one.values for one in chosen.presets}
    if preset and preset not in known:
        raise InputError(f"lesson {name} has no preset {preset!r}; it has: {', '.join(known)}")
    return check_values(chosen, {**known.get(preset, {}), **settings})


def of_lecture(file: Path, agreed: frozenset[Path] = frozenset()) -> Iterator[Variant]:
    """Every launch of a lecture's slides that is none of a lesson's `variants`."""
    seen = set(_of_the_course())
    text, _ = unpacked(file)
    for slide in reading.read(text, agreed).slides:
        sides = variants_of(slide.view, plot=plot_of(slide)) if slide.view else ()
        for side in sides:
            yield from _unseen(side.lesson, side.values, seen)


@cache
def _of_the_course() -> frozenset[tuple[str, LaunchKey]]:
    return frozenset((one.id, key) for one, _, _, key in variants(SCENES))


def _unseen(one: Lesson, values: Values, seen: set[tuple[str, LaunchKey]]) -> Iterator[Variant]:
    for plan in one.launches(values):
        key = key_of(plan)
        if (one.id, key) not in seen:
            seen.add((one.id, key))
            yield one, values, plan, key


def taken(wanted: Iterable[Variant], arch: str) -> tuple[Variant, ...]:
    """Without what the architecture refuses, or has no need of (`Plan.otherwise`)."""
    return tuple(one for one in wanted if one[2] in accepted(one[0].plan(one[1]), arch))


def in_order(wanted: tuple[Variant, ...], known: Recordings, missing: bool) -> tuple[Variant, ...]:
    """Those of which nothing is known first, small ones before large ones; of the unknown alone
    where only what is `missing` counts.
    """
    by_size = sorted(wanted, key=lambda one: _bytes(one[2]))
    unknown = [known.find(plan).measurement is None for _, _, plan, _ in by_size]
    first = tuple(compress(by_size, unknown))
    return first if missing else (*first, *compress(by_size, (not one for one in unknown)))


def _bytes(plan: Plan) -> int:
    """Of the buffers of a launch."""
    specs = map(parse, plan.arguments)
    return sum(spec.size for spec in specs if isinstance(spec, BufferSpec))


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
