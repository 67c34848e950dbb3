"""Lessons performed once for all tests that ask for them: not measured, counted by their PTX.

Presets share launches: each of these is emulated once, too.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from unittest.mock import patch

from gpuviz import language
from gpuviz.arch import Architecture
from gpuviz.ptx.emulator import Options
from gpuviz.runners import emulated
from gpuviz.runners.base import Level, Run
from gpuviz.runners.job import Job
from gpuviz.scenes import lesson
from gpuviz.scenes.base import Lesson, Value, Values
from gpuviz.scenes.check import check_values
from gpuviz.scenes.perform import Performance, perform

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
    key = job.program.ptx, job.entry, shape, arch.sm, options.record, options.path
    if key not in _EMULATED:
        _EMULATED[key] = _RUN(job, arch, level=level, options=options)
    return _EMULATED[key]
