"""What a driver says, held against what can be: nothing goes on that makes no sense."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from gpuviz.base import records
from gpuviz.base.arrays import Array
from gpuviz.base.errors import FormatError
from gpuviz.recordings.measurement import DeviceFacts, Peaks
from gpuviz.words.language import brief

_VERSION = re.compile(r"\d{1,4}\.\d{1,4}")
_MOST = 2.0**53  # of anything that is counted


@contextmanager
def held(what: str) -> Iterator[None]:
    """FormatError where what is made of an answer within cannot be."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as error:
        told = brief(str(error), 200) or type(error).__name__
        raise FormatError(f"what the driver says of {what} cannot be: {told}") from None


def number(value: object, least: float = 0.0) -> float:
    """A finite number of at least so much; ValueError else."""
    if isinstance(value, int | float) and math.isfinite(value) and least <= value <= _MOST:
        return float(value)
    raise ValueError(str(value))


def devices(values: Mapping[str, Any]) -> tuple[tuple[DeviceFacts, ...], int]:
    """All GPUs, and which of them is the own one. Their names are printable."""
    with held("its GPUs"):
        found = records.record(values["devices"], tuple[DeviceFacts, ...], "devices")
        own = int(values["own"])
        if not 0 <= own < len(found):
            raise ValueError(f"number {own} of {len(found)}")
        return tuple(map(_possible, found)), own


def _possible(facts: DeviceFacts) -> DeviceFacts:
    for version in (facts.capability, facts.cuda):
        if not _VERSION.fullmatch(version):
            raise ValueError(f"{facts.name}: version {version!r}")
    for some in (facts.multiprocessors, facts.memory):
        number(some, 1)
    for value in (facts.l2, facts.clock_mhz, facts.memory_clock_mhz, *facts.limits.values()):
        number(value)
    return replace(
        facts,
        name=brief(facts.name),
        bus=brief(facts.bus),
        driver=brief(facts.driver),
        counters=brief(facts.counters, 1000),
    )


def times(arrays: Sequence[Array], count: int) -> Array:
    """(count,) microseconds."""
    with held("times"):
        (found,) = arrays
        if found.shape != (count,) or not (np.isfinite(found) & (found > 0)).all():
            raise ValueError(f"{count} launches took {found.tolist()}")
        return found


def peaks(values: Mapping[str, Any]) -> Peaks:
    """What the GPU reaches at best: more than nothing."""
    with held("its peaks"):
        found = records.record(values, Peaks, "peaks")
        for value in (found.bytes_per_second, found.flops_per_second):
            if not 0 < value < math.inf:
                raise ValueError(str(value))
        number(found.empty_us or 0.0)
        return found


def buffers(arrays: Sequence[Array], sizes: Sequence[int], left_out: Collection[int]) -> None:
    """FormatError where these are no buffers of so many bytes; those of `left_out` are empty."""
    with held("buffers"):
        found = [array.nbytes for array in arrays]
        expected = [0 if number in left_out else size for number, size in enumerate(sizes)]
        if found != expected:
            raise ValueError(f"{found} bytes in place of {expected}")
