"""All rungs beside cuBLAS: what a GPU measured, or that nobody has."""

from __future__ import annotations

from gpuviz.language import tr
from gpuviz.panels.layout import Node
from gpuviz.panels.lines import Line, Lines
from gpuviz.panels.panel import Answer
from gpuviz.panels.table import Column, Table
from gpuviz.runners.ladder_times import LadderTime, LadderTimes
from gpuviz.scenes.ladder_rungs import RUNGS, Rung

SIZES = (1024, 2048, 4096)


def beside_cublas(times: LadderTimes | None, now: Rung) -> Node:
    """A row a rung, its speed and share of cuBLAS at each size; in words where nothing is known."""
    found = {n: [times.of(r.kernel, r.entry, n) if times else None for r in RUNGS] for n in SIZES}
    if times is None or not any(t for column in found.values() for t in column):
        return Answer(Lines((Line((tr("Beside cuBLAS: not measured."),), "muted"),)))
    origin = tr("TFLOP/s, of cuBLAS: {device}, {date}", device=times.device, date=times.date)
    columns = tuple(
        Column(
            (f"{size} × {size}", str(size)),
            tuple(map(_cell, column)),
            badge=tr("recorded"),
            ink="good",
            optional=optional,
            origin=origin,
        )
        for (size, column), optional in zip(found.items(), (2, 0, 1), strict=True)
    )
    names = Column(("",), tuple(tr(rung.name) for rung in RUNGS), "left")
    return Table((names, *columns), RUNGS.index(now))


def _cell(time: LadderTime | None) -> str:
    return "–" if time is None else f"{time.teraflops:.3g}, {100 * time.share:.0f} %"
