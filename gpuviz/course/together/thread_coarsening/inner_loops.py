"""The inner loops of kernels in PTX: what each instruction is for, counted for one product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from gpuviz.panels.layout import Node, first, rows
from gpuviz.panels.legend import ColorKey, Key
from gpuviz.panels.listing import CodeListing, Listings
from gpuviz.panels.panel import Ink
from gpuviz.panels.table import Column, Table
from gpuviz.ptx.text.parser import parse
from gpuviz.ptx.text.purposes import Purpose, inner_loop, purposes
from gpuviz.run.run import Run
from gpuviz.story.measured import time_column, time_of
from gpuviz.words.language import later, tr

_INKS: Mapping[Purpose, Ink] = {
    "memory": "load",
    "arithmetic": "good",
    "address": "warn",
    "loop": "muted",
    "other": "faint",
}
_WORDS: Mapping[Purpose, str] = {
    "memory": later("loads"),
    "arithmetic": later("sums"),
    "address": later("addresses"),
    "loop": later("loop"),
    "other": later("others"),
}


@dataclass(frozen=True)
class InnerLoop:
    """The inner loop of a kernel: its lines of PTX, what each is for, its line of CUDA."""

    lines: tuple[str, ...]
    purposes: tuple[Purpose, ...]
    source: str

    @property
    def products(self) -> int:
        """What one turn multiplies and adds."""
        return max(self.purposes.count("arithmetic"), 1)

    def each(self, purpose: Purpose | None = None) -> float:
        """Instructions for a product: of a purpose, or all."""
        count = len(self.lines) if purpose is None else self.purposes.count(purpose)
        return count / self.products


def inner_loop_of(run: Run) -> InnerLoop:
    """The inner loop of a run's kernel, as its PTX says it."""
    trace = run.trace
    return _inner_loop(trace.ptx, trace.launch.kernel, trace.source)


@lru_cache(maxsize=16)
def _inner_loop(ptx: str, kernel: str, source: str) -> InnerLoop:
    module = parse(ptx)
    function = module.by_name[kernel]
    known, body = purposes(function), inner_loop(function)
    sums = (at.line for at in body if known[at.pc] == "arithmetic")
    rows = source.splitlines()
    line = next(sums, 0)
    return InnerLoop(
        tuple(" ".join(module.line_text(at.ptx_line).split()) for at in body),
        tuple(known[at.pc] for at in body),
        rows[line - 1].strip() if 0 < line <= len(rows) else "",
    )


def side_by_side(named: Sequence[tuple[str, Run]]) -> Node:
    """The loops in their colours, what these mean, and what a product takes of each."""
    loops = [(name, inner_loop_of(run)) for name, run in named]
    code = Listings(
        tuple(
            CodeListing(
                tr("{name}: {n} PTX instructions a turn", name=name, n=len(one.lines)),
                one.source,
                one.lines,
                tuple(_INKS[purpose] for purpose in one.purposes),
            )
            for name, one in loops
        )
    )
    met = [p for p in _WORDS if any(p in one.purposes for _, one in loops)]
    key = ColorKey(tuple(Key(tr(_WORDS[purpose]), _INKS[purpose]) for purpose in met))
    table = Table(
        (
            Column(
                (tr("PTX instructions for a product"), tr("for a product")),
                tuple(name for name, _ in loops),
                "left",
                tr("model"),
            ),
            *(
                Column(
                    (tr(_WORDS[purpose]),),
                    tuple(f"{one.each(purpose):g}" for _, one in loops),
                    bold=purpose == "address",
                )
                for purpose in met
            ),
            Column((tr("in all"),), tuple(f"{one.each():g}" for _, one in loops), bold=True),
            *time_column([time_of(run) for _, run in named]),
        )
    )
    return first(rows(code, key, table, gap=0.4), rows(code, table, gap=0.3))
