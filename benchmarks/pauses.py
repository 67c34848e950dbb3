"""How long the window does not answer: the longest event of all that a user does, and where it was.

    python -m benchmarks.pauses [--gpu none|made-up|real] [--lesson ID ...] [--most MS]

Opens every lesson, drags each of its sliders, compares A with B, types in the editor, exports, goes
through a lecture. A timer ticks every 10 ms; what an event takes is how late it is. Printed are
the longest event of each act as it is done, of each kind, and those above the bar: 50 ms, 100 ms in
the first second of the start; the exit status is 1 when there are any. On a machine that does other
work repeat it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soak import FOLDERS, KERNELS, Act, Soak

FIRST = 1.0  # second, in which an event may take twice as long
VALUES = 6  # of a slider, at most


class Pauses(Soak):
    """A user who does everything once, in order."""

    late = 0.02

    def __init__(self, home: Path, given: argparse.Namespace) -> None:
        soak = argparse.Namespace(
            minutes=1e6, seed=1, log=None, only=[], places=bool(os.environ.get("PLACES"))
        )
        super().__init__(home, soak)
        self._gpu, self._only_lessons, self._bar = given.gpu, given.lesson, given.most / 1000
        self._noted: list[tuple[str, float, float, str]] = []
        self._counted, self._begun = 0, time.monotonic()

    def sources(self) -> Any:
        """No GPU, one that is made up, or the machine's."""
        from gpuviz import app
        from gpuviz.story.sources import Sources

        if self._gpu == "made-up":
            return super().sources()
        return Sources(app._gpu) if self._gpu == "real" else Sources()

    def _acts(self) -> Act:
        window, self._begun = self.window, time.monotonic()
        self._now = "start"
        yield lambda: window.player.story is not None
        yield 1.0
        yield from self._rest()
        saving, exporting = window.lecture.saving, window.files.exporting
        saving.ask_unsaved = lambda: "discard"
        exporting.ask_where = lambda parent, question: self._files / f"e{question.suffixes[0]}"
        self._any = True
        self._note_stalls()
        for lesson in self._only_lessons or self._lessons:
            yield from self._named(f"open {lesson}", self._open(lesson))
            yield from self._named(f"play {lesson}", self._played())
            for one in window.view.now.lesson.parameters:
                yield from self._named(f"drag {lesson}.{one.id}", self._dragged(one))
            yield from self._named(f"compare {lesson}", self._compared())
        for name, act in (
            ("type", self._typed),
            ("export", self._exported),
            ("present", self.do_present),
            ("look", self.do_look),
        ):
            yield from self._named(name, act())
        window.close()
        yield 0.3

    def _named(self, name: str, act: Act) -> Act:
        yield from self._act(name, act)
        self._note_stalls()

    def _note_stalls(self) -> None:
        fresh = self.heart.when[self._counted :]
        self._noted += ((self._now, end - self._begun, stall, place) for end, stall, place in fresh)
        self._counted = len(self.heart.when)
        if fresh:
            end, stall, place = max(fresh, key=lambda one: one[1])
            print(f"{1000 * stall:5.0f} ms  {self._now}  {place}", flush=True)

    def _played(self) -> Act:
        self._do("play.toggle")
        yield 0.6
        self._do("play.toggle")
        yield 0.05

    def _dragged(self, parameter: Any) -> Act:
        window = self.window
        before = dict(window.view.now.values)
        if parameter.choices:
            values = [one.value for one in parameter.choices]
        elif isinstance(parameter.default, bool):
            values = [not parameter.default, parameter.default]
        else:
            low = int(parameter.default)
            values = list(range(low, min(low + VALUES, parameter.maximum + 1)))
        for value in values[:VALUES]:
            window.view.set_values({parameter.id: value})
            yield 0.08
        yield from self._rest()
        window.view.set_values({parameter.id: before[parameter.id]})
        yield from self._rest()

    def _compared(self) -> Act:
        self._do("compare.toggle")
        yield from self._rest()
        self._do("compare.swap")
        yield from self._rest()
        self._do("compare.toggle")
        yield from self._rest()

    def _typed(self) -> Act:
        """A kernel of one's own, changed letter by letter."""
        window = self.window
        file = self._files / "saxpy.cu"
        file.write_text(KERNELS["saxpy.cu"])
        window.kernel_opener.open(file, window.view.now.arch)
        yield lambda: window.kernel_opener.dialog is not None
        if (dialog := window.kernel_opener.dialog) is not None:
            dialog.accept()
        yield 0.3
        yield from self._rest()
        yield 0.2
        from PySide6.QtTest import QTest

        editor = window.source.editor
        for letter in " // a comment":
            QTest.keyClicks(editor, letter)
            yield 0.06
        yield from self._rest()

    def _exported(self) -> Act:
        for act in (self.do_still, self.do_film, self.do_page, self.do_data):
            yield from act()

    def _verdict(self) -> int:
        kinds: dict[str, float] = defaultdict(float)
        for name, _, stall, _ in self._noted:
            kinds[name.partition(" ")[0]] = max(kinds[name.partition(" ")[0]], stall)
        print(f"{self.heart.beats} ticks, {time.monotonic() - self._begun:.0f} s; longest events:")
        for kind, stall in kinds.items():
            print(f"  {kind:10s}{1000 * stall:7.0f} ms")
        above = [one for one in self._noted if one[2] > self._bar * (1 + (one[1] < FIRST))]
        print(f"{len(above)} events above {1000 * self._bar:.0f} ms")
        for name, at, stall, place in sorted(above, key=lambda one: -one[2])[:60]:
            print(f"  {1000 * stall:5.0f} ms  {name}, at {at:.1f} s  {place}")
        for said in self._wrong:
            print(f"went wrong: {said}")
        return int(bool(above or self._wrong))


def main() -> int:
    """Look; 1 where something takes too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", choices=("none", "made-up", "real"), default="none")
    parser.add_argument("--lesson", nargs="*", default=[])
    parser.add_argument("--most", type=float, default=50.0, metavar="MS")
    given = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="gpuviz-pauses-") as home:
        for name in FOLDERS:
            os.environ[f"XDG_{name}_HOME"] = home
        return Pauses(Path(home), given).run()


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
