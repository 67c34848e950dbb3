"""Source, PTX and machine code side by side, what belongs together in one colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from gpuviz.qt.code.code_view import CodeView
from gpuviz.qt.controls.layouts import column_of
from gpuviz.results.line_rows import tips
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.code_text import Code
    from gpuviz.results.line_rows import LineRow

LANGUAGES = ("cuda", "ptx", "sass")


class SideBySide(QWidget):
    """Three views. A click on a line of one lights what it is in the others."""

    pointed = Signal(int)  # the CUDA line of the line that was clicked

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._codes: Sequence[Code] = ()
        names = (tr("source"), "PTX", "SASS")
        self.views = [
            CodeView(tr("{language} beside", language=name), language, theme, narrow=True)
            for name, language in zip(names, LANGUAGES, strict=True)
        ]
        self.focus = self.views[0]
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setHandleWidth(1)
        for number, view in enumerate(self.views):
            self.splitter.addWidget(view)
            view.setMinimumWidth(120)
            view.chosen.connect(lambda line, number=number: self._point(number, line))
        column_of(self.splitter, on=self)

    def show_codes(self, codes: Sequence[Code]) -> None:
        """Show the texts of a run, each CUDA line that became code in a colour of its own."""
        self._codes = codes
        became = sorted({line for code in codes[1:] for line in code.lines})
        colors = {line: number for number, line in enumerate(became)}
        for view, code in zip(self.views, codes, strict=True):
            view.show_code(code.text, code.notes)
            view.setPlaceholderText(code.missing)
            view.tint({n: colors[line] for n, line in code.origin.items() if line in colors})

    def tell(self, rows: Sequence[LineRow]) -> None:
        """What hovering lines of each text says."""
        for view, code in zip(self.views, self._codes, strict=False):
            view.tell(tips(rows, code.line_of))

    def light(self, line: int) -> None:
        """Light a CUDA line and what it became."""
        for view, code in zip(self.views, self._codes, strict=False):
            view.light(code.lines.get(line, frozenset()))

    def clear(self) -> None:
        """Show no code."""
        self._codes = ()
        for view in self.views:
            view.light(())
            view.tint({})
            view.show_code("", {})

    def _point(self, number: int, line: int) -> None:
        if number < len(self._codes) and (origin := self._codes[number].origin.get(line)):
            self.light(origin)
            self.pointed.emit(origin)
