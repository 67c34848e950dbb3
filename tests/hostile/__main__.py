"""Hostile inputs: files, arguments and links that should not break gpuviz, by the thousand.

    python -m tests.hostile                            a full run, with its figures
    python -m tests.hostile --kind ptx --seed 17       one input
    python -m tests.hostile build/hostile/ptx-17.ptx   the same, from the file that a run left
    GPUVIZ_HOSTILE_SEED=3 python -m tests.hostile      other inputs

Each input has to end as a value, as a message with exit status 2 or 3, or as a fault of the kernel:
never as a traceback, after more than 30 s, or with more than 1 GiB. What ends otherwise is left in
build/hostile, in a file whose name says how to make it again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.hostile.corpus import cases, seeded
from tests.hostile.figures import figures, table
from tests.hostile.outcome import Outcome
from tests.hostile.pool import Asked, tried
from tests.hostile.table import KINDS

LEFT = Path("build/hostile")
_SLOWEST = 5  # that are named


def main() -> int:
    """Run; 1 when gpuviz did not withstand something."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", nargs="*", type=Path, help="inputs, named KIND-...")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind")
    parser.add_argument("--seed", help="only this seed")
    parser.add_argument("--share", type=float, default=1.0, help="of a full run (default all)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path, help="where the figures go")
    given = parser.parse_args()
    start = time.monotonic()
    outcomes = []
    for one in tried(_asked(given), given.workers):
        outcomes.append(one)
        if not one.good or given.seed or given.file:
            print(f"{one.kind} {one.seed}, {one.door}: {one.end}\n{one.said}\n", flush=True)
    found = figures(outcomes, time.monotonic() - start)
    print(table(found))
    for one in sorted(outcomes, key=lambda one: -one.seconds)[:_SLOWEST]:
        print(f"{one.seconds:6.1f} s  {one.mebibytes:6.0f} MiB  {one.kind} {one.seed}, {one.door}")
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
    bad = [one for one in outcomes if not one.good]
    leave(bad)
    return 1 if bad else 0


def _asked(given: argparse.Namespace) -> Iterable[Asked]:
    if given.file:
        return [
            Asked(f.stem.partition("-")[0], f.stem.partition("-")[2], str(f.absolute()))
            for f in given.file
        ]
    if given.seed:
        return [Asked(kind, given.seed) for kind in given.kind or KINDS]
    wanted = given.kind or list(KINDS)
    return [one for one in (*seeded(given.share), *cases()) if one.kind in wanted]


def leave(bad: Iterable[Outcome]) -> list[Path]:
    """Write inputs to files that say how to make them again."""
    made = []
    for kind, seed in {(one.kind, one.seed) for one in bad if one.seed.isdecimal()}:
        LEFT.mkdir(parents=True, exist_ok=True)
        file = LEFT / KINDS[kind].file(int(seed))
        file.write_bytes(KINDS[kind].content(int(seed)))
        made.append(file)
    return made


if __name__ == "__main__":
    sys.exit(main())
