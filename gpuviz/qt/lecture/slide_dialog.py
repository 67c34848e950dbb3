"""A form for what a slide has besides its view: title, stops, counts shown, the question."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QWidget

from gpuviz.base.errors import InputError
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.lecture import TIME, Question, Slide
from gpuviz.lectures.own_files import files_of
from gpuviz.lectures.slide_fields import STEPS, VIEW, Plain, plain_of, slide_of
from gpuviz.qt.controls.controls import (
    Combo,
    answers,
    button,
    label,
    set_look,
    show_words,
    text_line,
)
from gpuviz.qt.controls.layouts import DIALOG, column_of, form_of, row_of
from gpuviz.qt.lecture.beside_rows import BesideRows, count_items
from gpuviz.qt.look.theme import Theme
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_CLOSE = 0.01  # seconds: stops are written with two digits
_FOLDER = Path(__file__).parent  # no kernel lies here: files keep the names they have


class SlideDialog(QDialog):
    """Accepts only what a file could hold; says what is wrong with the rest.

    It leaves the window to be used: stops are taken from the time line. `counts` are those that the
    slide's view has, `moment` the time in the story that is looked at, `end` that of the story's
    end, infinite where another view is shown. `told` says the answer to a question, "" when it is
    not known; InputError when no choice is right.
    """

    # Stops, and whether the time line shows them, and clicks on it set them.
    marking = Signal(tuple, bool)

    def __init__(
        self,
        slide: Slide,
        counts: Sequence[str],
        moment: float,
        theme: Theme,
        parent: QWidget,
        told: Callable[[Question], str] = lambda question: "",
        end: float = math.inf,
    ) -> None:
        super().__init__(parent)
        self._slide, self._told = slide, told
        self._moment, self._end = moment, end
        self.setWindowTitle(tr("Slide: {name}", name=slide.name))
        own = files_of(slide.view.launch) if slide.view is not None else frozenset()
        self._reach = Reach(_FOLDER, own)
        plain = plain_of(slide, _FOLDER)
        self._view = {key: value for key, value in plain.items() if key in VIEW}
        self._beside = self._view.pop("beside", {})
        self.beside = BesideRows(self._beside, counts, theme, self)
        self._add_lines(plain, plain.get("question", {}), counts, theme)
        self._add_buttons()
        self.problem = label("", "problem", wraps=True)
        self.answer = label("", "quiet", wraps=True)
        self.buttons = answers(self, tr("Done"))
        self.at_moment(moment)
        stops = row_of((self.stops, 1), self.here, self.by_clicks, gap=6)
        parts = form_of(self._rows(stops)), self.answer, self.problem, 1, self.buttons
        column_of(*parts, on=self, gap=10, margins=DIALOG)
        self.setMinimumWidth(theme.look.px(600))
        self._check()

    def _add_lines(self, plain: Plain, asked: Plain, counts: Sequence[str], theme: Theme) -> None:
        """What is filled in; `asked` is the question."""
        stops = plain.get("stops", [])
        waits = tr("seconds, as in 0, 2.5, 6; or {steps}", steps=STEPS)
        self.title = text_line(tr("Title"), plain.get("title", ""))
        self.stops = text_line(tr("Stops"), stops if stops == STEPS else _joined(stops), waits)
        numbers = _joined(plain.get("numbers", []))
        self.numbers = text_line(tr("Counts shown"), numbers, f"global_load_sectors, {TIME}")
        self.ask = text_line(tr("Question"), asked.get("ask", ""))
        self.choices = text_line(tr("Choices"), _joined(asked.get("choices", [])), "4, 8, 16, 32")
        self.count = Combo(tr("What is counted"), theme, count_items(counts, asked))
        self.count.choose(asked.get("count"))
        per = (tr("each request"), "request"), (tr("the whole launch"), "launch")
        self.per = Combo(tr("Counted for"), theme, per)
        self.per.choose(asked.get("per"))
        self.run = text_line(tr("Run"), asked.get("run", ""), tr("the first, or its name"))
        whole = tr("all of them, or a line of the source")
        self.row = text_line(tr("Line"), str(asked.get("line", "")), whole)
        minutes, share = _joined([plain.get("minutes", "")]), tr("its share of the lecture")
        self.minutes = text_line(tr("Minutes"), minutes, share)
        for text in (self.title, self.stops, self.numbers, self.ask, self.choices):
            text.textChanged.connect(self._check)
        for text in (self.run, self.row, self.minutes):
            text.textChanged.connect(self._check)
        for box in (self.count, self.per):
            box.currentIndexChanged.connect(self._check)
        self.beside.changed.connect(self._check)
        self.stops.textChanged.connect(self._mark)

    def _add_buttons(self) -> None:
        """Stops are set at the moment shown, or by clicks on the time line."""
        here = tr("Stop at the moment that is shown")
        self.here = button("", tr("Stop at this moment"), "", here)
        self.here.clicked.connect(lambda: self._stop_at(self._moment))
        tip = tr(
            "Click the time line where the story is to wait, also while it plays; a click on a "
            "stop removes it."
        )
        clicks = tr("Set stops by clicks on the time line")
        self.by_clicks = button(tr("by clicks"), clicks, "", tip)
        self.by_clicks.setCheckable(True)
        self.by_clicks.setEnabled(not math.isinf(self._end))
        self.by_clicks.toggled.connect(self._mark)
        self.finished.connect(lambda _: self.by_clicks.setChecked(False))
        for made in (self.here, self.by_clicks):
            made.setAutoDefault(False)

    def _rows(self, stops: QHBoxLayout) -> tuple[tuple[str, QWidget | QHBoxLayout], ...]:
        return (
            (tr("title"), self.title),
            (tr("stops"), stops),
            (tr("minutes"), self.minutes),
            (tr("beside"), self.beside.row),
            (tr("counts shown"), self.numbers),
            (tr("question"), self.ask),
            (tr("choices"), self.choices),
            (tr("answer: the count of"), self.count),
            (tr("for"), self.per),
            (tr("in the run"), self.run),
            (tr("of line"), self.row),
        )

    def slide(self) -> Slide:
        """The slide as filled in; as before what has no field (notes, ink, the time it took), and
        its view but for what is beside it.
        """
        made, _ = slide_of(self._plain(), self._reach)
        kept: Slide = self._slide
        made = replace(made, words=kept.words, markdown=kept.markdown, pictures=kept.pictures)
        made = replace(made, notes=kept.notes, problems=(), raw=kept.raw)
        return replace(made, view=_beside(kept.view, made.view), ink=kept.ink, taken=kept.taken)

    def at_moment(self, moment: float) -> None:
        """Another moment of the story is looked at."""
        self._moment = moment
        self.here.setText(tr("+ {t:.1f} s", t=moment))

    def click(self, moment: float, near: float) -> None:
        """A stop at a moment, or none where there was one so near."""
        found = self._seconds()
        there = [stop for stop in found if abs(stop - moment) <= near]
        if there:
            nearest = min(there, key=lambda stop: abs(stop - moment))
            self.stops.setText(_joined([stop for stop in found if stop != nearest]))
        else:
            self._stop_at(moment)

    def _mark(self) -> None:
        """What the time line shows: the stops, while clicks set them."""
        self.marking.emit(tuple(self._seconds()), self.by_clicks.isChecked())

    def _seconds(self) -> list[float]:
        return [float(part) for part in _parts(self.stops.text()) if _is_number(part)]

    def _plain(self) -> dict[str, Any]:
        """What is filled in, as a file would have it."""
        stops = self.stops.text().strip()
        plain: dict[str, Any] = {
            **self._view,
            "title": self.title.text().strip(),
            "stops": stops if stops == STEPS else list(map(as_value, _parts(stops))),
            "numbers": _parts(self.numbers.text()),
            "beside": self.beside.plain,
            "minutes": as_value(self.minutes.text().strip()),
        }
        if self.ask.text().strip():
            plain["question"] = {
                "ask": self.ask.text().strip(),
                "choices": [as_value(part) for part in _parts(self.choices.text())],
                "count": self.count.currentData() or "",
                "per": self.per.currentData(),
                "run": self.run.text().strip(),
            }
            if row := self.row.text().strip():
                plain["question"]["line"] = as_value(row)
        return {key: value for key, value in plain.items() if value not in ("", [], {})}

    def _check(self) -> None:
        plain = self._plain()
        made, faults = slide_of(plain, self._reach)
        said = "; ".join([*(fault.text for fault in faults), *self._beyond(made)])
        show_words(self.problem, said, "▲ ")
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(not said)
        self._tell(made.question if not said else None)

    def _beyond(self, made: Slide) -> list[str]:
        """Stops that the story never comes to; with something else beside it, it is another one."""
        if self.beside.plain != self._beside:
            return []
        late = [stop for stop in made.stops if stop > self._end + _CLOSE]
        if not late:
            return []
        said = {"end": f"{self._end:.1f}", "stop": f"{late[0]:g}"}
        return [tr("the story ends at {end} s: there is no stop at {stop} s", **said)]

    def _tell(self, question: Question | None) -> None:
        """The answer; a question without a right choice may be kept, to be mended later."""
        said, role = "", "quiet"
        if question is not None:
            try:
                said = self._told(question)
            except InputError as error:
                said, role = f"▲ {error}", "problem"
        show_words(self.answer, said)
        set_look(self.answer, "role", role)

    def _stop_at(self, moment: float) -> None:
        stops = sorted({*self._seconds(), round(moment, 2)})
        self.stops.setText(_joined(stops))


def _beside(view: Provenance | None, made: Provenance | None) -> Provenance | None:
    """The view with the lesson that `made` has beside its own; one that is compared stays."""
    if view is None or made is None or (view.compared and not view.compare_lesson):
        return view
    return replace(
        view,
        compare_lesson=made.compare_lesson,
        compare_values=made.compare_values,
        compare_arch=made.compare_arch,
    )


def _joined(values: Sequence[object]) -> str:
    return ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def as_value(text: str) -> int | float | str:
    """A number where it is one."""
    if text.removeprefix("-").isdecimal():
        return int(text)
    return float(text) if _is_number(text) else text
