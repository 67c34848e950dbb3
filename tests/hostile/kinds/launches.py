"""Files of measured launches and patterns, which `gpuviz verify` reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.hostile import trees
from tests.hostile.kind import Kind

_MEASURED = {
    "global_load_sectors": 32,
    "global_store_requests": 4.0,
    "shared_load_wavefronts": None,
}
_LAUNCH = {
    "name": "strided",
    "source": "mine.ptx",
    "entry": "strided",
    "grid": [2, 1, 1],
    "block": [64, 1, 1],
    "args": ["f32[512]=rand", "f32[128]=zeros", "i32=1", "i32=0"],
    "defines": {},
    "dynamic_shared": 0,
    "measured": _MEASURED,
}
_CASE = {"op": "load", "width_bytes": 8, "pattern": "twos", "wavefronts": 1}


def make(random: Random) -> bytes:
    """A file of two launches and two patterns."""
    cases = [
        _CASE | {"op": op, "index": [n // 2 for n in range(32)]}
        for op in ("load", random.choice(("store", "atomic", "atomic_add_u32", "atomic_cas_b64")))
    ]
    launches = [_LAUNCH, _LAUNCH | {"source": "mine.cu", "entry": "in_order", "args": []}]
    plain = {"device": "H", "compute_capability": "9.0", "launches": launches, "cases": cases}
    return trees.as_json(random, plain)


def verify(file: Path) -> Sequence[str]:
    """At the level that needs no assembler."""
    return "verify", str(file), "--level", "ptx"


KIND = Kind("launches", 120, ".json", make, (verify,))
