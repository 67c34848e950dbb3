"""What a process holds, and how late its window answers: for soaks and faults in a row."""

from __future__ import annotations

import ctypes
import gc
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from traceback import walk_stack
from types import FrameType

import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

BEAT = 0.01  # seconds between two ticks of a heartbeat
LATE = 0.1  # from which on a user notices


@dataclass(frozen=True)
class Vitals:
    """What this process holds: `rss` in MB, and numbers of things. Linux only."""

    rss: float
    fds: int
    threads: int
    children: int
    widgets: int
    objects: int

    def __str__(self) -> str:
        return "  ".join(f"{f.name} {getattr(self, f.name):.0f}" for f in fields(self))


def vitals() -> Vitals:
    """What is held now, after everything that can be freed has been."""
    for _ in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
    with suppress(OSError, AttributeError):  # freed memory that malloc keeps says nothing
        ctypes.CDLL(None).malloc_trim(0)
    return Vitals(
        resident(),
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        len(children()),
        len(QApplication.allWidgets()),
        sum(isinstance(one, QObject) for one in shiboken6.getAllValidWrappers()),
    )


def kinds() -> Counter[str]:
    """How many widgets there are of each class and name."""
    return Counter(
        f"{type(one).__name__} {one.objectName() or one.accessibleName()}".strip()
        for one in QApplication.allWidgets()
    )


def resident() -> float:
    """MB of memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def children(of: int | str = "self") -> dict[int, str]:
    """The processes that a process started and that are not gone, zombies as well: their states."""
    found: dict[int, str] = {}
    for task in Path(f"/proc/{of}/task").iterdir():
        with suppress(OSError):  # a thread may end meanwhile
            for pid in map(int, (task / "children").read_text().split()):
                found[pid] = state_of(pid)
    return found


def workers() -> list[int]:
    """The processes of ours that own a GPU, a made-up one as well."""
    found = []
    for pid in children():
        with suppress(OSError):
            said = Path(f"/proc/{pid}/cmdline").read_text()
            if "fake_gpu.py" in said or "gpu.worker" in said:
                found.append(pid)
    return found


def state_of(pid: int) -> str:
    """The letter of a process's state, "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@dataclass(frozen=True)
class Stall:
    """A tick that came late: when, by how many seconds, how many of them the GUI thread computed
    itself (the others it waited: for the interpreter, a disk, a processor), and where.
    """

    end: float
    seconds: float
    work: float
    place: str


class Heartbeat:
    """Notes how late a timer of the GUI thread ticks: how long it was busy with something.

    With `places` it notes, too, where the thread was when a tick was more than `late` behind: a
    signal looks it up. What holds the thread outside of Python is seen when it comes back.
    """

    def __init__(self, places: bool = False, late: float = LATE) -> None:
        self.beats, self.late = 0, late
        self.stalls: list[float] = []
        self.busiest = self._work = 0.0  # processor time of the GUI thread between two beats
        self.places: Counter[str] = Counter()
        self.when: list[Stall] = []
        self._last, self._seen = 0.0, ""
        self._places = places
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(int(1000 * BEAT))
        self._timer.timeout.connect(self._beat)
        if places:
            signal.signal(signal.SIGALRM, self._look)

    def start(self) -> None:
        """Begin, in the GUI thread."""
        self._last, self._work = time.monotonic(), time.thread_time()
        self._timer.start()
        self._arm(BEAT + self.late)

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._arm(0)

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """What the watcher does itself is nobody's stall."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @property
    def worst(self) -> float:
        """Seconds of the longest stall."""
        return max(self.stalls, default=0.0)

    def _beat(self) -> None:
        now = time.monotonic()
        stall, self._last = now - self._last - BEAT, now
        work, self._work = self._work, time.thread_time()
        self.busiest = max(self.busiest, self._work - work)
        self.beats += 1
        if stall > self.late:
            self.stalls.append(stall)
            self.places[self._seen or "unseen"] += 1
            self.when.append(Stall(now, stall, self._work - work, self._seen or "unseen"))
        self._seen = ""
        self._arm(BEAT + self.late)

    def _arm(self, seconds: float) -> None:
        if self._places:
            signal.setitimer(signal.ITIMER_REAL, seconds)

    def _look(self, number: int, frame: FrameType | None) -> None:
        """The tick is late: this runs in the GUI thread, as soon as that is in Python again."""
        lines = [f"{x.f_code.co_filename}:{at} {x.f_code.co_name}" for x, at in walk_stack(frame)]
        mine = [one.rpartition("gpuviz/")[2] for one in lines if "/gpuviz/" in one]
        self._seen = " < ".join(mine[:4]) or " < ".join(lines[:2])
