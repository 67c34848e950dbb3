"""Counts that are pinned in a file, and what differs from them.

{"gpuviz-counts": 1, "launches": {"saxpy": {"grid": [4, 1, 1], "block": [256, 1, 1], "arch":
"sm_90", "level": "sass", "counts": {"global_load_sectors": 256}}}}
"""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gpuviz.assertions.claim import Judgement
from gpuviz.assertions.evidence import places
from gpuviz.assertions.facts import kinds_named
from gpuviz.base.errors import FormatError, InputError
from gpuviz.files import bounded
from gpuviz.files import writing as files
from gpuviz.launch.signature import short_name
from gpuviz.memory.operands import Operands
from gpuviz.run.run import Run

_FORMAT = 1
_WORST = 4  # counts that are named


class PinnedLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is kept of a launch; counts that are 0 are left out."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arch: str
    level: str
    counts: dict[str, int]


class Baseline(msgspec.Struct, frozen=True, rename={"format": "gpuviz-counts"}):
    """A file of pinned counts: launches by the name of their kernel, or their role."""

    format: int = _FORMAT
    launches: dict[str, PinnedLaunch] = msgspec.field(default_factory=dict)


def pinned(run: Run) -> PinnedLaunch:
    """What is kept of a run."""
    launch = run.trace.launch
    counts = {key.value: n for key, n in run.counts.totals.items() if n}
    return PinnedLaunch(launch.grid, launch.block, run.arch, run.level, counts)


def name_of(run: Run) -> str:
    """The kernel, as it stands in a file."""
    return short_name(run.trace.launch.kernel)


def load(path: Path) -> Baseline:
    """The counts pinned in a file.

    Raises
    ------
    FormatError : it holds no such counts, or those of a later gpuviz
    InputError, OSError : it cannot be read, or is a device or a pipe
    """
    try:
        found = msgspec.json.decode(bounded.text(path), type=Baseline)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"{path}: no counts that gpuviz pinned: {error}") from None
    if found.format != _FORMAT:
        raise FormatError(f"{path}: pinned by a later gpuviz (format {found.format})")
    return found


def pin(path: Path, runs: Mapping[str, Run]) -> None:
    """Write the counts of some runs into a file; those of other launches stay there.

    Raises
    ------
    InputError : a run is a sample, whose counts are estimates, or it cannot be written
    FormatError : what is there is another file
    """
    if any(run.sampled for run in runs.values()):
        raise InputError(
            f'{path}: estimates from a sample are not pinned: count all blocks (blocks="all", '
            "--blocks all)"
        )
    before = load(path).launches if path.exists() else {}
    kept = Baseline(launches=before | {name: pinned(run) for name, run in runs.items()})
    plain = json.dumps(msgspec.to_builtins(kept), indent=1, sort_keys=True)
    files.write(path, f"{plain}\n", parents=True)


def compared(
    path: Path, name: str, run: Run, within: float = 0.0, operands: Operands | None = None
) -> Judgement:
    """Whether a run counts what is pinned, each count within a fraction of it.

    Raises
    ------
    FormatError, InputError, OSError : as `load`
    """
    claim = f"same counts as {path.as_posix()}" + (f" within {within:.3g}" if within else "")
    if run.sampled:
        return Judgement(claim, None, "cannot be judged: the counts are estimates from a sample")
    if not path.exists():
        return Judgement(claim, None, "cannot be judged: there is no such file yet: pin it")
    kept = load(path).launches
    if name not in kept:
        told = ", ".join(kept) or "nothing"
        return Judgement(claim, None, f"cannot be judged: it has {told}, not {name}: pin it")
    was, now = kept[name], pinned(run)
    for what in ("grid", "block", "arch", "level"):
        if getattr(was, what) != getattr(now, what):
            told = f"another launch: {what} is {getattr(now, what)}, pinned {getattr(was, what)}"
            return Judgement(claim, False, told)
    apart = _differences(was.counts, now.counts, within)
    if not apart:
        return Judgement(claim, True, f"{len(was.counts)} counts are equal")
    blamed = places(run, kinds_named(apart), 0, operands)
    more = f", and {len(apart) - _WORST} more" if len(apart) > _WORST else ""
    told = ", ".join(list(apart.values())[:_WORST]) + more
    return Judgement(claim, False, told, blamed[0].line if blamed else 0, blamed)


def _differences(was: Mapping[str, int], now: Mapping[str, int], within: float) -> dict[str, str]:
    """Counts that are not as pinned, in words, what is most apart first."""
    found = {}
    for name in {*was, *now}:
        a, b = was.get(name, 0), now.get(name, 0)
        if abs(b - a) > within * a:
            found[name] = abs(b - a) / max(a, 1), f"{name} is {b:,}, pinned {a:,}"
    return {name: found[name][1] for name in sorted(found, key=lambda n: (-found[n][0], n))}
