"""The inputs of a run: seeds of every kind, and the cases that broke something once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.pool import Asked
from tests.hostile.table import KINDS

CASES = Path(__file__).parent / "cases"
SEED = int(os.environ.get("GPUVIZ_HOSTILE_SEED", "0"))  # another makes another run


def seeded(share: float = 1.0) -> Iterator[Asked]:
    """The inputs of this run's seed, or a share of them of each kind."""
    for kind in KINDS.values():
        for number in range(max(1, round(kind.share * share))):
            yield Asked(kind.name, str(SEED * kind.share + number))


def cases() -> Iterator[Asked]:
    """Inputs that were found once, by the kind that their names begin with."""
    for file in sorted(CASES.glob("*")):
        kind, _, what = file.stem.partition("-")
        yield Asked(kind, what, str(file))
