"""Does the cells of a sweep off the GUI thread, and keeps them in the user's folder."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Signal

from gpuviz.base.errors import failure_of
from gpuviz.base.waiting import Cancel, Progress
from gpuviz.qt.running.activity import Activity
from gpuviz.qt.running.meter import Meter
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.sweeps import table, workers
from gpuviz.sweeps.axis import Cell
from gpuviz.sweeps.cell import On, Outcome
from gpuviz.sweeps.record import Head, kept, key
from gpuviz.sweeps.sweep import Sweep, run
from gpuviz.words.language import tr

MakeWorkers = Callable[[Sweep], tuple[Executor, int]]


def local(sweep: Sweep) -> tuple[Executor, int]:
    """Processes of this machine: one for its GPU, or one a core."""
    made = workers.LocalWorkers(1 if sweep.on == "gpu" else None)
    return made, made.count


class SweepWork(Activity):
    """One sweep at a time. A sweep that was begun before goes on where it was stopped."""

    came = Signal(Mapping, Outcome)  # cell, outcome: one that is done, be it done before

    def __init__(self, meter: Meter) -> None:
        super().__init__(meter)
        self._meter = meter
        self.make_workers: MakeWorkers = local
        self.file: Path | None = None
        self.on: On = "emulator"
        self._of = ""

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        return tr("sweep over {launch} …", launch=self._of)

    def start(self, sweep: Sweep, of: str, gpu: DeviceFacts | None = None) -> None:
        """Do what is not done of it; `of` is what is launched, in words, `gpu` where."""
        if self.busy:
            return
        if sweep.on == "gpu":
            self._meter.pause()
        self._of, self.on = of, sweep.on
        head = sweep.head(gpu)
        file = self.file = table.file_of(head, sweep.axes)
        self._begin(lambda progress, cancel: self._work(sweep, head, file, progress, cancel))

    def _work(
        self, sweep: Sweep, head: Head, file: Path, progress: Progress, cancel: Cancel
    ) -> None:
        """Runs in the thread."""
        cells = sweep.cells
        file.parent.mkdir(parents=True, exist_ok=True)
        with kept(file, head) as record:
            for cell in cells:
                if (known := record.outcomes.get(key(cell))) is not None:
                    self._tell(cell, known)
            wanted = set(map(key, cells))

            def tell(cell: Cell, outcome: Outcome) -> None:
                self._tell(cell, outcome)
                progress(len(wanted & record.outcomes.keys()) / len(cells))

            if wanted <= record.outcomes.keys():
                return
            executor, slots = self.make_workers(sweep)
            try:
                run(sweep, record, executor, slots, tell, cancel)
            finally:
                executor.shutdown(wait=False, cancel_futures=True)

    def _tell(self, cell: Cell, outcome: Outcome) -> None:
        with suppress(RuntimeError):  # the window may be gone by now
            self.came.emit(cell, outcome)

    def _end(self, outcome: object, stopped: bool) -> None:
        self._meter.resume()
        if stopped:
            self.rested.emit(tr("sweep stopped; Start goes on with it"))
        elif isinstance(outcome, BaseException):
            self.rested.emit(tr("sweep not finished"))
            self.failed.emit(failure_of(outcome))
        else:
            self.rested.emit(tr("sweep done, kept in {file}", file=self.file))
