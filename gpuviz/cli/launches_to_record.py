"""Which launches are to be recorded: those of lessons, of what is covered, and of lectures."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import compress
from pathlib import Path

from gpuviz.arguments import BufferSpec, parse
from gpuviz.base import resources
from gpuviz.base.errors import InputError
from gpuviz.course import SCENES, lesson
from gpuviz.lectures.bundle import unpacked
from gpuviz.lectures.plot_beside import plot_of
from gpuviz.lectures.reading import read
from gpuviz.recordings.lookup import Recordings
from gpuviz.recordings.recording import LaunchKey, key_of
from gpuviz.story.lesson import Lesson, Plan, Value, Values, check_values
from gpuviz.story.perform import accepted
from gpuviz.views.make_view import variants_of

Variant = tuple[Lesson, Values, Plan, LaunchKey]


def variants(lessons: tuple[Lesson, ...]) -> Iterator[Variant]:
    """Every different launch of the default values and the presets of lessons."""
    seen: set[tuple[str, LaunchKey]] = set()
    for one in lessons:
        for given in ({}, *(preset.values for preset in one.presets)):
            yield from _unseen(one, check_values(one, given), seen)


def of_the_table() -> Iterator[Variant]:
    """Every launch that what is covered (docs/coverage.md) shows besides."""
    seen = set(_of_the_course())
    systems = tomllib.loads(resources.text("coverage.toml"))["system"]
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
    for slide in read(text, agreed).slides:
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
