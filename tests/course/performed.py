"""Lessons performed once for all tests that ask for them: not measured, counted by their PTX.

Presets share launches: each of these is emulated once, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from unittest.mock import patch

from gpuviz.arch import Architecture
from gpuviz.course import lesson
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.run.run import Level, Run
from gpuviz.story.lesson import Lesson, Value, Values, check_values
from gpuviz.story.perform import Performance, perform
from gpuviz.words import language

_EMULATED: dict[object, Run] = {}
_RUN = emulated.run


def real(one: Lesson) -> Lesson:
    """The lesson as it ships, where it begins small in tests."""
    return replace(one, parameters=tuple(replace(p, small=None) for p in one.parameters))


def performed(one: Lesson, values: Values, arch: str = "sm_90") -> Performance:
    """A lesson with these values, the others as they begin."""
    return _performed(one.id, tuple(check_values(one, values).items()), arch, language.chosen())


@cache
def _performed(
    name: str, values: tuple[tuple[str, Value], ...], arch: str, told_in: str
) -> Performance:
    """`told_in` is the language chosen: a story holds texts."""
    made = dict(values)
    with patch.object(emulated, "run", _emulated):
        return perform(lesson(name), made, arch=arch, level="ptx", measured=lambda plan: None)


def _emulated(job: Job, arch: Architecture, *, level: Level, options: Options) -> Run:
    shape = job.grid, job.block, job.arguments, job.dynamic_shared, job.size
    key = job.program.ptx, job.entry, shape, arch.sm, options.record, options.path, options.blocks
    if key not in _EMULATED:
        _EMULATED[key] = _RUN(job, arch, level=level, options=options)
    return _EMULATED[key]
