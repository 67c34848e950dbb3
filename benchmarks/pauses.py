"""How long the window does not answer: the longest event of all that a user does, and where it was.

    python -m benchmarks.pauses [--gpu none|made-up|real] [--lesson ID ...] [--only KIND ...]
                                [--most MS] [--own]

Opens every lesson, drags each of its sliders, compares A with B, types in the editor, exports, goes
through a lecture. A timer ticks every 10 ms; what an event takes is how late it is. Printed are
the longest event of each act as it is done, of each kind, and those above the bar: 50 ms, 100 ms in
the first second of the start; the exit status is 1 when there are any. Beside each stands how much
of it the GUI thread computed itself: the rest it waited, on a machine that does other work mostly
for a processor, so that there `--own` counts only what it computed. An event within another (a
dialog's loop) counts by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.soak import KERNELS, Act, Soak, fresh_home
from tests.vitals import Stall

FIRST = 1.0  # second, in which an event may take twice as long
VALUES = 6  # of a slider, at most


class Pauses(Soak):
    """A user who does everything once, in order."""

    late = 0.02

    def __init__(self, home: Path, given: argparse.Namespace) -> None:
        soak = argparse.Namespace(minutes=1e6, seed=1, log=None, only=[], places=True)
        super().__init__(home, soak)
        self._gpu, self._only_lessons, self._bar = given.gpu, given.lesson, float(given.most) / 1000
        self._own: bool = given.own
        self._kinds_wanted: list[str] = given.only
        self._noted: list[tuple[str, Stall]] = []
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
            yield from self._asked_for(f"play {lesson}", self._played())
            for one in window.view.now.lesson.parameters:
                yield from self._asked_for(f"drag {lesson}.{one.id}", self._dragged(one))
            yield from self._asked_for(f"compare {lesson}", self._compared())
        for name, act in (
            ("type", self._typed),
            ("export", self._exported),
            ("present", self.do_present),
            ("look", self.do_look),
        ):
            yield from self._asked_for(name, act())
        window.close()
        yield 0.3

    def _asked_for(self, name: str, act: Act) -> Act:
        if self._wanted(name):
            yield from self._named(name, act)

    def _wanted(self, name: str) -> bool:
        return not self._kinds_wanted or name.partition(" ")[0] in self._kinds_wanted

    def _named(self, name: str, act: Act) -> Act:
        yield from self._act(name, act)
        self._note_stalls()

    def _note_stalls(self) -> None:
        fresh = self.heart.when[self._counted :]
        self._counted = len(self.heart.when)
        if not self._wanted(self._now):
            return
        self._noted += ((self._now, one) for one in fresh)
        if fresh:
            print(self._said(self._now, max(fresh, key=self._took)), flush=True)

    def _took(self, stall: Stall) -> float:
        return stall.work if self._own else stall.seconds

    def _said(self, name: str, one: Stall) -> str:
        at = one.end - self._begun
        took = f"{1000 * one.seconds:5.0f} ms ({1000 * one.work:3.0f} own)"
        return f"{took}  {name}, at {at:.1f} s  {one.place}"

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
        for name, one in self._noted:
            kind = name.partition(" ")[0]
            kinds[kind] = max(kinds[kind], self._took(one))
        print(f"{self.heart.beats} ticks, {time.monotonic() - self._begun:.0f} s; longest events:")
        for kind, longest in kinds.items():
            print(f"  {kind:10s}{1000 * longest:7.0f} ms")
        above = [(name, one) for name, one in self._noted if self._took(one) > self._most(one)]
        print(f"{len(above)} events above {1000 * self._bar:.0f} ms")
        for name, one in sorted(above, key=lambda pair: -self._took(pair[1]))[:60]:
            print(f"  {self._said(name, one)}")
        for said in self._wrong:
            print(f"went wrong: {said}")
        return int(bool(above or self._wrong))

    def _most(self, one: Stall) -> float:
        first = one.end - self._begun < FIRST
        return 2 * self._bar if first else self._bar


def main() -> int:
    """Look; 1 where something takes too long."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gpu", choices=("none", "made-up", "real"), default="none")
    parser.add_argument("--lesson", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND", help="start, open, drag")
    parser.add_argument("--most", type=float, default=50.0, metavar="MS")
    parser.add_argument("--own", action="store_true", help="what the GUI thread computed alone")
    given = parser.parse_args()
    with fresh_home() as home:
        return Pauses(home, given).run()


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
