"""How long `gpuviz verify` takes, with nothing kept and with everything compiled before.

    python benchmarks/verify.py                       the 48 first launches that an H200 counted
    python benchmarks/verify.py LAUNCHES.json

Seconds by the clock and of the processor for each engine, each a process of its own. The goal is
less than eight for the 48 from a warm cache.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIRST = Path(__file__).parents[1] / "tests" / "data" / "h200_first_launches.json"
COLUMNS = ("cold s", "processor", "warm s", "processor")
ENGINES = ("auto", "numpy", "compiled")


def main() -> None:
    """Verify with each engine, twice, and print the table."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FIRST
    print(
        f"{file.stem:24s} {'cold':>8s} {'processor':>10s} {'warm':>8s} {'processor':>10s}   seconds"
    )
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as cache:
            times = [t for _ in range(2) for t in verified(file, engine, cache)]
        print(f"{engine:24s} " + "{:8.2f} {:10.2f} {:8.2f} {:10.2f}".format(*times))


def verified(file: Path, engine: str, cache: str) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    began, used = time.monotonic(), _used()
    subprocess.run(
        [sys.executable, "-m", "gpuviz", "verify", str(file), "--engine", engine],
        env={**os.environ, "XDG_CACHE_HOME": cache},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.monotonic() - began, _used() - used


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


if __name__ == "__main__":
    main()
