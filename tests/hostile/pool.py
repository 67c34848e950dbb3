"""Worker processes that inputs are given to; one that dies takes one input along."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.outcome import SECONDS, Outcome

_WALL = 12 * SECONDS  # other processes want the processor, too
_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Asked:
    """An input to try: of a seed, or in a file."""

    kind: str
    seed: str
    file: str = ""


class _Worker:
    def __init__(self, table: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.worker", table],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, asked: Asked, seconds: float) -> list[Outcome]:
        """How an input ended at each door; the last one is bad when the process was lost."""
        assert self._process.stdin is not None and self._process.stdout is not None
        late = threading.Event()
        timer = threading.Timer(seconds, self._kill, (late,))
        timer.start()
        found: list[Outcome] = []
        try:
            print(json.dumps([asked.kind, asked.seed, asked.file]), file=self._process.stdin)
            self._process.stdin.flush()
            for line in iter(self._process.stdout.readline, "null\n"):
                if not line:
                    raise BrokenPipeError
                found.append(Outcome(**json.loads(line)))
        except (OSError, ValueError):
            status = self._process.wait()
            end = "hang" if late.is_set() else "died"
            after = f"after {found[-1].door}" if found else "the first door"
            found.append(Outcome(asked.kind, asked.seed, after, end, f"exit status {status}"))
            self.close()
        finally:
            timer.cancel()
        return found

    @property
    def lost(self) -> bool:
        """Whether it is there no more."""
        return self._process.poll() is not None

    def _kill(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def close(self) -> None:
        """End it when it has answered."""
        with suppress(OSError):
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process.stdout.close()
        self._process.wait()


def tried(
    inputs: Iterable[Asked],
    workers: int = 2,
    *,
    table: str = "tests.hostile.table",
    seconds: float = _WALL,
) -> Iterator[Outcome]:
    """How each input ended, in their order; the kinds are those of a module.

    `seconds` may pass until an input has gone through all its doors.
    """
    kept = threading.local()
    all_of_them: list[_Worker] = []

    def ask(asked: Asked) -> list[Outcome]:
        worker: _Worker | None = getattr(kept, "worker", None)
        if worker is None or worker.lost:
            worker = kept.worker = _Worker(table)
            all_of_them.append(worker)
        return worker.ask(asked, seconds)

    try:
        with ThreadPoolExecutor(workers) as pool:
            for found in pool.map(ask, inputs):
                yield from found
    finally:
        for worker in all_of_them:
            worker.close()
