"""The time line: one segment a step, coloured by kind; done, now, to come; scrubbed by dragging.

Of more steps than have room beside each other a strip shows all, and below it a page shows some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
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

from gpuviz.base.keeping import kept_with_first
from gpuviz.qt.controls.controls import Ring, plain_tip
from gpuviz.qt.look.theme import qcolor
from gpuviz.qt.playing import long_strip
from gpuviz.qt.playing.long_strip import is_long, page_of
from gpuviz.story.script import LongSteps
from gpuviz.words.language import grouped, tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.base.arrays import F64, Rgba
    from gpuviz.qt.look.theme import Look, Theme
    from gpuviz.qt.playing.player import Player
    from gpuviz.story.lesson import Story
    from gpuviz.story.script import Step

GAP = 2.0
ROOM = 30.0  # narrower groups of steps get no caption, unless it is their turn
BAR = (8.0, 26.0)  # top and height of the segments
EDGE = 6.0  # space left and right for the outline of the outermost segments
_NUDGE, _LEAP = 0.01, 0.1  # of the story, by a key
_COLOR_OF = {
    "load": "load",
    "store": "store",
    "atomic": "compute",
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


_NEAR = 6.0  # pixels beside a stop that are still meant


class Timeline(QWidget):
    """Segments of the story; a click or a drag goes to that time.

    While a lecture's stops are set (`mark`) they are shown, a click sets or removes one, and what
    plays goes on.
    """

    # A time that was clicked, and how many seconds beside it are still meant.
    marked = Signal(float, float)

    def __init__(self, player: Player, theme: Theme) -> None:
        super().__init__()
        self._player = player
        self._theme = theme
        self._ring = Ring()
        self._strips_key: tuple[object, ...] = ()
        self._kept = (QPixmap(), QPixmap())
        self._hits: F64 = np.zeros(0)
        self._held: range | None = None  # the page while it is scrubbed
        self._grabbed = 0.0
        self._hushed = False
        self._stops: tuple[float, ...] | None = None
        self.setAccessibleName(tr("Timeline"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        for signal in (player.story_changed, player.t_changed):
            signal.connect(self._show)
        theme.changed.connect(self.updateGeometry)

    def mark(self, stops: tuple[float, ...] | None) -> None:
        """Show these stops, and let clicks set others; None: no more."""
        self._stops = stops
        self.update()

    def hush(self, hushed: bool) -> None:
        """Keep back what the steps say while the picture asks."""
        self._hushed = hushed
        self._strips_key = ()
        self._show()

    def sizeHint(self) -> QSize:
        """Segments, and one line of captions."""
        return QSize(400, round(BAR[0] + self._bar() + self._theme.look.px(26)))

    def minimumSizeHint(self) -> QSize:
        """As high as wished, narrow if it must be."""
        return QSize(60, self.sizeHint().height())

    def rects(self) -> list[QRectF]:
        """Where each step is drawn; of many those of the page."""
        story = self._player.story
        if story is None:
            return []
        some = [story.steps[i] for i in self._shown(story)]
        rects = segment_rects(some, self.width(), self._bar())
        if not is_long(story.steps):
            return rects
        low = long_strip.parts(self._whole())[1]
        return [QRectF(r.left(), low.top(), r.width(), low.height()) for r in rects]

    def show_hits(self, moments: F64) -> None:
        """Mark moments that have been looked for."""
        self._hits = moments
        self.update()

    def _shown(self, story: Story) -> range:
        """The steps that have a segment."""
        if is_long(story.steps):
            return page_of(story.steps, story.step_at(self._player.t))
        return range(len(story.steps))

    def _whole(self) -> QRectF:
        """The room of all segments."""
        return QRectF(EDGE, BAR[0], self.width() - 2 * EDGE, self._bar())

    def _time_at(self, x: float, y: float) -> float:
        """Which time lies at a point: on the strip of all steps, or on the page."""
        story = self._player.story
        if story is None or not is_long(story.steps):
            return self.t_of(x)
        if y < long_strip.parts(self._whole())[1].top():
            return self.t_of(x)
        page = self._held or self._shown(story)
        start, end = story.steps[page[0]].start, story.steps[page[-1]].end
        share = (x - EDGE) / max(self.width() - 2 * EDGE, 1.0)
        return start + min(max(share, 0.0), 1.0) * (end - start)

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
            if self._stops is not None:
                at, state = (
                    self._time_at(event.position().x(), event.position().y()),
                    self._player.state,
                )
                near = _NEAR * (state.end - state.start) / max(self.width() - 2 * EDGE, 1.0)
                self.marked.emit(min(max(at, state.start), state.end), near)
                return
            story, self._grabbed = self._player.story, event.position().y()
            self._held = self._shown(story) if story is not None else None
            self._player.pause()
            self._player.seek(self._time_at(event.position().x(), self._grabbed))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub, on the page or the strip that was grabbed."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._stops is None:
            self._player.seek(self._time_at(event.position().x(), self._grabbed))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go of the page."""
        self._held = None

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
            said = self.tip(event.pos().x(), event.pos().y())
            QToolTip.showText(event.globalPos(), plain_tip(said), self)
            return True
        return super().event(event)

    def tip(self, x: float, y: float = 0.0) -> str:
        """The step at a place, in words."""
        story = self._player.story
        if not story or not story.steps or self._hushed:
            return ""
        index = story.step_at(self._time_at(x, y))
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
        now, hand = story.step_at(self._player.t), self.x_of(self._player.t)
        for done, part in ((True, (0.0, hand)), (False, (hand, self.width() - hand))):
            painter.save()
            painter.setClipRect(QRectF(part[0], 0, part[1], self.height()))
            painter.drawPixmap(0, 0, self._strips(story)[done])
            painter.restore()
        if is_long(story.steps):
            self._paint_page(painter, story, now)
        else:
            rects = self.rects()
            if not self._hushed:
                self._captions(painter, story, rects, now)
            self._outline(painter, rects[now])
            self._hand(painter, hand)
        for stop in self._stops or ():
            self._stop(painter, self.x_of(stop))
        self._ring.paint(painter, self, self._theme)

    def _stop(self, painter: QPainter, x: float) -> None:
        """A flag where a slide waits."""
        size, top = self._theme.look.px(7), BAR[0]
        painter.setPen(QPen(self._theme.look.color("ground"), 1))
        painter.setBrush(self._theme.look.color("accent"))
        corners = (x - size, top - size * 0.8), (x + size, top - size * 0.8), (x, top + size * 0.6)
        painter.drawPolygon([QPointF(*corner) for corner in corners])
        painter.setPen(QPen(self._theme.look.color("accent"), 2))
        painter.drawLine(QPointF(x, top), QPointF(x, top + self._bar()))

    def _paint_page(self, painter: QPainter, story: Story, now: int) -> None:
        """Below the strip of all steps the page with its segments; over it what was found."""
        look, steps = self._theme.look, story.steps
        page, rects, parts = self._shown(story), self.rects(), long_strip.parts(self._whole())
        painter.setFont(look.font(12))
        for number, rect in zip(page, rects, strict=True):
            self._segment(painter, steps[number], rect, number < now)
        ends = self.x_of(steps[page[0]].start), self.x_of(steps[page[-1]].end)
        long_strip.bracket(painter, look.color("outline"), parts, ends)
        hits = [self.x_of(t) for t in self._hits.tolist()[:: max(1, len(self._hits) // 4096)]]
        long_strip.ticks(painter, look.color("bad"), parts[0], hits)
        if not self._hushed:
            self._caption_of(painter, story, rects[now - page[0]], now)
        self._outline(painter, rects[now - page[0]])
        long_strip.ticks(painter, look.color("outline"), parts[0], [self.x_of(self._player.t)])

    def _caption_of(self, painter: QPainter, story: Story, rect: QRectF, now: int) -> None:
        """Below the page: which of all steps is under way, and what it is."""
        look = self._theme.look
        measure = QFontMetricsF(painter.font())
        count = tr("{number} of {count}", number=grouped(now + 1), count=grouped(len(story.steps)))
        said = f"{count} · {caption(story.steps[now])}"
        wide = min(measure.horizontalAdvance(said) + 12, self.width() - 2 * EDGE)
        left = max(EDGE, min(rect.left(), self.width() - EDGE - wide))
        room = QRectF(left + 2, rect.bottom() + look.px(5), wide, look.px(17))
        painter.setPen(look.color("ink"))
        words = measure.elidedText(said, Qt.TextElideMode.ElideRight, wide)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)

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
        if isinstance(story.steps, LongSteps) and is_long(story.steps):
            top, width = long_strip.parts(self._whole())[0], round(self.width() - 2 * EDGE)
            painter.drawImage(top, long_strip.strip(story.steps, self._colors(done), max(width, 1)))
        else:
            for step, rect in zip(story.steps, self.rects(), strict=True):
                self._segment(painter, step, rect, done)
        painter.end()
        return made

    def _colors(self, done: bool) -> dict[str, Rgba]:
        """Of each kind of step."""
        return {kind: _rgba(self._theme.look, kind, done) for kind in _COLOR_OF}

    def _segment(self, painter: QPainter, step: Step, rect: QRectF, done: bool) -> None:
        """One step, with its label where there is room."""
        look = self._theme.look
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_color(look, step, done))
        radius = min(4.0, rect.width() / 3)
        painter.drawRoundedRect(rect, radius, radius)
        if self._hushed:
            return
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


@kept_with_first(4)
def _runs(story: Story) -> tuple[tuple[int, int, str], ...]:
    return tuple(runs_of(story.steps))


def _color(look: Look, step: Step, done: bool) -> QColor:
    """A step's colour when done, or while it is to come."""
    return qcolor(_rgba(look, step.kind, done))


def _rgba(look: Look, kind: str, done: bool) -> Rgba:
    color: Rgba = getattr(look.palette, _COLOR_OF[kind])
    return look.palette.soft(color, 0.42 if done else 0.78)
