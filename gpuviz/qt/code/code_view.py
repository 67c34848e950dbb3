"""Read-only code with line numbers, lit lines, and at the right what a line cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from gpuviz.qt.controls.controls import keep_arrows, plain_tip, timer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuviz.qt.look.theme import Theme
    from gpuviz.results.highlighting import Span

SOON_MS = 150  # after the last key all of an edited text is read anew
LONG = 60  # lines from which on only those in view are coloured


class Highlighter(QSyntaxHighlighter):
    """Colours a document line by line from spans found once for the whole text.

    A line that is edited is coloured by itself, until the whole is read again (a comment may have
    been opened there). Of a long text a line is coloured when it is first in view.
    """

    def __init__(self, document: QTextDocument, language: str, theme: Theme) -> None:
        super().__init__(document)
        self._language = language
        self._theme = theme
        self._lines: list[list[Span]] = []
        self._texts: list[str] = []
        self._seen: set[int] = set()  # lines of a long text that have been in view, from 0
        self._forms: dict[tuple[str, bool], QTextCharFormat] = {}
        self._soon = timer(self, SOON_MS, self._read_again)
        theme.changed.connect(self._recolour)

    def read(self, text: str) -> None:
        """Find the spans of a text that the document is about to be given."""
        self._soon.stop()
        self._seen.clear()
        self._texts = text.split("\n")
        self._lines = self._spans(text)

    def see(self, lines: Iterable[int]) -> None:
        """Colour these lines of a long text, counted from 1: they come into view."""
        if len(self._texts) <= LONG:
            return
        for number in {line - 1 for line in lines} - self._seen:
            self._seen.add(number)
            self.rehighlightBlock(self.document().findBlockByNumber(number))

    def highlightBlock(self, text: str) -> None:
        """Qt asks for one line."""
        number = self.currentBlock().blockNumber()
        if len(self._texts) > LONG and number not in self._seen:
            return
        known = number < len(self._texts) and self._texts[number] == text
        if not known:
            self._soon.start()
        found = self._lines[number : number + 1] if known else self._spans(text)
        for start, length, color, bold in found[0] if found else ():
            self.setFormat(start, length, self._form(color, bold))

    def _form(self, color: str, bold: bool) -> QTextCharFormat:
        """How such characters look; it is made once, as a text has many of each."""
        form = self._forms.get((color, bold))
        if form is None:
            form = self._forms[color, bold] = QTextCharFormat()
            form.setForeground(self._theme.look.color(color))
            if bold:
                form.setFontWeight(600)
        return form

    def _recolour(self) -> None:
        self._forms.clear()
        self.rehighlight()

    def _spans(self, text: str) -> list[list[Span]]:
        if not text:
            return []
        from gpuviz.results.highlighting import spans  # which needs all of Pygments

        return spans(text, self._language)

    def _read_again(self) -> None:
        """Colour the lines as parts of the whole, where anything has been edited."""
        text, seen = self.document().toPlainText(), set(self._seen)
        if text == "\n".join(self._texts):
            return
        self.read(text)
        self._seen = seen
        self.rehighlight()


if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from PySide6.QtGui import QColor

    from gpuviz.qt.look.theme import Theme

TEXT, NOTE = 12.5, 12.0
_FIND = QKeySequence("Ctrl+F")
# Lanes whose colours tell lines apart, four hues of two lightnesses: neighbours differ in hue.
_HUES = (3, 11, 19, 27, 7, 15, 23, 31)


class CodeView(QPlainTextEdit):
    """Code of one language. Lines are counted from 1."""

    chosen = Signal(int)  # a line was clicked
    find_asked = Signal()  # Ctrl+F

    def __init__(self, name: str, language: str, theme: Theme, narrow: bool = False) -> None:
        """A `narrow` view has little room: notes are of lit lines alone, indents are small."""
        super().__init__()
        self._theme = theme
        self._narrow = narrow
        self._notes: Mapping[int, tuple[str, str]] = {}
        self.lit: frozenset[int] = frozenset()
        self._hushed = False
        self._bands: Mapping[int, int] = {}
        self._tips: Mapping[int, str] = {}
        self.setAccessibleName(name)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)
        self._highlighter = Highlighter(self.document(), language, theme)
        self._numbers = _Margin(self, self._paint_numbers)
        self.updateRequest.connect(lambda rect, dy: self._numbers.update())
        self.horizontalScrollBar().valueChanged.connect(lambda x: self.viewport().update())
        theme.changed.connect(self._restyle)
        keep_arrows(self)
        self._restyle()

    @property
    def written(self) -> int:
        """The line that somebody is writing in, 0 for none."""
        return 0

    def note(self, line: int) -> str:
        """What the gutter says in full beside a line."""
        return self._notes.get(line, ("", ""))[0]

    def note_ink(self, line: int) -> str:
        """The colour of a line's note."""
        if self._notes.get(line, ("", ""))[0].startswith("▲"):  # what checks found
            return "bad"
        return "warn" if line in self.lit else "muted"

    def show_code(self, text: str, notes: Mapping[int, tuple[str, str]]) -> None:
        """Show a text, and for some lines a note in full and in brief."""
        self._notes = notes
        if text != self.toPlainText():
            self._highlighter.read(text)
            self.setPlainText(text)
            self.begin()
        self._lay_out()

    def begin(self) -> None:
        """Show the kernel that ran: macros come first, and kernels that are not shown."""
        if self._notes and not self.lit:
            self._reveal(min(self._notes))

    def tint(self, bands: Mapping[int, int]) -> None:
        """Give lines a colour each, by its number: lines of other texts with the same are one."""
        self._bands = bands
        self._numbers.update()
        self.viewport().update()

    def tell(self, tips: Mapping[int, str]) -> None:
        """What hovering a line says."""
        self._tips = tips

    def hush(self, hushed: bool) -> None:
        """Keep back what lines cost while the picture asks."""
        self._hushed = hushed
        self.viewport().update()

    def light(self, lines: Collection[int]) -> None:
        """Light these lines, and bring the first that costs something into view."""
        if frozenset(lines) == self.lit:
            return
        self.lit = frozenset(lines)
        self._select()
        self.reveal_lit()

    def reveal_lit(self) -> None:
        """Bring the first lit line that costs something into view."""
        if self.lit:
            self._reveal(min(self.lit & self._notes.keys() or self.lit))

    def tip(self, line: int) -> str:
        """What hovering a line says."""
        return self._tips.get(line, "")

    def as_run(self, line: int) -> int:
        """The number of a line in what was run, 0 where it was none of it."""
        return line

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click chooses a line; a drag has selected text."""
        super().mouseReleaseEvent(event)
        cursor = self.textCursor()
        if event.button() == Qt.MouseButton.LeftButton and not cursor.hasSelection():
            self.chosen.emit(self.as_run(cursor.blockNumber() + 1))

    def event(self, event: QEvent) -> bool:
        """Ctrl+F finds in the code that has the focus, elsewhere in the story."""
        if isinstance(event, QKeyEvent) and QKeySequence(event.keyCombination()) == _FIND:
            if event.type() == QEvent.Type.KeyPress:
                self.find_asked.emit()
            event.accept()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The margins follow."""
        super().resizeEvent(event)
        self._lay_out()

    def _restyle(self) -> None:
        look = self._theme.look
        self.setFont(look.font(TEXT, mono=True))
        if self._narrow:
            self.setTabStopDistance(2.0 * self.fontMetrics().horizontalAdvance(" "))
        # The window's style sheet sets a size for every widget; code has its own.
        self.setStyleSheet(f"font-size: {look.px(TEXT)}px;")
        self._select()
        self._lay_out()

    def _select(self) -> None:
        """Lit lines as selections over the full width."""
        ground = self._theme.look.blend("accent_soft", "panel", 0.15)
        made = []
        for line in sorted(self.lit):
            block = self.document().findBlockByNumber(line - 1)
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(block)
            selection.cursor = cursor
            selection.format.setBackground(ground)
            selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            made.append(selection)
        self.setExtraSelections(made)
        self._numbers.update()
        self.viewport().update()

    def _reveal(self, line: int) -> None:
        """Scroll so that a line is in view, with some lines around it."""
        shown = self.viewport().height() // max(self.fontMetrics().lineSpacing(), 1)
        top = self.verticalScrollBar().value()
        if not top + 1 <= line <= top + shown - 1:
            self.verticalScrollBar().setValue(max(0, line - 1 - shown // 2))

    def _lay_out(self) -> None:
        rect = self.contentsRect()
        left = self._number_width()
        self.setViewportMargins(left, 0, 0, 0)
        self._numbers.setGeometry(QRect(rect.left(), rect.top(), left, rect.height()))
        self.viewport().update()

    def _number_width(self) -> int:
        digits = max(len(str(self.blockCount())), 2)
        return QFontMetrics(self.font()).horizontalAdvance("0" * digits) + self._theme.look.px(24)

    def viewportEvent(self, event: QEvent) -> bool:
        """Hovering a line says what its accesses cost."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            said = self.tip(self._line_at(event.pos().y()))
            QToolTip.showText(event.globalPos(), plain_tip(said), self)
            return True
        return super().viewportEvent(event)

    def _line_at(self, y: float) -> int:
        return next((n for n, rect in self.visible_lines() if rect.top() <= y < rect.bottom()), 0)

    def _band(self, line: int) -> QColor | None:
        """The colour of a line."""
        number = self._bands.get(line)
        return None if number is None else self._theme.look.lane(_HUES[number % len(_HUES)])

    def _paint_bands(self) -> None:
        painter = QPainter(self.viewport())
        for line, rect in self.visible_lines():
            if line not in self.lit and (color := self._band(line)) is not None:
                color.setAlphaF(0.16)
                painter.fillRect(QRectF(0, rect.top(), self.width(), rect.height()), color)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The code on the colours of its lines, then the notes over its right end."""
        self._highlighter.see(line for line, _ in self.visible_lines())
        if self._bands:
            self._paint_bands()
        super().paintEvent(event)
        if not self._notes or self._hushed:
            return
        painter = QPainter(self.viewport())
        painter.setFont(self._theme.look.font(NOTE))
        for line, rect in self.visible_lines():
            if line in self._notes and (line in self.lit or not self._narrow):
                self._paint_note(painter, line, rect)

    def _note_for(self, line: int, measure: QFontMetrics, room: float) -> str:
        """A note in as many words as there is room for."""
        full, brief = self._notes[line]
        if measure.horizontalAdvance(full) <= room:
            return full
        most = max(int(room), self.viewport().width() // 2)
        return measure.elidedText(brief, Qt.TextElideMode.ElideRight, most)

    def _paint_note(self, painter: QPainter, line: int, rect: QRectF) -> None:
        """A note at the right; where the code is long it lies over its end."""
        look = self._theme.look
        lit = line in self.lit
        text = self.document().findBlockByNumber(line - 1).text()
        end = rect.left() + self.fontMetrics().horizontalAdvance(text)
        pad = look.px(12)
        width = self.viewport().width()
        room = width - end - 2 * pad
        if room < 0 and (self.horizontalScrollBar().value() or line == self.written):
            return  # who scrolls wants to read the code, and who writes to see it
        said = self._note_for(line, painter.fontMetrics(), room)
        left = width - painter.fontMetrics().horizontalAdvance(said) - 2 * pad
        box = QRectF(left, rect.top(), width - left, rect.height())
        ground = look.blend("accent_soft", "panel", 0.15) if lit else look.color("panel")
        painter.fillRect(box, ground)
        painter.setPen(look.color(self.note_ink(line)))
        painter.drawText(
            box.adjusted(pad, 0, -pad, 0),
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            said,
        )

    def _paint_numbers(self, painter: QPainter, line: int, rect: QRectF) -> None:
        look = self._theme.look
        lit = line in self.lit
        if lit:
            painter.fillRect(rect, look.blend("accent_soft", "panel", 0.15))
            bar = QRectF(rect.left(), rect.top(), 3, rect.height())
            painter.fillRect(bar, look.color("accent"))
        if (color := self._band(line)) is not None:
            right = QRectF(rect.right() - look.px(5), rect.top(), look.px(5), rect.height())
            painter.fillRect(right, color)
        painter.setPen(look.color("ink" if lit else "faint"))
        inner = rect.adjusted(0, 0, -look.px(10), 0)
        painter.drawText(
            inner, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line)
        )

    def visible_lines(self) -> list[tuple[int, QRectF]]:
        """Lines in view, with their rectangles in the viewport."""
        block: QTextBlock = self.firstVisibleBlock()
        made = []
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if rect.top() > self.viewport().height():
                break
            made.append((block.blockNumber() + 1, rect))
            block = block.next()
        return made


class _Margin(QWidget):
    """A strip beside the code, painted line by line."""

    def __init__(self, view: CodeView, paint_line: object) -> None:
        super().__init__(view)
        self._view = view
        self._paint_line = paint_line

    def paintEvent(self, event: QPaintEvent) -> None:
        """Every line in view."""
        painter = QPainter(self)
        painter.setFont(self._view.font())
        for line, box in self._view.visible_lines():
            rect = QRectF(0, box.top(), self.width(), box.height())
            assert callable(self._paint_line)
            self._paint_line(painter, line, rect)
