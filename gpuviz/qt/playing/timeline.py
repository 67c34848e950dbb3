"""The time line: one segment a step, coloured by kind; done, now, to come; scrubbed by dragging."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuviz.language import tr
from gpuviz.qt.controls.controls import Ring, plain_tip
from gpuviz.qt.look.style import qcolor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.panels.script import Step
    from gpuviz.qt.look.theme import Look, Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.scenes.base import Story

GAP = 2.0
ROOM = 30.0  # narrower groups of steps get no caption, unless it is their turn
BAR = (8.0, 26.0)  # top and height of the segments
EDGE = 6.0  # space left and right for the outline of the outermost segments
_NUDGE, _LEAP = 0.01, 0.1  # of the story, by a key
_COLOR_OF = {
    "load": "load",
    "store": "store",
    "barrier": "barrier",
    "compute": "compute",
    "shared": "shared",
    "intro": "faint",
    "result": "accent",
}


def segment_rects(steps: Sequence[Step], width: float, height: float) -> list[QRectF]:
    """Where each step lies on a time line of this size; widths are in proportion to time."""
    start, end = steps[0].start, steps[-1].end
    scale = (width - 2 * EDGE) / max(end - start, 1e-9)
    return [
        QRectF(EDGE + (s.start - start) * scale, BAR[0], _width((s.end - s.start) * scale), height)
        for s in steps
    ]


def _width(whole: float) -> float:
    """Width of a segment without the gap after it; narrow ones have a narrow gap or none."""
    return max(whole - min(GAP, whole / 5), 0.5)


def runs_of(steps: Sequence[Step]) -> list[tuple[int, int, str]]:
    """Neighbouring steps that say the same: first and last index, and what they say."""
    runs: list[tuple[int, int, str]] = []
    for i, step in enumerate(steps):
        said = caption(step)
        if runs and runs[-1][2] == said:
            runs[-1] = (runs[-1][0], i, said)
        else:
            runs.append((i, i, said))
    return runs


def caption(step: Step) -> str:
    """What is written below a step: its line of the source, and its detail."""
    said = step.detail or step.label
    return tr("line {line} · {said}", line=step.line, said=said) if step.line else said


class Timeline(QWidget):
    """Segments of the story; a click or a drag goes to that time."""

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player = player
        self._theme = theme
        self._ring = Ring()
        self._strips_key: tuple[object, ...] = ()
        self._kept = (QPixmap(), QPixmap())
        self.setAccessibleName(tr("Timeline"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        for signal in (player.story_changed, player.t_changed):
            signal.connect(self._show)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Segments, and one line of captions."""
        return QSize(400, round(BAR[0] + self._bar() + self._theme.look.px(26)))

    def minimumSizeHint(self) -> QSize:
        """As high as wished, narrow if it must be."""
        return QSize(60, self.sizeHint().height())

    def rects(self) -> list[QRectF]:
        """Where each step is drawn."""
        story = self._player.story
        return segment_rects(story.steps, self.width(), self._bar()) if story else []

    def x_of(self, t: float) -> float:
        """Where a time lies."""
        state = self._player.state
        share = (t - state.start) / max(state.end - state.start, 1e-9)
        return EDGE + share * (self.width() - 2 * EDGE)

    def t_of(self, x: float) -> float:
        """Which time lies there."""
        state = self._player.state
        share = (x - EDGE) / max(self.width() - 2 * EDGE, 1.0)
        return state.start + share * (state.end - state.start)

    def _bar(self) -> float:
        return float(self._theme.look.px(BAR[1]))

    def _show(self, *_: object) -> None:
        story = self._player.story
        if story and story.steps:
            step = story.steps[story.step_at(self._player.t)]
            self.setAccessibleDescription(f"{step.label}. {caption(step)}")
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it came by the keyboard."""
        self._ring.enter(event.reason())
        super().focusInEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there; the story waits while it is held."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._player.pause()
            self._player.seek(self.t_of(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._player.seek(self.t_of(event.position().x()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scrub by keys: the window's arrow keys go from step to step."""
        shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ways = {Qt.Key.Key_PageUp: -_LEAP, Qt.Key.Key_PageDown: _LEAP}
        if shifted:
            ways = {Qt.Key.Key_Left: -_NUDGE, Qt.Key.Key_Right: _NUDGE}
        if (way := ways.get(Qt.Key(event.key()))) is None:
            super().keyPressEvent(event)
            return
        state = self._player.state
        self._player.pause()
        self._player.seek(state.t + way * (state.end - state.start))

    def event(self, event: QEvent) -> bool:
        """Hovering a segment says what happens there."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tip(self.tip(event.pos().x())), self)
            return True
        return super().event(event)

    def tip(self, x: float) -> str:
        """The step at a place, in words."""
        story = self._player.story
        if not story or not story.steps:
            return ""
        index = story.step_at(self.t_of(x))
        step = story.steps[index]
        said = tr(
            "step {number} of {count}: {label}",
            number=index + 1,
            count=len(story.steps),
            label=step.label,
        )
        return f"{said}\n{caption(step)}"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Segments, captions, the current step's outline, the hand."""
        story = self._player.story
        if story is None or not story.steps:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rects = self.rects()
        now = story.step_at(self._player.t)
        hand = self.x_of(self._player.t)
        for done, part in ((True, (0.0, hand)), (False, (hand, self.width() - hand))):
            painter.save()
            painter.setClipRect(QRectF(part[0], 0, part[1], self.height()))
            painter.drawPixmap(0, 0, self._strips(story)[done])
            painter.restore()
        self._captions(painter, story, rects, now)
        self._outline(painter, rects[now])
        self._hand(painter, hand)
        self._ring.paint(painter, self, self._theme)

    def _strips(self, story: Story) -> tuple[QPixmap, QPixmap]:
        """All segments as they look while to come, and done; kept until something changes."""
        key = (story, self._theme.look, self.size(), self.devicePixelRatioF())
        if key != self._strips_key:
            self._strips_key = key
            self._kept = (self._strip(story, False), self._strip(story, True))
        return self._kept

    def _strip(self, story: Story, done: bool) -> QPixmap:
        ratio = self.devicePixelRatioF()
        made = QPixmap(self.size() * ratio)
        made.setDevicePixelRatio(ratio)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._theme.look.font(12))
        for step, rect in zip(story.steps, self.rects(), strict=True):
            self._segment(painter, step, rect, done)
        painter.end()
        return made

    def _segment(self, painter: QPainter, step: Step, rect: QRectF, done: bool) -> None:
        """One step, with its label where there is room."""
        look = self._theme.look
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_color(look, step, done))
        radius = min(4.0, rect.width() / 3)
        painter.drawRoundedRect(rect, radius, radius)
        if painter.fontMetrics().horizontalAdvance(step.label) + 8 <= rect.width():
            painter.setPen(look.color("ink" if done else "muted"))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, step.label)

    def _captions(self, painter: QPainter, story: Story, rects: list[QRectF], now: int) -> None:
        """What groups of equal steps say; the current one first, others where there is room."""
        look = self._theme.look
        painter.setFont(look.font(12))
        measure = QFontMetricsF(painter.font())
        runs = sorted(_runs(story), key=lambda r: not r[0] <= now <= r[1])
        taken: list[QRectF] = []
        for first, last, said in runs:
            current = first <= now <= last
            span = rects[last].right() - rects[first].left()
            if not current and span < ROOM:
                continue
            room = QRectF(
                rects[first].left(),
                rects[first].bottom() + look.px(7),
                min(measure.horizontalAdvance(said) + 12, self.width() - 2 * EDGE),
                look.px(17),
            )
            room.moveLeft(max(EDGE, min(room.left(), self.width() - EDGE - room.width())))
            fits = current or room.width() <= span + 12
            if fits and not any(room.intersects(t) for t in taken):
                taken.append(room)
                painter.setPen(look.color("ink" if current else "muted"))
                inner = room.adjusted(2, 0, 0, 0)
                words = measure.elidedText(said, Qt.TextElideMode.ElideRight, inner.width())
                painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, words)

    def _outline(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(QPen(self._theme.look.color("outline"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if rect.width() < 4:
            rect = QRectF(rect.center().x() - 2, rect.top(), 4, rect.height())
        radius = min(4.0, rect.width() / 3)
        painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), radius, radius)

    def _hand(self, painter: QPainter, x: float) -> None:
        painter.setPen(QPen(self._theme.look.color("outline"), 2))
        painter.drawLine(QPointF(x, BAR[0] - 6), QPointF(x, BAR[0] + self._bar() + 6))


@lru_cache(maxsize=4)
def _runs(story: Story) -> tuple[tuple[int, int, str], ...]:
    return tuple(runs_of(story.steps))


def _color(look: Look, step: Step, done: bool) -> QColor:
    """A step's colour when done, or while it is to come."""
    palette = look.palette
    color = getattr(palette, _COLOR_OF[step.kind])
    return qcolor(palette.soft(color, 0.42 if done else 0.78))
