"""The counts panel: predicted, measured, residual, or runs beside each other; what to expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpuviz.arch import architecture
from gpuviz.memory.counts import find
from gpuviz.qt.controls.controls import (
    Combo,
    button,
    keep_arrows,
    keep_space,
    label,
    set_look,
    show_words,
    timer,
)
from gpuviz.qt.controls.layouts import column_of, row_of
from gpuviz.qt.counts.counts_model import CountsModel, as_text
from gpuviz.qt.counts.counts_table import CountsTable
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.meter import Meter
from gpuviz.recordings.measurement import CounterValue
from gpuviz.results.badges import sizes_listed, sizes_said
from gpuviz.results.count_columns import (
    Readout,
    Sheet,
    View,
    columns_of,
    readout_of,
    updated,
    views_of,
)
from gpuviz.results.quantities import Row, folded, rows_for, rows_of
from gpuviz.results.residuals import all_verdicts
from gpuviz.run.fidelity import fidelity
from gpuviz.run.run import not_checked
from gpuviz.story.exhibit import Exhibit
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.timing.explanation import Explanation
    from gpuviz.views.lesson_view import Subject

REFRESH_MS = 150


class Counts(QWidget):
    """Totals of the runs shown, beside what a GPU counted or beside each other."""

    # A count was clicked: the name of its run, the line that counts most of it, and what kind of
    # step of a story it is.
    asked = Signal(str, int, str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._showing: Exhibit | None = None
        self._measured: dict[str, Readout] = {}
        self._explained: dict[str, Explanation] = {}
        self._closed: set[str] = set()  # groups of rows that are folded
        self._views: list[View] = []
        self._view = ""
        self.model = CountsModel(self)
        self.table = CountsTable(self.model, theme)
        self.level = label("", "badge")
        self.view = Combo(tr("Columns of the counts"), theme)
        self.view.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.view.setMinimumContentsLength(12)  # names of many runs would widen the panel
        self.view.setToolTip(tr("All runs beside each other, or one against its measurement"))
        self.view.activated.connect(lambda i: self._choose(self._views[i]))
        self.launch_size, self.expected = label("", "quiet", wraps=True), label("", wraps=True)
        self.verdict, self.note = label("", "quiet", wraps=True), label("", "quiet", wraps=True)
        for words in (self.launch_size, self.note, self.expected, self.verdict):
            words.hide()
        tip = tr("Copy the table as text")
        self.copied = button(tr("copy"), tr("Copy counts as text"), "link", tip)
        self.copied.clicked.connect(self.copy)
        for gesture in (self.table.clicked, self.table.activated, self.table.names.clicked):
            gesture.connect(self._ask)
        for widget in (self.copied, self.view):
            keep_space(widget)
        keep_arrows(self.view)
        self._lay_out()
        self._timer = timer(self, REFRESH_MS, self._fill)
        self.hide()

    def _lay_out(self) -> None:
        level = self.level, Qt.AlignmentFlag.AlignVCenter
        head = row_of(label(tr("Counts, this launch"), "heading"), level, 1, self.copied)
        above, below = (self.view, self.launch_size), (self.verdict, self.expected, self.note)
        column_of(head, *above, self.table, *below, on=self, gap=6)

    def show_runs(self, showing: Exhibit) -> None:
        """Show the counts of a performance, or of two."""
        self._measured, self._explained = {}, {}
        self.update_runs(showing)
        self.show()

    def update_runs(self, showing: Exhibit) -> None:
        """The same launches, of which more is known."""
        self._showing = showing
        self._views = views_of(showing)
        self._fill_views()
        first = next(iter(showing.runs.values()))
        archs = dict.fromkeys(run.arch for run in showing.runs.values())
        sure = [fidelity(run) for run in showing.runs.values()]
        self.level.setText(f"{' | '.join(archs)} · {first.level}")
        told = tr(
            "Architecture, and whose memory instructions are counted: "
            "those of the assembled code (sass) or of the PTX."
        )
        self.level.setToolTip("\n".join(dict.fromkeys((told, *(one.words for one in sure)))))
        every = [n for r in showing.runs.values() for n in (not_checked(r.unchecked), r.level_note)]
        every += [one.words for one in sure if one.kind != "exact" and first.level == "sass"]
        show_words(self.note, "\n".join(dict.fromkeys(filter(None, every))))
        show_words(self.expected, showing.story.expected)
        self._fill()

    def show_explained(self, key: str, subject: Subject) -> None:
        """Show the time predicted of a launch, and its traffic."""
        self._explained[key] = subject.explained
        self._fill()

    def follow(self, meter: Meter) -> None:
        """Show what a meter measures."""
        meter.measured.connect(lambda key, m: self.show_measured(key, readout_of(m)))
        meter.missing.connect(lambda key, why: self.show_measured(key, Readout("unavailable", why)))
        meter.counted.connect(self._update)

    def show_measured(self, key: str, measured: Readout) -> None:
        """Show what a GPU counted in one of the runs."""
        if self._showing is not None and key in self._showing.sizes:
            self._measured[key] = measured
            self._timer.start()

    def _update(self, key: str, readings: Mapping[str, CounterValue]) -> None:
        """Newer readings; they are shown when the eye has had time for the last ones."""
        before = self._measured.get(key)
        if before is None:
            return
        after = self._measured[key] = updated(before, readings)
        if after.values != before.values and not self._timer.isActive():
            self._timer.start()

    def _ask(self, index: QModelIndex) -> None:
        """Where does this number come from? Of a heading: show or hide what is below."""
        from gpuviz.results.quantities import dearest_line

        sheet, showing = self.model.sheet, self._showing
        if showing is None or sheet.view is None:
            return
        row, column = sheet.rows[index.row()], sheet.columns[index.column()]
        if not row.values:
            self._fold(row.key)
            return
        key = sheet.view.runs[0] if column.kind == "name" else sheet.runs[column.run]
        if line := dearest_line(showing.runs[key], row.key):
            count = find(row.key)
            self.asked.emit(key, line, count.kind[1] if count else "")

    def _fold(self, group: str) -> None:
        """Show or hide the rows of a group, if it can be folded."""
        if group:
            self._closed ^= {group}
            self._fill()

    def text(self) -> str:
        """The table as text, parted by tabs."""
        return as_text(self.model)

    def copy(self) -> None:
        """Put the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _fill_views(self) -> None:
        """The list of views; the one looked at is kept if there still is one of its name."""
        titles = [view.title for view in self._views]
        self.view.clear()
        self.view.addItems(titles)
        index = titles.index(self._view) if self._view in titles else 0
        self.view.setCurrentIndex(index)
        self.view.setVisible(len(titles) > 1)

    def _choose(self, view: View) -> None:
        self._view = view.title
        self._fill()

    def _fill(self) -> None:
        """Rows, columns and verdicts of the view chosen."""
        showing = self._showing
        if showing is None:
            return
        runs, keys = list(showing.runs.values()), list(showing.runs)
        sectors = all(architecture(run.arch).has_sectors for run in runs)
        view = self._views[max(self.view.currentIndex(), 0)]
        titles = {key: showing.title(key) for key in keys}
        indices = {key: number for number, key in enumerate(keys)}
        silent = [run.counts.silent for run in runs]
        rows = rows_of([run.counts.totals for run in runs], sectors, silent)
        rows = rows_for(rows, [indices[key] for key in view.runs]) + self._time_rows(view)
        unchecked = {key: run.unchecked for key, run in showing.runs.items()}
        sheet = Sheet(
            tuple(folded(rows, self._closed)),
            tuple(columns_of(view, titles, indices, self._measured, unchecked)),
            tuple(keys),
            dict(self._measured),
            view,
            tuple(run.arch for run in runs),
            frozenset(key for key, run in zip(keys, runs, strict=True) if run.sampled),
        )
        self.model.show(sheet)
        sizes = {titles[key]: showing.sizes[key] for key in view.runs}
        show_words(self.launch_size, sizes_said(sizes))
        self.launch_size.setToolTip(sizes_listed(sizes))
        verdicts = all_verdicts(sheet, showing.runs, {key: titles[key] for key in view.runs})
        show_words(self.verdict, "\n".join(v.text for v in verdicts))
        set_look(self.verdict, "off", not all(v.equal for v in verdicts))
        self.table.fit()

    def _time_rows(self, view: View) -> list[Row]:
        """Times and traffic, where somebody has asked where the time goes."""
        runs = self._showing.runs if self._showing else {}
        found = {key: self._explained.get(key) or run.explained for key, run in runs.items()}
        if not any(found[key] for key in view.runs):
            return []
        from gpuviz.results.time_rows import time_rows

        return time_rows(list(found.values()))
