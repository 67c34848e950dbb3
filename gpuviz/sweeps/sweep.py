"""Does the cells of a sweep that are not done yet, as many at a time as there are workers."""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from gpuviz.base.errors import Cancelled, Error
from gpuviz.base.waiting import Cancel, go_on
from gpuviz.recordings.measurement import DeviceFacts
from gpuviz.run.run import Level
from gpuviz.sweeps.axis import ARCH, Axis, Cell, cells
from gpuviz.sweeps.cell import Launch, On, Outcome, Task, outcome
from gpuviz.sweeps.record import Head, Record, SweepOrigin, key
from gpuviz.sweeps.subject import Subject

_AHEAD = 2  # tasks made for each worker before it is free
_PATIENCE = 0.2  # seconds until it is asked again whether to stop

Tell = Callable[[Cell, Outcome], None]


@dataclass(frozen=True, eq=False)
class Sweep:
    """What is varied of what, and how cells are found out."""

    subject: Subject
    axes: tuple[Axis, ...]
    on: On = "emulator"
    level: Level = "sass"
    repeats: int = 20
    time: bool = False

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All of them; InputError as `axis.cells`."""
        return cells(self.axes)

    def head(self, gpu: DeviceFacts | None = None) -> Head:
        """What its file begins with; `gpu` is the one that it is measured on."""
        today = datetime.now(UTC).date().isoformat()
        made = SweepOrigin(gpu, today, self.repeats) if gpu else None
        name, level = (gpu.name if gpu else ""), self.level if self.on == "emulator" else "sass"
        return Head(self.subject.says, self.subject.arch, self.on, level, name, made)

    def task(self, cell: Cell) -> Task:
        """The work of a cell, compiled; may raise any `errors.Error`."""
        jobs = self.subject.launches(cell)
        launches = tuple(Launch.of(role, job) for role, job in jobs.items())
        arch = cell.get(ARCH, self.subject.arch)
        return Task(launches, arch, self.on, self.level, self.repeats, self.time)


def run(
    sweep: Sweep,
    record: Record,
    workers: Executor,
    slots: int,
    tell: Tell = lambda cell, outcome: None,
    cancel: Cancel = go_on,
) -> None:
    """Do what the record lacks; each cell is kept, then told, from this thread, as it comes.

    `workers` work on `slots` cells at a time.

    Raises
    ------
    Cancelled : the caller asked to stop; what was done is kept
    InputError : the record cannot be written
    """
    left = iter([cell for cell in sweep.cells if key(cell) not in record.outcomes])
    under_way: dict[Future[Outcome], Cell] = {}
    with _threads(slots * _AHEAD) as threads:
        while True:
            for cell in left:
                under_way[threads.submit(_done, sweep, cell, workers)] = cell
                if len(under_way) == slots * _AHEAD:
                    break
            if not under_way:
                return
            for future in wait(under_way, _PATIENCE, FIRST_COMPLETED).done:
                cell = under_way.pop(future)
                made = future.result()
                record.add(cell, made)
                tell(cell, made)
            if cancel():
                raise Cancelled("stopped")


@contextmanager
def _threads(count: int) -> Iterator[ThreadPoolExecutor]:
    """Threads that compile and wait; those that still wait end with the workers."""
    threads = ThreadPoolExecutor(count, thread_name_prefix="cells")
    try:
        yield threads
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _done(sweep: Sweep, cell: Cell, workers: Executor) -> Outcome:
    """Runs in a thread."""
    try:
        return workers.submit(outcome, sweep.task(cell)).result()
    except Cancelled:
        raise
    except Error as error:  # of the cell itself
        return Outcome(error=str(error))
    except Exception as error:  # a cluster that gave it up
        return Outcome(error=f"no worker could finish it: {error}")
