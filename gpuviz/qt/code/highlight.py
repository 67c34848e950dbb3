"""Colours for CUDA, PTX and SASS text, those of the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.highlighting import Span


class Highlighter(QSyntaxHighlighter):
    """Colours a document line by line from spans found once for the whole text."""

    def __init__(self, document: QTextDocument, language: str, theme: Theme) -> None:
        super().__init__(document)
        self._language = language
        self._theme = theme
        self._lines: list[list[Span]] = []
        theme.changed.connect(self.rehighlight)

    def read(self, text: str) -> None:
        """Find the spans of a text that the document is about to be given."""
        self._lines = []
        if text:
            from gpuviz.results.highlighting import spans  # which needs all of Pygments

            self._lines = spans(text, self._language)

    def highlightBlock(self, text: str) -> None:
        """Qt asks for one line."""
        number = self.currentBlock().blockNumber()
        for start, length, color, bold in self._lines[number] if number < len(self._lines) else ():
            form = QTextCharFormat()
            form.setForeground(self._theme.look.color(color))
            if bold:
                form.setFontWeight(600)
            self.setFormat(start, length, form)
