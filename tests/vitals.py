"""What a process holds, and how late its window answers: for soaks and faults in a row."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

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


def state_of(pid: int) -> str:
    """The letter of a process's state, "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@dataclass
class Heartbeat:
    """Notes how late a timer of the GUI thread ticks, and what held the thread up.

    `worst` is in seconds; `late` counts stalls over `LATE` by the lines that were under way when a
    thread looked, which it does once a stall.
    """

    beats: int = 0
    stalls: list[float] = field(default_factory=list)
    late: Counter[str] = field(default_factory=Counter)
    lasted: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(int(1000 * BEAT))
        self._timer.timeout.connect(self._beat)
        self._gui = threading.get_ident()
        self._last = 0.0
        self._place = ""
        self._over = threading.Event()

    def start(self) -> None:
        """Begin, in the GUI thread."""
        self._last = time.monotonic()
        self._timer.start()
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._over.set()

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """What the watcher does itself is nobody's stall."""
        self._timer.stop()
        self._last = float("inf")
        try:
            yield
        finally:
            self._last = time.monotonic()
            self._place = ""
            self._timer.start()

    @property
    def worst(self) -> float:
        """Seconds of the longest stall."""
        return max(self.stalls, default=0.0)

    def _beat(self) -> None:
        now = time.monotonic()
        stall, self._last = now - self._last - BEAT, now
        self.beats += 1
        if stall > LATE:
            self.stalls.append(stall)
            self.lasted[self._place] += stall
        self._place = ""

    def _watch(self) -> None:
        """Runs in a thread."""
        while not self._over.wait(LATE / 4):
            if time.monotonic() - self._last > LATE and not self._place:
                self._place = _place(self._gui)
                self.late[self._place] += 1


def _place(thread: int) -> str:
    """Where a thread is: the innermost lines of gpuviz."""
    frame = sys._current_frames().get(thread)
    if frame is None:
        return "?"
    lines = [
        f"{Path(one.filename).stem}.{one.name}:{one.lineno}"
        for one in traceback.extract_stack(frame)
        if "gpuviz" in one.filename and "/tests/" not in one.filename
    ]
    return " > ".join(lines[-4:]) or "Qt"
