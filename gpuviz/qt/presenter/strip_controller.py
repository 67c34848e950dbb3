"""The strip of parameters over a slide: opened, moved in, typed into, and gone back from."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal

from gpuviz.base.errors import Error, failure_of
from gpuviz.draw.stage import Stage
from gpuviz.lectures.strip import Strip, hit
from gpuviz.lectures.variation import Variation, checked, fields, first, stepped
from gpuviz.qt.presenter.conductor import Conductor
from gpuviz.qt.presenter.keys import TypedNumber, digit_of
from gpuviz.qt.presenter.slide_runs import VariedRuns
from gpuviz.words.language import percent, tr

_K = Qt.Key


class StripController(QObject):
    """What is chosen is shown by the conductor as soon as it has been performed."""

    changed = Signal()  # the strip is another one, or there is none any more

    def __init__(
        self, conductor: Conductor, varied: VariedRuns, wait_ms: int, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._conductor, self._varied = conductor, varied
        self._variation: Variation | None = None
        self._slide = -1
        self._wrong = ""
        self.strip: Strip | None = None
        self._number = TypedNumber(wait_ms, self)
        self._number.typed.connect(self._take)
        self._number.changed.connect(self._refresh)
        conductor.moved.connect(self._follow)
        varied.changed.connect(self._refresh)
        self._keys: dict[Qt.Key, Callable[[], object]] = {
            _K.Key_Left: lambda: self._choose(-1),
            _K.Key_Right: lambda: self._choose(1),
            _K.Key_Up: lambda: self._step(1),
            _K.Key_Down: lambda: self._step(-1),
            _K.Key_A: self.ask_anew,
            _K.Key_Escape: self.back_to_plan,
        }
        self._typing: dict[Qt.Key, Callable[[], object]] = {
            _K.Key_Return: self._number.finish,
            _K.Key_Enter: self._number.finish,
            _K.Key_Backspace: self._number.forget,
            _K.Key_Escape: self._number.forget,
        }

    @property
    def varied(self) -> bool:
        """Whether the slide is not shown as planned."""
        return self._variation is not None and self._variation.changed

    @property
    def offered(self) -> bool:
        """Whether the slide shown has anything that can be changed."""
        return self._conductor.planned.view is not None and self._conductor.shown.story is not None

    def toggle(self) -> None:
        """Show the strip, or take it away; what was changed by it stays."""
        if self.strip is not None:
            self._number.forget()
            self.strip = None
            self.changed.emit()
            return
        view = self._conductor.planned.view
        if view is None or not self.offered:
            return
        self._slide = self._conductor.slide
        try:
            before = self._variation or Variation.of(view)
            self.strip = Strip(fields(before), first(before))
        except Error:  # a kernel's file that went away meanwhile: its picture stays
            return
        self._variation = before
        self._refresh()

    def takes(self, key: int) -> bool:
        """Whether the strip has use for a key; it is used then."""
        if self.strip is None:
            return False
        digit = digit_of(key)
        if digit is not None:
            self._number.add(digit, self.strip.fields[self.strip.chosen].most)
            return True
        do = (self._typing if self._number.text else {}).get(_K(key)) or self._keys.get(_K(key))
        if do is not None:
            do()
        return do is not None

    def click(self, stage: Stage, x: float, y: float) -> None:
        """A click on the strip, which lies on this stage."""
        found = hit(stage, self.strip, x, y) if self.strip is not None else None
        if found is None or self.strip is None:
            return
        if found[0] != self.strip.chosen:
            self._choose(found[0] - self.strip.chosen)
        elif found[1]:
            self._step(found[1])

    def back_to_plan(self) -> None:
        """The slide as planned, without the strip."""
        self._number.forget()
        self._variation, self._wrong, self.strip = None, "", None
        self._conductor.vary(None)
        self.changed.emit()

    def ask_anew(self) -> None:
        """Ask the slide's question about what is shown now, or tell it again."""
        now = self._variation
        if now is None or self._conductor.planned.question is None:
            self._say(tr("this slide asks nothing"))
        elif not now.changed:
            self._say(tr("nothing is changed: its question is the planned one"))
        else:
            self._vary(replace(now, asked=not now.asked))

    def _choose(self, way: int) -> None:
        assert self.strip is not None
        self._number.finish()
        at = min(max(self.strip.chosen + way, 0), len(self.strip.fields) - 1)
        self.strip = replace(self.strip, chosen=at)
        self._say("")

    def _step(self, way: int) -> None:
        self._number.finish()
        if self.strip is not None and self._variation is not None:
            field, now = self.strip.fields[self.strip.chosen], self._variation
            self._try(lambda: stepped(field, now, way))

    def _take(self, number: int) -> None:
        if self.strip is not None:
            field = self.strip.fields[self.strip.chosen]
            self._try(lambda: checked(field.typed(number)))

    def _try(self, how: Callable[[], Variation]) -> None:
        """Change something, or say why that cannot be."""
        try:
            made = how()
        except Error as error:
            self._say(failure_of(error).message)
        else:
            self._vary(made)

    def _vary(self, made: Variation) -> None:
        self._variation, self._wrong = made, ""
        self._conductor.vary(made)
        self._refresh()

    def _say(self, wrong: str) -> None:
        self._wrong = wrong
        self._refresh()

    def _follow(self) -> None:
        """Another slide is shown as planned."""
        if self._conductor.slide != self._slide and self._variation is not None:
            self._number.forget()
            self._variation, self._wrong, self.strip = None, "", None
            self.changed.emit()
        elif self._conductor.variation is None and self.varied:
            self._variation = Variation.of(self._variation.planned)  # type: ignore[union-attr]
            self._refresh()

    def _refresh(self) -> None:
        if self.strip is not None and self._variation is not None:
            made = fields(self._variation)
            at = min(self.strip.chosen, len(made) - 1)
            wrong = self._wrong or self._varied.why_not
            self.strip = Strip(made, at, self._number.text, wrong or self._state(), bool(wrong))
        self.changed.emit()

    def _state(self) -> str:
        """How things stand: counting, changed, or as planned."""
        assert self._variation is not None
        if self._varied.share is not None:
            return tr("counting … {share}", share=percent(self._varied.share))
        if not self._variation.changed:
            return tr("as planned")
        if self._conductor.planned.question is None or self._variation.asked:
            return self._variation.words
        return f"{self._variation.words}    {tr('A asks anew')}"
