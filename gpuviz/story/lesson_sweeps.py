"""The sweeps over a lesson that are known: predicted for an architecture, measured on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.recordings.measurement import CounterValue, Measurement, Timing
from gpuviz.recordings.recording import key_of
from gpuviz.story.lesson import value_of
from gpuviz.sweeps import table
from gpuviz.sweeps.axis import ARCH, Axis
from gpuviz.sweeps.record import Head

if TYPE_CHECKING:
    from gpuviz.recordings.measurement import DeviceFacts
    from gpuviz.run.run import Level
    from gpuviz.story.lesson import Lesson, Values
    from gpuviz.sweeps.cell import On
    from gpuviz.sweeps.table import Table


def says(lesson: Lesson, values: Values, axes: Sequence[Axis]) -> dict[str, str]:
    """What decides the cells of a sweep over a lesson besides their own values: all parameters that
    are not varied, and the sources of the kernels.

    Raises
    ------
    InputError : an axis is no parameter and not `arch`, or a value is none of its parameter's
    """
    known = {p.id: p for p in lesson.parameters}
    for axis in axes:
        if axis.name not in known and axis.name != ARCH:
            raise InputError(
                f"lesson {lesson.id} has no parameter {axis.name!r} to vary; it has: "
                f"{', '.join(sorted(known))}, {ARCH}"
            )
    swept = {axis.name for axis in axes}
    fixed = {
        name: str(value_of(p, values.get(name, p.begins)))
        for name, p in sorted(known.items())
        if name not in swept
    }
    sources = {key_of(plan).source_hash[:16] for plan in lesson.plan(lesson.defaults())}
    return {"lesson": lesson.id, **fixed, "source": " ".join(sorted(sources))}


def tables(
    lesson: Lesson, values: Values, arch: str, level: Level, gpu: DeviceFacts | None = None
) -> Mapping[On, Table]:
    """What is known of the sweep that a lesson shows: predicted, and measured on this GPU of the
    user's or on another.
    """
    if not lesson.swept:
        return {}
    of = says(lesson, values, lesson.swept)
    wanted = (
        Head(of, arch, "emulator", level),
        Head(of, gpu.sm if gpu else arch, "gpu", "sass", gpu.name if gpu else ""),
    )
    found = {head.on: table.find(head, lesson.swept) for head in wanted}
    return {on: table for on, table in found.items() if table is not None}


def measured_in(swept: Mapping[On, Table], values: Values, role: str) -> Measurement | None:
    """What a sweep on a GPU has of the launch with these values; None where it has nothing."""
    table = swept.get("gpu")
    if table is None or table.head is None or table.head.made is None:
        return None
    made = table.head.made
    cell = {axis.name: str(values[axis.name]) for axis in table.axes if axis.name in values}
    found = table.found(cell, role)
    if found is None or found.microseconds is None:
        return None
    note = "" if found.launches else f"the median of {made.repeats} launches, as a sweep kept it"
    return Measurement(
        "recorded",
        made.date,
        made.gpu,
        {name: CounterValue(value) for name, value in found.counts.items()},
        Timing(np.array(found.launches or (found.microseconds,)), "warm", found.clocks or ()),
        notes=(note,) if note else (),
        resident_blocks=found.resident_blocks,
    )
