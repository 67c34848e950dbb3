"""A soak: a user who never tires goes through everything the window can do, in a seeded order.

    python -m tests.soak [--minutes 60] [--seed 1] [--log FILE.csv]

Every lesson with random values, A | B, architectures, undo, exports in every format, files opened
again, kernels of one's own, lectures presented and packed, a GPU that is made up, and processes
that are killed. What the process holds is written down at the end of every lap through the lessons.
The last line says whether it stayed flat; the exit status is 1 when it did not, or when something
went wrong that nobody caught.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FOLDERS = ("CONFIG", "CACHE", "DATA", "STATE")
MEMORY = 50.0  # MB that the end may be above the beginning
HANDLES = {"fds": 4, "threads": 3, "children": 2, "widgets": 40, "objects": 200}
SETTLE = 0.25  # of the laps pass before anything is compared
PATIENCE = 25.0  # seconds a run is given before it is cancelled

Act = Iterator[float | Callable[[], bool]]

KERNELS = {
    "saxpy.cu": """extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
""",
    "turned.cu": """__global__ void turned(const float* in, float* out, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x];
}
""",
    "wrong.cu": "__global__ void wrong(float* x) { x[0] = nothing; }\n",
}


def main() -> int:
    """Soak; 0 when flat."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--only", nargs="*", default=(), metavar="ACT", help="some acts alone")
    parser.add_argument("--places", action="store_true", help="say what held up the event loop")
    given = parser.parse_args()
    with fresh_home() as home:
        return Soak(home, given).run()


@contextmanager
def fresh_home() -> Iterator[Path]:
    """A folder that settings, caches and state go to, and windows that are not shown."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="gpuviz-home-") as home:
        for name in FOLDERS:
            os.environ[f"XDG_{name}_HOME"] = home
        yield Path(home)


@dataclass(frozen=True)
class Trend:
    """A quantity before and after, medians of laps, and how much it may have grown."""

    name: str
    before: float
    after: float
    most: float

    @property
    def flat(self) -> bool:
        """Whether it has not grown more than that."""
        return self.after - self.before <= self.most

    def __str__(self) -> str:
        said = "" if self.flat else f"  GREW, at most {self.most:g}"
        return f"{self.name:10s}{self.before:10.0f}{self.after:10.0f}{said}"


class Soak:
    """The window and its tireless user."""

    def __init__(self, home: Path, given: argparse.Namespace) -> None:
        self._home, self._end = home, time.monotonic() + 60 * given.minutes
        self._random = random.Random(given.seed)
        self._log: Path | None = given.log
        self._only: list[str] = given.only
        self._places: bool = given.places
        self._kinds: list[Counter[str]] = []
        self._laps: list[Any] = []
        self._done: Counter[str] = Counter()
        self._wrong: list[str] = []
        self._late: list[str] = []
        self._qt: Counter[str] = Counter()

    late = 0.1  # seconds from which on a stall is noted

    def sources(self) -> Any:
        """Where measurements come from: a GPU that is made up."""
        from gpuviz.gpu.client import Gpu
        from gpuviz.story.sources import Sources
        from tests.qt import fake_gpu

        return Sources(lambda number: Gpu(number, limit=5.0, arguments=fake_gpu.arguments()))

    def run(self) -> int:
        """Everything until the time is over; the exit status."""
        from PySide6.QtCore import QSettings, QTimer, qInstallMessageHandler
        from PySide6.QtWidgets import QApplication

        from gpuviz import app as entry
        from gpuviz.course import COURSE
        from gpuviz.processes import memory
        from gpuviz.qt.look.fonts import load_fonts
        from gpuviz.qt.window.ahead import Ahead
        from gpuviz.qt.window.window import Window
        from gpuviz.run.session import Session
        from tests.vitals import Heartbeat

        memory.keep_together()
        qInstallMessageHandler(self._hear)
        application = QApplication(["gpuviz"])
        load_fonts()
        settings = QSettings(str(self._home / "gpuviz.ini"), QSettings.Format.IniFormat)
        settings.setValue("tour", "seen")
        sources = self.sources()
        self.window = Window(
            entry._perform, COURSE, settings, sources, self._home / "state", None, Session()
        )
        self._lessons = tuple(one.id for one in COURSE)
        self._files = self._home / "files"
        self._files.mkdir()
        for name, text in KERNELS.items():
            (self._files / name).write_text(text)
        sys.excepthook = self._note
        threading.excepthook = lambda args: self._note(
            args.exc_type, args.exc_value, args.exc_traceback
        )
        Ahead(self.window)
        self.window.show()
        self.heart = Heartbeat(self._places, self.late)
        self.heart.start()
        self._acting = self._acts()
        self._waiting: float | Callable[[], bool] = 0.5
        self._since = time.monotonic()
        timer = QTimer()
        timer.timeout.connect(self._step)
        timer.start(10)
        application.exec()
        timer.stop()
        self.heart.stop()
        self.window.deleteLater()
        application.processEvents()
        return self._verdict()

    def _hear(self, kind: Any, context: Any, words: str) -> None:
        """What Qt complains about."""
        if "propagateSizeHints" not in words:  # as ever without a display
            if not self._qt[words]:
                print(f"Qt: {words}", flush=True)
            self._qt[words] += 1

    def _note(self, kind: Any, error: Any, trace: Any) -> None:
        sys.__excepthook__(kind, error, trace)
        self._wrong.append(f"{kind.__name__}: {error}")

    # The loop: an act is a generator that yields seconds to wait, or what to wait for.

    def _step(self) -> None:
        waited = time.monotonic() - self._since
        if callable(self._waiting):
            if not self._waiting() and waited < PATIENCE:
                return
            if waited >= PATIENCE:
                self._late.append(self._now)
                self._done["(not done in time)"] += 1
                self._cancel()
        elif waited < self._waiting:
            return
        self._since = time.monotonic()
        try:
            self._waiting = next(self._acting)
        except StopIteration:
            from PySide6.QtWidgets import QApplication

            self._waiting = 1e9
            QApplication.quit()

    def _acts(self) -> Act:
        self._now = "start"
        window = self.window
        yield lambda: window.player.story is not None
        saving, exporting = window.lecture.saving, window.files.exporting
        saving.ask_unsaved = lambda: "discard"
        saving.ask_where = lambda: self._files / "packed.gpulecture"
        exporting.ask_where = lambda parent, question: (
            self._files / f"export{question.suffixes[0] if self._any else ''}"
        )
        exporting.quick_folder = lambda: self._files
        self._any = True
        yield from self._rest()
        self._lap()
        acts = [f"do_{name}" for name in self._only] or [n for n in dir(self) if n[:3] == "do_"]
        while time.monotonic() < self._end:
            order = list(self._lessons)
            self._random.shuffle(order)
            for lesson in order:
                if time.monotonic() > self._end:
                    break
                yield from self._act("open", self._open(lesson))
                for name in self._random.choices(acts, k=5):
                    yield from self._act(name[3:], getattr(self, name)())
            yield from self._act("tidy", self._tidy())
            self._lap()
        yield from self._rest()
        window.close()
        yield 0.5

    def _act(self, name: str, act: Act) -> Act:
        self._now = name
        self._done[name] += 1
        try:
            yield from act
        except Exception as error:
            self._note(type(error), error, error.__traceback__)
        self._close_dialogs()

    def _rest(self) -> Act:
        window = self.window
        yield lambda: not window.director.performer.busy
        yield lambda: not window.files.exporting.exports.busy
        yield lambda: window.meter.state.activity == "idle"
        yield 0.05

    def _cancel(self) -> None:
        window = self.window
        window.director.performer.cancel()
        window.files.exporting.exports.cancel()
        window.meter.stop()
        window.lecture.packer.cancel()

    def _close_dialogs(self) -> None:
        from PySide6.QtWidgets import QApplication, QDialog

        for one in QApplication.topLevelWidgets():
            if isinstance(one, QDialog) and one.isVisible():
                one.reject()
                one.deleteLater()

    def _do(self, command: str) -> None:
        action = self.window.actions_[command]
        if action.isEnabled():
            action.trigger()

    # What a user does.

    def _open(self, lesson: str) -> Act:
        listed = next(one for one in self.window.course.lessons if one.id == lesson)
        self.window.course.open(listed)
        yield lambda: self.window.director.showing is not None
        yield from self._rest()

    def _values(self) -> dict[str, Any]:
        lesson, dice = self.window.view.now.lesson, self._random
        if lesson.presets and dice.random() < 0.4:
            return dict(dice.choice(lesson.presets).values)
        if not lesson.parameters:
            return {}
        one = dice.choice(lesson.parameters)
        if one.choices:
            return {one.id: dice.choice(one.choices).value}
        if isinstance(one.default, bool):
            return {one.id: dice.random() < 0.5}
        return {one.id: dice.randint(one.minimum, min(one.maximum, max(4 * int(one.default), 8)))}

    def do_change(self) -> Act:
        """Parameters one after the other, some before the run of the last is over."""
        for _ in range(self._random.randint(1, 6)):
            self.window.view.set_values(self._values())
            yield self._random.choice((0.01, 0.05, 0.4))
        yield from self._rest()

    def do_compare(self) -> Act:
        """A | B, with other values and another architecture beside it."""
        window = self.window
        self._do("compare.toggle")
        yield from self._rest()
        if window.view.now.compared:
            window.view.set_values(self._values(), right=True)
            yield 0.1
            self._do("compare.swap")
            yield from self._rest()

    def do_arch(self) -> Act:
        """Another architecture."""
        self._do(f"arch.{self._random.choice(('sm_75', 'sm_80', 'sm_90', 'sm_100'))}")
        yield from self._rest()

    def do_level(self) -> Act:
        """The other level."""
        view = self.window.view
        view.set(level="ptx" if view.now.level == "sass" else "sass")
        yield from self._rest()

    def do_play(self) -> Act:
        """Play, step, seek."""
        self._do("play.toggle")
        yield 0.5
        for _ in range(10):
            command = self._random.choice(("forward", "back", "first", "last", "faster", "slower"))
            self._do(f"play.{command}")
            yield 0.02
        story = self.window.player.story
        if story is not None:
            self.window.player.seek(self._random.random() * story.duration)
        yield 0.1

    def do_undo(self) -> Act:
        """Some changes back, and forward again."""
        for command in ("edit.undo", "edit.redo"):
            for _ in range(self._random.randint(1, 4)):
                self._do(command)
                yield 0.05
        yield from self._rest()

    def do_again(self) -> Act:
        """Run again, and cancel at once."""
        self._do("run.again")
        yield 0.05
        self._do("run.cancel")
        yield from self._rest()

    def do_still(self) -> Act:
        """A picture through its dialog, opened again."""
        from gpuviz.export.settings import PictureSettings, as_text

        suffix = self._random.choice((".png", ".svg", ".pdf"))
        wanted = PictureSettings(suffix, "1280x720", pixels=1)
        yield from self._asked("export.still", "export/still", as_text(wanted))
        yield from self._reopened(self._files / f"export{suffix}")

    def do_film(self) -> Act:
        """A film of one step."""
        from gpuviz.export.settings import FilmSettings, as_text

        suffix = self._random.choice((".gif", ".apng", ".mp4", ".webm"))
        wanted = FilmSettings(suffix, "custom", 640, 360, fps=5, stretch="step")
        yield from self._asked("export.film", "export/film", as_text(wanted))
        yield from self._reopened(self._files / f"export{suffix}")

    def do_page(self) -> Act:
        """A page to click through."""
        yield from self._asked("export.page", "", "")
        yield from self._reopened(self._files / "export.html")

    def _asked(self, command: str, key: str, settings: str) -> Act:
        window = self.window
        if key:
            window.settings.keep(key, settings)
        self._do(command)
        yield 0.2
        if (dialog := window.files.exporting.dialog) is not None:
            dialog.accept()
        yield from self._rest()

    def _reopened(self, file: Path) -> Act:
        if file.is_file():
            self.window.files.reopening.open(file)
            yield 0.3
            file.unlink()
        yield from self._rest()

    def do_data(self) -> Act:
        """Counts, traces, times, the window, the clipboard."""
        commands = ("counts", "trace", "times", "window", "copy", "table", "quick")
        for name in self._random.sample(commands, 3):
            self._do(f"export.{name}")
            yield 0.1
        yield from self._rest()

    def do_kernel(self) -> Act:
        """A kernel of one's own."""
        window = self.window
        file = self._files / self._random.choice(tuple(KERNELS))
        window.kernel_opener.dialog = None
        window.kernel_opener.open(file, window.view.now.arch)
        yield 0.1
        if file.name != "wrong.cu":
            yield lambda: window.kernel_opener.dialog is not None
            if (dialog := window.kernel_opener.dialog) is not None:
                dialog.accept()
        yield 0.2
        yield from self._rest()

    def do_present(self) -> Act:
        """A lecture, or the view, given to a class."""
        from gpuviz.lectures import bundle

        window = self.window
        if self._random.random() < 0.5:
            window.lecture.open(self._random.choice(bundle.shipped()))
            yield from self._rest()
        self._do("present.start")
        yield 0.5
        given = window.lecture.presenting.presentation
        if given is None:
            return
        acts = ("forward", "forward", "forward", "back", "black", "laser", "lens", "larger")
        for _ in range(self._random.randint(5, 25)):
            if window.lecture.presenting.presentation is not given:
                return  # closed by what went on beside it
            given._do(self._random.choice(acts))
            yield 0.15
        given.close()
        yield 0.2
        yield from self._rest()

    def do_lecture(self) -> Act:
        """Slides added, moved, undone, packed."""
        window = self.window
        for command in ("add", "words", "duplicate", "up", "down", "undo", "redo"):
            self._do(f"lecture.{command}")
            yield 0.05
            self._close_dialogs()
        if self._random.random() < 0.2:
            self._do("lecture.pack")
            yield lambda: not window.lecture.packer.busy
        self._do("lecture.close")
        yield from self._rest()

    def do_look(self) -> Act:
        """Themes, letters, sizes, dialogs."""
        window = self.window
        theme = self._random.choice(("dark", "light", "projector", "contrast"))
        for command in (f"theme.{theme}", "text.larger", "text.normal", "code.next"):
            self._do(command)
            yield 0.05
        window.resize(*self._random.choice(((1280, 720), (1440, 860), (1920, 1080))))
        yield 0.2
        for command in ("view.words", "help.commands", "help.keys", "edit.preferences"):
            self._do(command)
            yield 0.2
            self._close_dialogs()

    def do_gpu(self) -> Act:
        """Measured once, then on and on while a parameter changes."""
        window = self.window
        self._do("gpu.once")
        yield lambda: window.meter.state.activity == "idle"
        self._do("gpu.continuous")
        yield 0.7
        window.view.set_values(self._values())
        yield 0.7
        self._do("gpu.stop")
        yield from self._rest()

    def do_kill(self) -> Act:
        """One of the processes at work is killed."""
        from tests.vitals import children

        for pid in children():
            if self._random.random() < 0.5:
                os.kill(pid, self._random.choice((signal.SIGKILL, signal.SIGTERM)))
        self.window.view.set_values(self._values())
        yield 0.1
        self._do("gpu.once")
        yield from self._rest()

    def _tidy(self) -> Act:
        """As it was at the beginning, so that laps can be compared."""
        window = self.window
        window.view.become(window.view.now.compare(False))
        window.lecture.document.give_up()
        self._do("lecture.close")
        window.resize(1440, 860)
        window.message.hide()
        yield from self._open("coalescing")
        window.view.set(arch="sm_90")
        window.view.set_values(window.view.now.lesson.defaults())
        yield from self._rest()
        yield 1.0

    # What came of it.

    def _lap(self) -> None:
        from gpuviz.story import perform
        from tests.vitals import kinds, resident, vitals

        with self.heart.unwatched():
            raw = resident()
            with perform._LOCK:  # runs that are kept to be quick, 256 MiB and the newest
                perform._KEPT.clear()
            now = vitals()
            self._kinds.append(kinds())
        self._laps.append(now)
        minutes = (time.monotonic() - self._end) / 60
        print(f"{minutes:7.1f} min  {now}  (before, {raw:.0f} MB)", flush=True)
        if self._log is not None:
            with self._log.open("a") as log:
                log.write(f"{minutes:.2f},{raw:.0f},{str(now)!r}\n")

    def _verdict(self) -> int:
        from tests.vitals import LATE, Vitals

        laps = self._laps[max(1, int(len(self._laps) * SETTLE)) :]
        third = max(1, len(laps) // 3)
        trends = []
        for quantity in fields(Vitals):
            before, after = (
                statistics.median(getattr(lap, quantity.name) for lap in part)
                for part in (laps[:third] or self._laps, laps[-third:])
            )
            most = HANDLES.get(quantity.name, MEMORY)
            trends.append(Trend(quantity.name, before, after, most))
        print(f"\n{sum(self._done.values())} acts: {dict(self._done.most_common())}")
        for name, count in Counter(self._late).most_common():
            print(f"not done in {PATIENCE:g} s: {name}, {count} times")
        heart = self.heart
        print(
            f"event loop: {heart.beats} beats, {len(heart.stalls)} later than {LATE:g} s, "
            f"the latest {heart.worst:.2f} s"
        )
        for place, count in heart.places.most_common(25) if self._places else ():
            print(f"    {count:5d} times  {place}")
        print(f"\n{'':10s}{'before':>10s}{'after':>10s}   of {len(self._laps)} laps")
        print("\n".join(map(str, trends)))
        first = self._kinds[max(1, int(len(self._kinds) * SETTLE)) - 1]
        if more := (self._kinds[-1] - first).most_common(12):
            print("more widgets: " + ", ".join(f"{name} {count}" for name, count in more))
        for said, count in self._qt.most_common():
            print(f"Qt, {count} times: {said}")
        for said, count in Counter(self._wrong).most_common():
            print(f"not caught, {count} times: {said}")
        flat = all(trend.flat for trend in trends)
        print("flat" if flat else "not flat", "and" if not self._wrong else "but", end=" ")
        print("nothing went wrong" if not self._wrong else f"{len(self._wrong)} errors uncaught")
        return 0 if flat and not self._wrong else 1


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
