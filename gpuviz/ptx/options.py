"""Limits and wishes of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

Engine = Literal["auto", "compiled", "numpy"]
Blocks = Literal["all", "classes"]
BUDGET = 4_000_000_000  # thread instructions of the NumPy engine
RECORD_LIMIT = 2_000_000  # requests kept at most, and stretches of the path


@dataclass(frozen=True)
class Options:
    """Limits and wishes of a run.

    `record` are the linear ids of the blocks whose requests are kept; `max_blocks` emulates only
    that many blocks (spread over the grid) and says so; `blocks` "classes" counts the launch from
    classes of blocks that provably do the same (see `gpuviz.ptx.classes`), exactly and with outputs
    of a block of each only, and runs it whole where nothing can be proved; `budget` is in thread
    instructions, None means 4e9 for the NumPy engine; `seconds` bounds the compiled one, which
    runs on so many `threads` (0: all cores); `memory` in bytes, for everything but the buffers;
    `path` keeps the way of the recorded blocks through the program, too; `checks` are what is
    looked for (see `gpuviz.checks`), by the NumPy engine: accesses outside of all memory end the
    run whatever is asked for; unless `thorough`, they are looked for only where that engine runs
    the launch anyway; `engine` is who executes the launch.
    """

    record: tuple[int, ...] = (0,)
    blocks: Blocks = "all"
    max_blocks: int | None = None
    budget: int | None = None
    seconds: float = 600.0
    threads: int = 0
    memory: int = 2 << 30
    record_limit: int = RECORD_LIMIT
    path: bool = False
    checks: tuple[str, ...] = ()
    thorough: bool = True
    engine: Engine = "auto"
    progress: Callable[[float], None] = field(default=lambda fraction: None)
    cancel: Callable[[], bool] = field(default=lambda: False)
