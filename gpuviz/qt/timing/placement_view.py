"""The tab that shows where the blocks of a launch ran: a row for each place on a multiprocessor."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.gpu.placement import PLACED_BLOCKS
from gpuviz.qt.controls.controls import ElidedLabel, keep_arrows, label, set_look
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.frame_canvas import FrameCanvas
from gpuviz.qt.painting.painter import paint
from gpuviz.qt.running.meter import Meter
from gpuviz.recordings.measurement import Measurement, Placement
from gpuviz.results.badges import BADGES
from gpuviz.results.placements import Chart, axis, between, chart_of, height_of, picture, summary
from gpuviz.run.run import Run
from gpuviz.story.exhibit import Exhibit
from gpuviz.words.language import grouped, tr

AXIS = 20  # height of the times above the rows


class Canvas(FrameCanvas):
    """Paints one chart; hovering a block names it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._shown: tuple[Chart, Run] | None = None
        self._room = 0
        self.setAccessibleName(tr("Where blocks ran"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        keep_arrows(self)

    def show_chart(self, chart: Chart | None, run: Run | None) -> None:
        """Show a chart of a run, or nothing."""
        self._shown = (chart, run) if chart is not None and run is not None else None
        self.fit(self._room)

    def fit(self, room: int) -> None:
        """As high as there is room, higher when the rows need it."""
        self._room = room
        if self._shown is not None:
            self.setFixedHeight(round(height_of(self._shown[0], room, self._theme.look.scale)))
        self.renew()

    def draw(self) -> Frame | None:
        """The blocks where they ran."""
        if self._shown is None:
            return None
        chart, run = self._shown
        return picture(chart, run.trace.launch, self.stage())

    def paintEvent(self, event: QPaintEvent) -> None:
        """What is to be seen of the picture, or the ground."""
        painter, part = QPainter(self), event.rect()
        painter.fillRect(part, self._theme.look.color("ground"))
        if (frame := self.frame) is not None:
            paint(painter, between(frame, part.top(), part.bottom() + 1))


class _Axis(QWidget):
    """The times above the rows; it stays when the rows are scrolled."""

    def __init__(self, canvas: Canvas, theme: Theme) -> None:
        super().__init__()
        self._canvas, self._theme = canvas, theme
        self.chart: Chart | None = None

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(100, self._theme.look.px(AXIS))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Times where the rows below have them."""
        frame, look = self._canvas.frame, self._theme.look
        if frame is not None and self.chart is not None:
            stage = Stage(float(self.width()), float(self.height()), look.palette, look.scale)
            paint(QPainter(self), axis(self.chart, frame, stage))


class PlacementView(QWidget):
    """Badge and summary, times, rows; or why there is nothing to show."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._showing: Exhibit | None = None
        self._found: dict[str, Measurement] = {}
        self._missing: dict[str, str] = {}
        self._role = ""
        self._charted: tuple[Placement, Chart] | None = None
        self.badge, self.said = label("", "badge"), ElidedLabel("quiet")
        self.reason = label("", "quiet", wraps=True)
        self.reason.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.focus = self.canvas = Canvas(theme)
        self._axis = _Axis(self.canvas, theme)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self.canvas)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()
        theme.changed.connect(self._fit)

    def follow(self, meter: Meter) -> None:
        """Show what a meter measures, or has from a recording."""
        meter.measured.connect(self._measure)
        meter.placed.connect(self._place)
        meter.missing.connect(self._miss)

    def show_runs(self, showing: Exhibit) -> None:
        """Other launches: nothing is known of their blocks yet, and none is in view."""
        self._showing, self._role = showing, ""
        self._found, self._missing = {}, {}

    def show_role(self, role: str) -> None:
        """Show one of the runs."""
        self._role = role
        self._show()

    def clear(self) -> None:
        """Nothing is shown."""
        self._showing = None
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More room makes higher rows."""
        super().resizeEvent(event)
        self._fit()

    def _lay_out(self) -> None:
        badge = self.badge, Qt.AlignmentFlag.AlignTop
        margins = 10, 2, 12, 0
        head = row_of(badge, (self.said, 1), (self.reason, 1), gap=8, margins=margins)
        column_of(head, self._axis, (self._scroll, 1), 0, on=self, gap=0)

    def _measure(self, key: str, measurement: Measurement) -> None:
        """Of live measurements the blocks follow on their own."""
        if measurement.source == "recorded":
            self._place(key, measurement)

    def _place(self, key: str, measurement: Measurement) -> None:
        self._found[key] = measurement
        if key == self._role:
            self._show()

    def _miss(self, key: str, why: str) -> None:
        if key not in self._found:
            self._missing[key] = why
        if key == self._role:
            self._show()

    def _show(self) -> None:
        """The chart of the run in view, or the reason why there is none."""
        run = self._showing.runs.get(self._role) if self._showing is not None else None
        found = self._found.get(self._role)
        placement = found.placement if found is not None else None
        chart = self._chart(placement) if placement is not None and len(placement.block) else None
        self.canvas.show_chart(chart, run)
        self._axis.chart = chart
        self._axis.update()
        self._say_badge("unavailable" if chart is None or found is None else found.kind)
        self.said.say(summary(chart, found) if chart is not None and found is not None else "")
        self.reason.setText(self._why(found) if chart is None else "")
        for widget, shown in (
            (self.badge, run is not None),
            (self.reason, chart is None),
            (self.said, chart is not None),
            (self._axis, chart is not None),
            (self._scroll, chart is not None),
        ):
            widget.setVisible(shown)
        self.canvas.setAccessibleDescription(self.said.toolTip() or self.said.text())
        self._fit()

    def _chart(self, placement: Placement) -> Chart:
        """The chart of a placement; it is told of the same one again and again."""
        if self._charted is None or self._charted[0] is not placement:
            self._charted = placement, chart_of(placement)
        return self._charted[1]

    def _why(self, found: Measurement | None) -> str:
        if self._showing is None:
            return ""
        run = self._showing.runs.get(self._role)
        if run is not None and (many := run.trace.launch.blocks) > PLACED_BLOCKS:
            return tr("{n} blocks are too many to show one by one where they ran", n=grouped(many))
        if found is not None:
            if found.source == "recorded":
                return tr("The recording does not hold where the blocks ran.")
            return " ".join(found.notes) or tr("Where the blocks ran was not measured.")
        return self._missing.get(self._role, "")

    def _say_badge(self, kind: str) -> None:
        self.badge.setText(tr(BADGES[kind]))
        set_look(self.badge, "kind", kind)

    def _fit(self) -> None:
        self.canvas.fit(self._scroll.viewport().height())
        self._axis.updateGeometry()
