"""What a run came to, as a table and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tests.hostile.outcome import GOOD, Outcome

_HEAD = ("kind", "inputs", *GOOD, "bad", "slowest", "most memory")


def figures(outcomes: Sequence[Outcome], seconds: float) -> dict[str, Any]:
    """Numbers of a run, by kind and in all."""
    kinds = dict.fromkeys(one.kind for one in outcomes)
    by_kind = {kind: _of([one for one in outcomes if one.kind == kind]) for kind in kinds}
    return {"seconds": round(seconds, 1), "all": _of(outcomes), "kinds": by_kind}


def _of(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    ends = Counter(one.end for one in outcomes)
    return {
        "inputs": len({(one.kind, one.seed) for one in outcomes}),
        "entries": len(outcomes),
        "ends": dict(sorted(ends.items())),
        "bad": sum(not one.good for one in outcomes),
        "processor_seconds": round(sum(one.seconds for one in outcomes), 1),
        "slowest_seconds": max((one.seconds for one in outcomes), default=0.0),
        "largest_mebibytes": max((one.mebibytes for one in outcomes), default=0.0),
    }


def table(found: dict[str, Any]) -> str:
    """The numbers of `figures` for people."""
    rows = [_HEAD, *(_row(kind, one) for kind, one in found["kinds"].items())]
    rows.append(_row("all", found["all"]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([*lines, f"in {found['seconds']} s"])


def _row(name: str, found: dict[str, Any]) -> tuple[str, ...]:
    ends = [str(found["ends"].get(end, 0)) for end in GOOD]
    most = f"{found['largest_mebibytes']:.0f} MiB"
    return (
        name,
        str(found["inputs"]),
        *ends,
        str(found["bad"]),
        f"{found['slowest_seconds']:.1f} s",
        most,
    )
