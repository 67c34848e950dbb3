"""What lies over a picture: the speaker's tool, the ink of each slide, a part that is enlarged."""

from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gpuviz.draw.layout import Rect
from gpuviz.draw.stage import Stage
from gpuviz.lectures.ink import NIBS, Ink, Nib, Stroke, simplified
from gpuviz.lectures.writing import Keep
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.words.language import tr

Tool = Literal["", "laser", "lens", "pen", "marker", "part"]
DRAGGED: tuple[Tool, ...] = (*NIBS, "part")  # with the button held
_LEAST = 0.03  # of the picture, that a part has to be wide and high


class Board(QObject):
    """Ink belongs to a slide, or to what it was changed to, and waits there to be seen again.

    Points are those of the stage that the picture is laid out on.
    """

    changed = Signal()  # something else lies over the picture
    said = Signal(str)  # something for the speaker alone

    def __init__(
        self, conductor: Conductor, keep: Keep | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._conductor, self._keep = conductor, keep
        self._past: dict[tuple[int, str], list[Ink]] = {}
        self._line: list[tuple[float, float]] = []
        self._on: Stage | None = None  # what the line under way is drawn on
        self._slide = -1
        self.tool: Tool = ""
        self.part: Rect | None = None  # what is enlarged, in shares of the picture
        conductor.moved.connect(self._follow)

    @property
    def ink(self) -> Ink | None:
        """The ink of what is shown, the line under way included."""
        ink, nib = self._ink, self._nib
        if nib is None or not self._line or self._on is None:
            return ink
        return (ink or Ink.on(self._on)).with_stroke(Stroke(nib, tuple(self._line)))

    @property
    def rubber(self) -> Rect | None:
        """The rectangle being dragged, in points of the stage."""
        if self.tool != "part" or len(self._line) < 2:
            return None
        (x, y), (u, v) = self._line[0], self._line[-1]
        return Rect(min(x, u), min(y, v), abs(u - x), abs(v - y))

    def set_tool(self, tool: Tool) -> None:
        """Take a tool; lay it down when it is in the hand already."""
        self.tool = "" if tool == self.tool else tool
        self._line = []
        self.changed.emit()

    def begin(self, x: float, y: float, stage: Stage) -> None:
        """The button goes down on a stage."""
        self._line, self._on = [(x, y)], stage
        self.changed.emit()

    def draw(self, x: float, y: float) -> None:
        """The mouse moves on; without the button nothing is drawn."""
        if self._line:
            self._line.append((x, y))
            self.changed.emit()

    def end(self) -> None:
        """The button goes up: the line is ink, the rectangle is enlarged."""
        ink, rubber, stage, nib = self._ink, self.rubber, self._on, self._nib
        line, self._line = self._line, []
        if not line or stage is None:
            return
        if nib is not None:
            stroke = Stroke(nib, simplified(line))
            self._put((ink or Ink.on(stage)).with_stroke(stroke))
        elif rubber is not None:
            self._enlarge(rubber, stage)
        self.changed.emit()

    def undo(self) -> None:
        """Take back what was done to the ink last; that which was kept loses its last line."""
        past, ink = self._past.get(self._conductor.shown_as, []), self._ink
        if past:
            past.pop()
        elif ink is not None and ink.strokes:
            self._put(ink.less)
        self.changed.emit()

    def clear(self) -> None:
        """Wipe the ink of what is shown; that can be undone."""
        ink = self._ink
        if ink is not None:
            self._put(replace(ink, strokes=()))
            self.changed.emit()

    def keep(self) -> None:
        """Write the ink down with the slide."""
        conductor, ink = self._conductor, self._ink
        if self._keep is None or conductor.variation is not None:
            self.said.emit(tr("ink is kept with slides of a lecture, as they were planned"))
            return
        self.said.emit(self._keep({conductor.slide: lambda slide: replace(slide, ink=ink)}))

    def all_of_it(self) -> None:
        """Nothing is enlarged any more."""
        self.part = None
        self.changed.emit()

    @property
    def _nib(self) -> Nib | None:
        return next((nib for nib in NIBS if nib == self.tool), None)

    @property
    def _ink(self) -> Ink | None:
        """What was drawn, or kept with the slide; None where there is none."""
        if past := self._past.get(self._conductor.shown_as):
            found: Ink | None = past[-1]
        else:
            varied = self._conductor.variation is not None
            found = None if varied else self._conductor.planned.ink
        return found if found is not None and found.strokes else None

    def _put(self, ink: Ink) -> None:
        self._past.setdefault(self._conductor.shown_as, []).append(ink)

    def _enlarge(self, rubber: Rect, stage: Stage) -> None:
        x, y = rubber.x / stage.width, rubber.y / stage.height
        part = Rect(x, y, rubber.width / stage.width, rubber.height / stage.height)
        self.tool = ""
        if min(part.width, part.height) >= _LEAST:
            self.part = part

    def _follow(self) -> None:
        """A part is one of a slide's picture."""
        self._line = []
        if self._conductor.slide != self._slide:
            self._slide, self.part = self._conductor.slide, None
