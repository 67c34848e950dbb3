"""A lecture of twenty minutes as its speaker gives it: by keys, clicks and drags alone."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuviz.draw.marks import Texts
from gpuviz.qt.presenter.presentation import Presentation
from tests.vitals import workers

K = Qt.Key
WAIT = 60_000  # milliseconds


@dataclass
class Giving:
    """The speaker: `look` is shown the screen at moments with a name, `wait` passes seconds."""

    shown: Presentation
    bot: QtBot
    wait: Callable[[float], None]
    look: Callable[[str], None] = lambda name: None
    visited: list[int] = field(default_factory=list)

    def whole(self, changed: int, drawn: int, enlarged: int, lost: int) -> None:
        """From the first slide to the end; at those slides something happens."""
        conductor = self.shown.conductor
        while not conductor.blank:
            self.arrive()
            here = conductor.slide
            if here not in self.visited:
                self.visited.append(here)
                self.wait(60)
            if conductor.cue.asks:
                self.count_hands(7, 12, 3)
            if here == lost and not conductor.place[1]:
                self.lose_the_gpu()
            self.press(K.Key_PageDown)
            if conductor.player.state.playing:
                self.press(K.Key_PageDown)  # to the end of what is played
            if conductor.place == (changed, 1):
                self.change_a_parameter()
            if conductor.place == (drawn, 1):
                self.draw()
                self.repeat(changed, drawn)
            if conductor.place == (enlarged, 1):
                self.enlarge()
        self.press(K.Key_PageDown)

    def press(self, *keys: Qt.Key) -> None:
        """Keys of the screen, one after another."""
        for key in keys:
            QTest.keyClick(self.shown.screen, key)

    def drag(self, *points: tuple[float, float]) -> None:
        """Across the screen, in shares of it."""
        screen: QWidget = self.shown.screen
        places = [QPoint(round(x * screen.width()), round(y * screen.height())) for x, y in points]
        QTest.mousePress(screen, Qt.MouseButton.LeftButton, pos=places[0])
        for place in places[1:]:
            QTest.mouseMove(screen, place)
        QTest.mouseRelease(screen, Qt.MouseButton.LeftButton, pos=places[-1])

    def arrive(self) -> None:
        """The slide has been performed."""
        conductor = self.shown.conductor
        self.bot.waitUntil(
            lambda: conductor.planned.view is None or conductor.shown.story is not None,
            timeout=WAIT,
        )
        assert not conductor.shown.trouble

    def texts(self) -> str:
        """What is written on the screen."""
        self.shown.screen.grab()
        frame = self.shown.screen.frame
        assert frame is not None and not self.shown.screen.trouble
        found = (m.strings for m in frame.marks if isinstance(m, Texts))
        return " ".join(s for strings in found for s in strings)

    def count_hands(self, *counts: int) -> None:
        """A number for each choice."""
        question = self.shown.conductor.shown.slide.question
        assert question is not None and "✓" not in self.texts()
        self.press(K.Key_H)
        for number in range(len(question.choices)):
            count = counts[number % len(counts)]
            self.press(*(K(K.Key_0 + int(digit)) for digit in str(count)), K.Key_Return)
        hands = self.shown.conductor.hands
        assert hands is not None and hands.total and hands.now < 0
        self.look("hands")

    def change_a_parameter(self) -> None:
        """“And stride 3?”: shown, asked anew, answered, and back to the plan."""
        conductor, before = self.shown.conductor, self.texts()
        place = conductor.place
        assert "✓" in before
        self.press(K.Key_P, K.Key_Up)
        self.bot.waitUntil(lambda: conductor.varied is not None, timeout=WAIT)
        assert self.texts() != before
        self.look("changed")
        self.press(K.Key_A)
        assert conductor.cue.asks and "✓" not in self.texts()
        self.look("asked anew")
        self.press(K.Key_PageDown, K.Key_PageDown)
        assert "✓" in self.texts()
        self.press(K.Key_Escape)
        assert conductor.place == place and conductor.variation is None
        assert "✓" in self.texts()

    def draw(self) -> None:
        """A ring and a line."""
        self.press(K.Key_D)
        self.drag((0.3, 0.3), (0.4, 0.25), (0.5, 0.3), (0.4, 0.35), (0.3, 0.3))
        self.press(K.Key_T)
        self.drag((0.1, 0.6), (0.4, 0.6))
        self.press(K.Key_Escape)
        ink = self.shown.board.ink
        assert ink is not None and len(ink.strokes) == 2
        self.look("ink")

    def repeat(self, slide: int, then: int) -> None:
        """“Once more …”: another slide by its number, and back, where the ink still is."""
        conductor, ink = self.shown.conductor, self.shown.board.ink
        self.go_to(slide)
        assert conductor.slide == slide and conductor.variation is None
        assert self.shown.board.ink is None
        self.look("repeated")
        self.go_to(then)
        self.arrive()
        assert conductor.slide == then and self.shown.board.ink == ink
        self.press(K.Key_PageDown, K.Key_PageDown)

    def go_to(self, slide: int) -> None:
        """By its number."""
        digits = (K(K.Key_0 + int(digit)) for digit in str(slide + 1))
        self.press(*digits, K.Key_Return)

    def enlarge(self) -> None:
        """A part of the picture, and all of it again."""
        self.press(K.Key_X)
        self.drag((0.1, 0.4), (0.3, 0.6), (0.6, 0.9))
        seen = self.shown.screen.seen()
        assert seen is not None and seen.onto.m11() > 1.5
        self.look("enlarged")
        self.press(K.Key_Escape)
        assert self.shown.board.part is None

    def lose_the_gpu(self) -> None:
        """Its process is killed while it measures; the lecture goes on, the speaker is told."""
        speaker = self.shown.speaker
        self.bot.waitUntil(lambda: "measured on" in speaker.gpu.text(), timeout=WAIT)

        turns = count()

        def gone() -> bool:
            if next(turns) % 100 == 0:  # what is asked anew at once would never hear of the loss
                self.press(K.Key_M)
            for pid in workers():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return "lost" in speaker.gpu.text()

        self.bot.waitUntil(gone, timeout=WAIT)
        assert self.texts()
        self.look("GPU lost")
