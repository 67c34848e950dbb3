"""A window is shown one fault of its GPU's process after the other while its lesson changes."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from pytestqt.qtbot import QtBot

from gpuviz.processes import worker as worker_process
from gpuviz.qt.window.window import Window
from tests.vitals import LATE, Heartbeat, Vitals, vitals, workers

WARM_UP = 10  # faults before anything is compared
WAIT = 60_000


@dataclass(frozen=True)
class Fault:
    """What is done, and what the window has to say of it, "" when nobody has to notice.

    `kernel` is measured in place of the lesson's; `kill` is sent to the process while it measures,
    `missing` sets a variable without which it finds no GPU when it starts again. `or_said` is
    right, too, where the moment decides which of two things happens.
    """

    name: str
    said: str = ""
    kernel: str = ""
    kill: signal.Signals | None = None
    missing: tuple[str, str] | None = None
    or_said: tuple[str, ...] = ()


@dataclass
class Findings:
    """What the drill saw."""

    faults: int = 0
    seconds: float = 0.0
    before: Vitals | None = None
    after: Vitals | None = None
    heart: Heartbeat = field(default_factory=Heartbeat)
    said: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"{self.faults} faults in {self.seconds:.0f} s; {self.heart.beats} beats, "
            f"{len(self.heart.stalls)} later than {LATE:g} s, the latest {self.heart.worst:.2f} s, "
            f"{self.heart.busiest:.3f} s computed between two",
            f"before: {self.before}",
            f"after:  {self.after}",
        ]
        lines += [f"{name}: {said}" for name, said in sorted(self.said.items())]
        return "\n".join(lines)


class Drill:
    """`kernel` is told which kernel is measured from now on, "" for that of the lesson; `limit` is
    the time in seconds that a launch is given.
    """

    def __init__(
        self, window: Window, qtbot: QtBot, kernel: Callable[[str], None], limit: float
    ) -> None:
        self._window, self._bot, self._kernel = window, qtbot, kernel
        self._longest = limit + 1.3
        self._dice = random.Random(11)
        self.found = Findings()

    def go_through(self, faults: Sequence[Fault], count: int, seconds: float = 1e9) -> Findings:
        """So many faults, the kinds in turn, unless it takes longer; then a measurement as ever."""
        found, begun = self.found, time.monotonic()
        self._window.meter.set_use(1.0)  # no fault waits until the GPU has rested from the last
        first = self._measured()
        found.heart.start()
        while found.faults < count and time.monotonic() - begun < seconds:
            if found.faults == WARM_UP:
                with found.heart.unwatched():
                    found.before = vitals()
            self._change()
            self._suffer(faults[found.faults % len(faults)])
            found.faults += 1
        found.heart.stop()
        self._settle()
        self._back()
        assert self._measured() == first, "it measures something else than before"
        found.after = vitals()
        found.seconds = time.monotonic() - begun
        return found

    def _suffer(self, fault: Fault) -> None:
        window, said = self._window, ""
        self._kernel(fault.kernel)
        patch = pytest.MonkeyPatch()
        if fault.missing is not None:
            patch.setenv(*fault.missing)
            self._kill(signal.SIGKILL)
            self._bot.waitUntil(lambda: not workers(), timeout=WAIT)
        self._run("gpu.once" if self._dice.random() < 0.7 else "gpu.continuous")
        if fault.kill is not None:
            self._bot.wait(self._dice.randint(5, 150))
            self._kill(fault.kill)
            if self._dice.random() < 0.3:
                self._change()
            self._settle()
            if not (said := window.meter.state.trouble):  # it was at rest already
                self._kernel("")
                self._run("gpu.once")
        self._settle()
        if fault.missing is not None and not window.meter.state.why:
            assert "was lost" in window.meter.state.trouble  # it was noticed by this run
            self._run("gpu.once")
            self._settle()
        state = window.meter.state
        said = said or (state.trouble if fault.missing is None else state.why)
        if said or fault.kill is None:
            fits = any(words in said for words in (fault.said, *fault.or_said))
            assert fits, f"{fault.name}: it says {said!r}"
            self.found.said[fault.name] = said
        if fault.missing is not None:
            assert window.meter.state.device is None
            patch.undo()
            window.actions_["gpu.look"].trigger()  # the one click
            self._settle()
        assert window.meter.state.device is not None, fault.name
        self._kernel("")
        if self._dice.random() < 0.2:
            self._measured()

    def _run(self, command: str) -> None:
        """When there is something to measure, unless just that has begun by itself."""
        window = self._window
        shown = lambda: window.player.story is not None and not window.director.performer.busy  # noqa: E731
        self._bot.waitUntil(shown, timeout=WAIT)
        if command != "gpu.continuous" or window.meter.state.activity != "continuous":
            window.actions_[command].trigger()

    def _kill(self, how: signal.Signals) -> None:
        for pid in workers():
            os.kill(pid, how)

    def _change(self) -> None:
        """Another value, or another lesson."""
        window = self._window
        if self._dice.random() < 0.2:
            window.course.open(self._dice.choice(window.course.lessons))
        else:
            window.view.set_values({"stride": self._dice.randint(1, 32)})

    def _back(self) -> None:
        window = self._window
        window.course.open(window.course.lessons[0])
        window.view.set_values(window.view.now.lesson.defaults())
        self._bot.waitUntil(lambda: not window.director.performer.busy, timeout=WAIT)
        self._bot.wait(50)

    def _measured(self) -> str:
        """What a measurement of the first lesson says, but for times."""
        self._kernel("")
        self._back()
        self._run("gpu.once")
        self._settle()
        assert not self._window.meter.state.trouble, self._window.meter.state.trouble
        self._bot.wait(250)
        text = self._window.counts.text()
        assert "measured (live)" in text
        counted = ("requests", "sectors", "quantity")  # what caches make of it is not the same
        return "\n".join(
            line for line in text.splitlines() if line.split("\t")[0].endswith(counted)
        )

    def _settle(self) -> None:
        """Until the GPU rests; going on and on is stopped after a while."""
        window, begun = self._window, time.monotonic()

        def resting() -> bool:
            if (
                window.meter.state.activity == "continuous"
                and time.monotonic() - begun > self._longest
            ):
                window.actions_["gpu.stop"].trigger()
            return window.meter.state.activity == "idle" and not window.director.performer.busy

        self._bot.waitUntil(resting, timeout=WAIT)


@contextmanager
def only_threads_wait() -> Iterator[None]:
    """Nothing of another process is waited for in the thread that answers the user."""
    import threading

    real, here = worker_process.WorkerProcess.ask, threading.get_ident()

    def ask(self: object, *given: object, **named: object) -> object:
        assert threading.get_ident() != here, "the GUI thread waits for a process"
        return real(self, *given, **named)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_process.WorkerProcess, "ask", ask)
        yield


def check(found: Findings) -> None:
    """Nothing has piled up, and the window has answered all the time."""
    before, after = found.before, found.after
    assert before is not None and after is not None
    assert after.rss - before.rss < 50, found
    assert after.fds <= before.fds + 3 and after.threads <= before.threads + 2, found
    assert after.children <= before.children + 1, found
    assert after.widgets <= before.widgets + 20, found
    # On a machine that is busy otherwise, too: what would freeze it for good is seen all the same.
    assert sum(found.heart.stalls) < 0.1 * found.seconds and found.heart.worst < 1.5, found
