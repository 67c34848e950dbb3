"""Files of measured launches and patterns, as JSON.

*Launches*: `compute_capability`, `device`, and `launches`, each with `name, source, entry, grid,
block, args, measured`. *Patterns*: `compute_capability` and `cases`, each one warp's shared-memory
instruction with `op, width_bytes, pattern, index, wavefronts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from gpuviz.base import records
from gpuviz.base.errors import FormatError
from gpuviz.files import bounded

LANES = 32
Whole = Annotated[int, Meta(gt=-(2**62), lt=2**62)]
Lanes = Annotated[tuple[Whole, ...], Meta(min_length=LANES, max_length=LANES)]


@dataclass(frozen=True)
class MeasuredLaunch:
    """A launch of a kernel, and what was measured of it by the keys of `gpuviz.memory.counting`.

    `source` lies beside the file, or in `kernels` beside it; `args` are arguments as text. `cold`
    and `warm` are counters and times with caches flushed before, and not; `stalls` why warps waited
    in both.
    """

    source: str
    grid: tuple[Whole, ...]
    block: tuple[Whole, ...]
    args: tuple[str, ...]
    entry: str = ""
    name: str = ""
    defines: Mapping[str, str | Whole] = field(default_factory=dict)
    dynamic_shared: Whole = 0
    measured: Mapping[str, float | None] = field(default_factory=dict)
    cold: Mapping[str, float | None] = field(default_factory=dict)
    warm: Mapping[str, float | None] = field(default_factory=dict)
    stalls: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredPattern:
    """One warp's shared-memory instruction; `index` is the element of each lane, -1 for none."""

    op: str
    width_bytes: Whole
    index: Lanes
    wavefronts: float
    pattern: str = ""


@dataclass(frozen=True)
class MeasuredFile:
    """All of a file."""

    launches: tuple[MeasuredLaunch, ...] = ()
    cases: tuple[MeasuredPattern, ...] = ()
    device: str = "unknown device"
    compute_capability: str = "9.0"


def read(path: Path) -> MeasuredFile:
    """A file of measurements.

    Raises
    ------
    InputError, FormatError : it cannot be read, or is not of this format
    """
    plain = records.parsed(bounded.read(path), str(path))
    if not isinstance(plain, dict) or not ({"launches", "cases"} & plain.keys()):
        raise FormatError(f'{path} holds neither "launches" nor "cases"')
    return records.record(plain, MeasuredFile, str(path))
