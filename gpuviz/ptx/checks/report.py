"""A check, and what it found as a record: the sentence names the place, the thread and the line."""

from typing import Literal

from gpuviz.traces.observe import At, Report, Sink
from gpuviz.traces.trace import LANES, Finding, Launch
from gpuviz.words.language import tr

Severity = Literal["error", "warning"]


def line_of(at: At) -> str:
    """`line 12`, or that of the PTX where the CUDA line is not known."""
    return tr("line {n}", n=at.line) if at.line else tr("PTX line {n}", n=at.ptx_line)


class Check(Sink):
    """A sink that reports what threads do wrong, as it happens."""

    name = ""

    def launch_begin(self, launch: Launch, report: Report) -> None:
        """Know where threads are, and whom to tell."""
        self._launch, self._report = launch, report

    def _tell(
        self,
        kind: str,
        what: str,
        at: At,
        thread: int,
        remedy: str,
        address: int = 0,
        count: int = 1,
        severity: Severity = "error",
    ) -> None:
        """Something that a thread did; threads are numbered over the launch, warps padded."""
        launch, line = self._launch, line_of(at)
        number, own = divmod(thread, launch.warps_per_block * LANES)
        block, index = launch.block_index(number), launch.thread_index(own)
        where = tr("{line}, block {block}, thread {thread}", line=line, block=block, thread=index)
        place = at.line, at.ptx_line, block, index, address, count
        self._report(Finding(severity, kind, f"{what} ({where})", *place, self.name, remedy))
