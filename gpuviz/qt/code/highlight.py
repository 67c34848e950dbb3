"""Colours for CUDA, PTX and SASS text, those of the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.highlighting import Span

SOON_MS = 150  # after the last key all of an edited text is read anew


class Highlighter(QSyntaxHighlighter):
    """Colours a document line by line from spans found once for the whole text.

    A line that is edited is coloured by itself, until the whole is read again (a comment may have
    been opened there).
    """

    def __init__(self, document: QTextDocument, language: str, theme: Theme) -> None:
        super().__init__(document)
        self._language = language
        self._theme = theme
        self._lines: list[list[Span]] = []
        self._texts: list[str] = []
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(SOON_MS)
        self._soon.timeout.connect(self._read_again)
        theme.changed.connect(self.rehighlight)

    def read(self, text: str) -> None:
        """Find the spans of a text that the document is about to be given."""
        self._soon.stop()
        self._texts = text.split("\n")
        self._lines = self._spans(text)

    def highlightBlock(self, text: str) -> None:
        """Qt asks for one line."""
        number = self.currentBlock().blockNumber()
        known = number < len(self._texts) and self._texts[number] == text
        if not known:
            self._soon.start()
        found = self._lines[number : number + 1] if known else self._spans(text)
        for start, length, color, bold in found[0] if found else ():
            form = QTextCharFormat()
            form.setForeground(self._theme.look.color(color))
            if bold:
                form.setFontWeight(600)
            self.setFormat(start, length, form)

    def _spans(self, text: str) -> list[list[Span]]:
        if not text:
            return []
        from gpuviz.results.highlighting import spans  # which needs all of Pygments

        return spans(text, self._language)

    def _read_again(self) -> None:
        """Colour the lines as parts of the whole."""
        self.read(self.document().toPlainText())
        self.rehighlight()
