"""docs/counters.md: what gpuviz's counts are called by profilers, today and before."""

from __future__ import annotations

from pathlib import Path

from gpuviz.memory.counts import NAMES, SOURCES

PAGE = Path(__file__).parent.parent.parent / "docs" / "counters.md"

_HEAD = """# Counters and their names

What documents of before call a counter, and what counts it today. Hovering a row of the window's
counts says the same. Where a name of before is missing, the sources have none; the numbers of old
devices may mean something else (their transactions are segments of 32 to 128 bytes).
Made by `python -m tools.coverage`.

| gpuviz | nvprof | the profiler before it | Nsight Compute |
| --- | --- | --- | --- |
"""


def page() -> str:
    """The whole page."""
    rows = (
        f"| `{one.key}` | {one.nvprof or '–'} | {one.before or '–'} | `{one.today}` |"
        for one in NAMES
    )
    sources = "\n".join(f"- {source}" for source in SOURCES)
    return f"{_HEAD}{chr(10).join(rows)}\n\nSources:\n\n{sources}\n"
