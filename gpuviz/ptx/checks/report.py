"""What a check found, as a record: the sentence names the place, the thread and the line."""

from __future__ import annotations

from typing import Literal

from gpuviz.traces.observe import At
from gpuviz.traces.trace import LANES, Finding, Launch
from gpuviz.words.language import tr

Severity = Literal["error", "warning"]


def line_of(at: At) -> str:
    """`line 12`, or that of the PTX where the CUDA line is not known."""
    return tr("line {n}", n=at.line) if at.line else tr("PTX line {n}", n=at.ptx_line)


def finding(
    launch: Launch,
    check: str,
    kind: str,
    what: str,
    at: At,
    thread: int,
    remedy: str,
    address: int = 0,
    count: int = 1,
    severity: Severity = "error",
) -> Finding:
    """Something that a thread did; threads are numbered over the launch, warps padded."""
    number, own = divmod(thread, launch.warps_per_block * LANES)
    block, index = launch.block_index(number), launch.thread_index(own)
    where = tr(
        "{line}, block {block}, thread {thread}", line=line_of(at), block=block, thread=index
    )
    message = f"{what} ({where})"
    return Finding(
        severity, kind, message, at.line, at.ptx_line, block, index, address, count, check, remedy
    )
