"""Sinks that sum up a whole launch: what was executed, branches, findings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuviz.traces.observe import Lanes, Place, Sink, Sums, Transfer, TransferKind
from gpuviz.traces.trace import Branch, Finding, Stretch
from gpuviz.words.language import tr


class Tally(Sums):
    """How much was executed: blocks, and each stretch of the program."""

    def __init__(self) -> None:
        self.blocks = 0
        self._totals: dict[int, tuple[Stretch, int, int]] = {}  # by pc: warps, threads

    def blocks_end(self, first: int, count: int) -> None:
        """Count blocks."""
        self.blocks += count

    def instructions(self, stretch: Stretch, lanes: Lanes) -> None:
        """Add to the totals of a stretch."""
        _, warps, threads = self._totals.get(stretch.pc, (stretch, 0, 0))
        self._totals[stretch.pc] = stretch, warps + lanes.warps, threads + lanes.threads

    @property
    def executed(self) -> dict[int, int]:
        """How often warps executed each stretch, by the pc of its first instruction."""
        return {pc: warps for pc, (_, warps, _) in self._totals.items()}

    @property
    def threads(self) -> dict[Stretch, int]:
        """How often threads executed each stretch."""
        return {stretch: threads for stretch, _, threads in self._totals.values()}

    @property
    def thread_instructions(self) -> int:
        """Instructions executed, by every thread."""
        return sum(stretch.count * threads for stretch, _, threads in self._totals.values())

    @property
    def warp_instructions(self) -> int:
        """Instructions executed, by every warp."""
        return sum(stretch.count * warps for stretch, warps, _ in self._totals.values())


class BranchTotals(Sums):
    """How often branches ran, and split warps."""

    def __init__(self) -> None:
        self._totals: dict[int, tuple[Place, int, int, int, int]] = {}  # by pc

    def branch(self, at: Place, warps: int, divergent: int, taken: int, not_taken: int) -> None:
        """Add to the totals of a branch."""
        _, a, b, c, d = self._totals.get(at.pc, (at, 0, 0, 0, 0))
        self._totals[at.pc] = at, a + warps, b + divergent, c + taken, d + not_taken

    def branches(self) -> tuple[Branch, ...]:
        """The totals, in the order of the program."""
        ordered = (self._totals[pc] for pc in sorted(self._totals))
        return tuple(Branch(at.pc, at.line, at.ptx_line, *total) for at, *total in ordered)


class Findings(Sink):
    """Keeps the first finding of a kind at a place, and counts the others."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int], Finding] = {}

    def finding(self, finding: Finding) -> None:
        """Keep or count a finding."""
        key = finding.kind, finding.ptx_line
        first = self._first.get(key)
        self._first[key] = (
            finding if first is None else replace(first, count=first.count + finding.count)
        )

    def findings(self) -> tuple[Finding, ...]:
        """What was found, in the order in which it was first seen."""
        return tuple(self._first.values())


class TransferTotals(Sums):
    """Bytes that were moved, or read, asynchronously."""

    def __init__(self) -> None:
        self._bytes: dict[TransferKind, int] = {}

    def transfer(self, transfer: Transfer) -> None:
        """Add to the total of its kind."""
        moved = int(transfer.size.sum()) * transfer.repeat
        self._bytes[transfer.kind] = self._bytes.get(transfer.kind, 0) + moved

    def notes(self) -> Iterator[str]:
        """What there was, and what of it is not modelled."""
        into, read = self._bytes.get("load", 0), self._bytes.get("product", 0)
        out = self._bytes.get("store", 0) + self._bytes.get("reduce", 0)
        if into or out:
            yield tr(
                "bulk copies moved {into} bytes into shared memory and {out} out of it: their "
                "wavefronts in shared memory are not modelled",
                into=f"{into:,}",
                out=f"{out:,}",
            )
        if read:
            yield tr("wgmma read {n} bytes of shared memory", n=f"{read:,}")
