"""A trace, made of what sinks have heard."""

from __future__ import annotations

from typing import Any

from gpuviz.ptx.recorders import PathRecorder, RequestRecorder
from gpuviz.ptx.totals import BranchTotals, Findings, Tally, TransferTotals
from gpuviz.traces.observe import Sink
from gpuviz.traces.trace import Finding, Launch, Trace
from gpuviz.words.language import tr


class Tracer:
    """The sinks that a trace needs, and the trace that they make."""

    def __init__(self, record: tuple[int, ...], limit: int, path: bool) -> None:
        self.tally = Tally()
        self._limit = limit
        self._branches, self._findings = BranchTotals(), Findings()
        self._transfers = TransferTotals()
        self._requests = RequestRecorder(record, limit)
        self._path = PathRecorder(record, limit) if path else None

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """Those that are to listen."""
        requests = (self._requests,) if len(self._requests.blocks) else ()
        path = () if self._path is None else (self._path,)
        own = self.tally, self._branches, self._findings, self._transfers
        return *own, *requests, *path

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What has been found wrong so far."""
        return self._findings.findings()

    def trace(self, launch: Launch, ended: bool = False, **more: Any) -> Trace:
        """What they have heard of a launch, which may have `ended` at a fault; `more` are fields of
        the trace that nobody can hear.
        """
        requests, path, tally = self._requests, self._path, self.tally
        notes = []
        if tally.blocks < launch.blocks and not ended:
            some = {"done": tally.blocks, "blocks": launch.blocks}
            notes.append(
                tr("{done} of {blocks} blocks were emulated, spread over the grid", **some)
            )
        if requests.full or (path is not None and path.full):
            rows = f"{self._limit:,}"
            notes.append(tr("the record of requests was cut at {rows} rows", rows=rows))
        notes += self._transfers.notes()
        return Trace(
            launch,
            requests.memory_instructions,
            requests.requests(),
            tuple(requests.blocks.tolist()),
            tally.blocks,
            tally.thread_instructions,
            tally.warp_instructions,
            self._branches.branches(),
            self.findings,
            notes=tuple(notes),
            stretches=() if path is None else path.stretches,
            path=None if path is None else path.path(),
            handovers=requests.handovers(),
            **more,
        )
