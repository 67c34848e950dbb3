"""The timing panel: run the launches shown on a GPU, see how long they take, A against B."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gpuviz.base.arrays import F64
from gpuviz.gpu.gpu_state import State
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.controls import Ring, button, keep_space, label, set_look, show_words, timer
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.look.theme import Look, Theme, qcolor
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.timing.timing_plot import TimingPlot, color_name
from gpuviz.recordings.measurement import Measurement
from gpuviz.results.badges import BADGES, sizes_listed, sizes_said
from gpuviz.results.timings import Series, by_run, lines_of, series_of
from gpuviz.run.throughput import Work, work_of
from gpuviz.story.exhibit import Exhibit
from gpuviz.words.language import grouped, tr, trn

if TYPE_CHECKING:
    from gpuviz.views.lesson_view import Subject

COLUMNS = 2
REFRESH_MS = 100  # more often nobody can read


class TimingPanel(QWidget):
    """Follows the meter."""

    def __init__(self, meter: Meter, theme: Theme, actions: Actions) -> None:
        super().__init__()
        self._theme = theme
        self._showing: Exhibit | None = None
        self.series: dict[str, Series] = {}  # by the names of the runs
        self._work: dict[str, Work] = {}
        self._missing: dict[str, str] = {}
        self._modelled: dict[str, str] = {}
        self._ring = Ring()
        self.setAccessibleName(tr("Time per launch"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.badge = label("", "badge")
        self.once = button(tr("run"), tr("Run once on the GPU"), "chip", tr("Run once  (F9)"))
        tip = tr("Run on and on, beside the animation; again stops  (F10)")
        self.again = button(tr("live"), tr("Run continuously on the GPU"), "chip", tip)
        self.again.setCheckable(True)
        self.once.clicked.connect(lambda: actions["gpu.once"].trigger())
        self.again.clicked.connect(lambda: actions["gpu.continuous"].trigger())
        self.plot = TimingPlot(theme)
        self.shown, self.launch_size = label("", "quiet"), label("", "quiet", wraps=True)
        self.table = _Table(theme)
        self.trouble, self.note = label("", "trouble", wraps=True), label("", "quiet", wraps=True)
        self.refused = label("", "quiet", wraps=True)
        for words in (self.shown, self.launch_size, self.trouble, self.note, self.refused):
            words.hide()
        self.ask = button(tr("ask again"), tr("Ask again whether it may run on the GPU"), "link")
        self.ask.clicked.connect(meter.ask_again)
        self.ask.hide()
        keep_space(self.ask)
        self._lay_out()
        self._timer = timer(self, REFRESH_MS, self._refresh)
        self._soon = timer(self, 0, self._refresh)
        meter.measured.connect(self._measure)
        meter.missing.connect(self._miss)
        meter.timed.connect(self._time)
        meter.changed.connect(self._show_state)
        self._show_state(meter.state)
        self.hide()

    def show_runs(self, showing: Exhibit) -> None:
        """Other launches: nothing is known of their times yet."""
        self.series, self._missing, self._modelled = {}, {}, {}
        self.update_runs(showing)
        self.show()

    def update_runs(self, showing: Exhibit) -> None:
        """The same launches, of which more is known."""
        self._showing = showing
        self._work = {key: work_of(run) for key, run in showing.runs.items()}
        self.series = {
            key: replace(one, work=self._work.get(key)) for key, one in self.series.items()
        }
        self._soon.start()  # with what is known of them at once: an event of its own, not two

    def show_explained(self, key: str, subject: Subject) -> None:
        """Say what is predicted of a launch, beside what was measured."""
        from gpuviz.panels.limit_words import time_words

        name = self._showing.title(key) if self._showing is not None else ""
        said = tr("modelled: {time}", time=time_words(subject.explained))
        self._modelled[key] = f"{name} {said}".strip()
        self._refresh()

    def shut(self) -> None:
        """Before the window goes."""
        self._timer.stop()
        self._soon.stop()
        self.plot.shut()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus when it came by the keyboard."""
        self._ring.enter(event.reason())
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Only the focus: the times can be gone to where nothing can be run, too."""
        self._ring.paint(QPainter(self), self, self._theme)

    def _lay_out(self) -> None:
        for chip in (self.once, self.again):
            keep_space(chip)
        badge = self.badge, Qt.AlignmentFlag.AlignVCenter
        head = row_of(
            label(tr("Time per launch"), "heading"), badge, 1, self.once, self.again, gap=6
        )
        numbers = self.launch_size, self.plot, self.shown, self.table
        ask = self.ask, Qt.AlignmentFlag.AlignLeft
        column_of(head, *numbers, self.trouble, self.note, self.refused, ask, on=self, gap=6)

    def _measure(self, key: str, measurement: Measurement) -> None:
        size = self._showing.sizes.get(key, "") if self._showing is not None else ""
        made = series_of(measurement, self._work.get(key), size)
        if made is not None:
            self.series[key] = made
            self._missing.pop(key, None)
            self._timer.start()

    def _miss(self, key: str, why: str) -> None:
        if key not in self.series:
            self._missing[key] = why
            self._timer.start()

    def _time(self, key: str, microseconds: F64) -> None:
        if key in self.series:
            self.series[key] = self.series[key].more(microseconds)
            if not self._timer.isActive():
                self._timer.start()

    def _show_state(self, state: State) -> None:
        able = state.device is not None
        self.once.setVisible(able)
        self.again.setVisible(able)
        self.again.setChecked(state.activity == "continuous")
        self.once.setEnabled(state.activity != "once")
        show_words(self.trouble, state.trouble, "▲ ")
        show_words(self.refused, "\n".join(dict.fromkeys(code.refused for code in state.unagreed)))
        self.ask.setVisible(bool(state.unagreed))

    def _refresh(self) -> None:
        """Badge, plot, table and words for what is known now."""
        showing = self._showing
        self._timer.stop()
        self._soon.stop()
        if showing is None:
            return
        ordered = {key: self.series[key] for key in showing.timed if key in self.series}
        self.plot.show_series(ordered)
        titles = [showing.title(key) for key in ordered]
        self.table.show_series(titles, list(ordered.values()))
        self._say_badge(list(ordered.values()))
        notes = dict.fromkeys(n for s in ordered.values() for n in (s.overhead, *s.notes) if n)
        refused = self.refused.text().splitlines()
        missing = dict.fromkeys(why for why in self._missing.values() if why not in refused)
        captions = dict.fromkeys(s.caption for s in ordered.values())
        show_words(self.note, "\n".join([*captions, *notes, *missing, *self._modelled.values()]))
        sizes = {t: ordered[k].size for t, k in zip(titles, ordered, strict=True)}
        show_words(self.launch_size, sizes_said(sizes))
        self.launch_size.setToolTip(sizes_listed(sizes))
        show_words(self.shown, _shown(list(ordered.values())))

    def _say_badge(self, series: Sequence[Series]) -> None:
        self.badge.setVisible(bool(series) or bool(self._missing))
        kind = series[0].badge if series else "unavailable"
        self.badge.setText(tr(BADGES[kind]))
        set_look(self.badge, "kind", kind)


def _shown(series: Sequence[Series]) -> str:
    """What the plot shows."""
    if not series:
        return ""
    kept, launches = max(len(s.microseconds) for s in series), max(s.launches for s in series)
    cut = launches > kept
    many = tr("last {kept} of {all}", kept=kept, all=grouped(launches)) if cut else str(kept)
    if len(series) > 1:
        return trn("µs, {n} launch each", "µs, {n} launches each", launches, n=many)
    return trn("µs, {n} launch", "µs, {n} launches", launches, n=many)


class _Cell(NamedTuple):
    """What stands in a cell; a run's title has the colour that it has in the plot before it."""

    text: str
    role: str = ""
    hint: str = ""
    color: str = ""

    def show(self, made: QLabel) -> None:
        """Show it, unless it is shown already. Only what has a colour is written as HTML."""
        said = self.text
        if self.color:
            said = f'<span style="color:{self.color}">■</span> {html.escape(self.text)}'
        if made.text() != said:
            rich = Qt.TextFormat.RichText if self.color else Qt.TextFormat.PlainText
            made.setTextFormat(rich)
            made.setText(said)
        set_look(made, "role", self.role)
        made.setToolTip(self.hint)


class _Table(QWidget):
    """Names to the left, numbers to the right, one column a run."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self._labels: dict[tuple[int, int], QLabel] = {}
        self._said: dict[tuple[int, int], _Cell] = {}
        self.setAccessibleName(tr("Times and rates"))
        self.hide()

    def show_series(self, titles: Sequence[str], series: Sequence[Series]) -> None:
        """A column for each of up to two runs, a line for each of more."""
        colors = [self._color(number, len(titles)) for number in range(len(titles))]
        many = len(series) > COLUMNS
        lines = by_run(titles, series) if many else lines_of(series) if series else []
        wanted: dict[tuple[int, int], _Cell] = {}
        if len(series) == COLUMNS:
            for column, (title, color) in enumerate(zip(titles, colors, strict=True), 1):
                wanted[0, column] = _Cell(title, "quiet", color=color)
        for row, line in enumerate(lines, 1):
            wanted[row, 0] = _Cell(line.name, "", line.hint, colors[row - 1] if many else "")
            for column, cell in enumerate(line.cells, 1):
                quiet = any(line.quiet[column - 1 : column])
                role = "quiet" if quiet else "value" if row == 1 else ""
                wanted[row, column] = _Cell(cell, role, line.hint)
        self._fill(wanted)
        self.setVisible(bool(lines))

    def text(self) -> str:
        """All cells, columns parted by tabs."""
        rows: dict[int, list[str]] = {}
        for (row, _), cell in sorted(self._said.items(), key=lambda item: item[0]):
            rows.setdefault(row, []).append(cell.text)
        return "\n".join("\t".join(cells) for cells in rows.values())

    def _color(self, number: int, count: int) -> str:
        """The colour of a run in the plot."""
        return _code(self._theme.look, color_name(number, count))

    def _fill(self, wanted: Mapping[tuple[int, int], _Cell]) -> None:
        for place in [p for p in self._labels if p not in wanted]:
            self._labels.pop(place).deleteLater()
        for place, cell in wanted.items():
            made = self._labels.get(place)
            if made is None:
                made = self._labels[place] = label("", cell.role)
                side = Qt.AlignmentFlag.AlignRight if place[1] else Qt.AlignmentFlag.AlignLeft
                self._grid.addWidget(made, *place, side | Qt.AlignmentFlag.AlignVCenter)
            cell.show(made)
        self._said = dict(wanted)


def _code(look: Look, name: str) -> str:
    return qcolor(getattr(look.palette, name)).name()
