"""Code that can be edited: indented, searched, with what the compiler says at its lines."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from gpuviz.qt.code.code_view import CodeView
from gpuviz.results import editing
from gpuviz.results.editing import moved, shifted

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Theme

_SAVE = QKeySequence("Ctrl+S")
_THE_WINDOWS = tuple(map(QKeySequence, ("Ctrl+K", "Ctrl+D", "Ctrl+T")))
_READ = (
    Qt.TextInteractionFlag.TextSelectableByKeyboard | Qt.TextInteractionFlag.TextSelectableByMouse
)


class Editor(CodeView):
    """Read-only until there is something to `edit`. What a run made of the lines follows them."""

    typed = Signal(str)  # the text, after a change by the user
    save_asked = Signal()  # Ctrl+S
    left = Signal()  # Esc

    def __init__(self, name: str, language: str, theme: Theme) -> None:
        self._ran: list[str] = []  # the text that was run, its notes, and its lines that are lit
        self._ran_notes: Mapping[int, tuple[str, str]] = {}
        self._ran_lit: frozenset[int] = frozenset()
        self.errors: Mapping[int, str] = {}
        self._left = "", 0  # what was edited last, and the cursor in it
        super().__init__(name, language, theme)
        self._quiet, self._last = False, ""
        self.textChanged.connect(self._change)

    @property
    def editing(self) -> bool:
        """Whether the text can be changed."""
        return not self.isReadOnly()

    @property
    def text(self) -> str:
        """What stands in it."""
        return self.toPlainText()

    def edit(self, text: str, undoable: bool = False) -> None:
        """Have this text edited; `undoable` when it is a new state of the one that was."""
        if undoable and self.editing:
            self._replace(text)
            return
        self.setReadOnly(False)
        self.setTabChangesFocus(False)
        self.errors = {}
        self._put(text)
        known, at = self._left
        if text == known:  # it was edited a moment ago, too
            cursor = self.textCursor()
            cursor.setPosition(at)
            self.setTextCursor(cursor)
            self.ensureCursorVisible()
        self.document().clearUndoRedoStacks()
        self._follow()
        if text != known:
            self.reveal_lit()

    def stop(self) -> None:
        """Only read from now on."""
        if self.editing:
            self._left = self.toPlainText(), self.textCursor().position()
            self.setReadOnly(True)
            self.setTextInteractionFlags(_READ)
            self.setTabChangesFocus(True)
            self.document().clearUndoRedoStacks()
            self.show_errors({})

    def go_to(self, line: int) -> None:
        """Put the cursor to the end of a line, in view."""
        cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        self.setTextCursor(cursor)
        self.centerCursor()

    def show_errors(self, errors: Mapping[int, str]) -> None:
        """What the compiler says of lines, as they are now."""
        self.errors = dict(errors)
        self._follow()

    def show_code(self, text: str, notes: Mapping[int, tuple[str, str]]) -> None:
        """What was run, and the notes on its lines. While it is edited the text stays."""
        self._ran, self._ran_notes = text.split("\n"), notes
        other = text != self.toPlainText()
        if not self.editing:
            self._put(text)
        self._follow()
        if other and not self.editing:
            self.begin()

    def light(self, lines: Collection[int]) -> None:
        """Light these lines of what was run, and bring the first that costs something in view,
        unless somebody is writing.
        """
        self._ran_lit = frozenset(lines)
        where = self._where()
        now = frozenset(where[line] for line in lines if line in where)
        if self.editing and self.hasFocus():
            self._light_quietly(now)
        else:
            super().light(now)

    def _where(self) -> Mapping[int, int]:
        """The lines of what was run, as they are numbered now."""
        if not self.editing:
            return {line: line for line in range(1, len(self._ran) + 1)}
        return shifted(self._ran, self.toPlainText().rstrip("\n").split("\n"))

    def _follow(self) -> None:
        """Put notes and lights to the lines that they are about, and errors over notes."""
        where = self._where()
        notes = moved(self._ran_notes, where)
        self._notes = {**notes, **{line: (said, said) for line, said in self.errors.items()}}
        self._light_quietly(frozenset(where[n] for n in self._ran_lit if n in where))
        self._lay_out()

    def _light_quietly(self, lines: frozenset[int]) -> None:
        self.lit = lines
        self._select()

    def _select(self) -> None:
        """Errors are underlined as well."""
        super()._select()
        wave = QTextCharFormat()
        wave.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        wave.setUnderlineColor(self._theme.look.color("bad"))
        made = self.extraSelections()
        for line in self.errors:
            cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            cursor.movePosition(QTextCursor.MoveOperation.NextWord)
            if cursor.blockNumber() != line - 1 or not cursor.block().text()[:1].isspace():
                cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
            cursor.movePosition(
                QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
            )
            selection = QTextEdit.ExtraSelection()
            selection.cursor, selection.format = cursor, wave
            made.append(selection)
        self.setExtraSelections(made)

    @property
    def written(self) -> int:
        """The line of the cursor, 0 while nobody writes."""
        return self._row() if self.editing and self.hasFocus() else 0

    def tip(self, line: int) -> str:
        """Of an error all that the compiler says."""
        return self.errors.get(line) or super().tip(self.as_run(line))

    def as_run(self, line: int) -> int:
        """The number of a line in what was run, before it was edited."""
        return next((ran for ran, now in self._where().items() if now == line), 0)

    def note_ink(self, line: int) -> str:
        """Errors are told in the colour of errors."""
        return "bad" if line in self.errors else super().note_ink(line)

    def _put(self, text: str) -> None:
        """Another text, which nobody typed."""
        self._last = text
        if text == self.toPlainText():
            return
        self._quiet = True
        self._highlighter.read(text)
        self.setPlainText(text)
        self._quiet, self._last = False, text

    def _replace(self, text: str) -> None:
        """Another text, as if it were typed: it can be undone."""
        self._quiet = True
        at = self.textCursor().position()
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.setPosition(min(at, len(text)))
        self.setTextCursor(cursor)
        self._quiet, self._last = False, text
        self._follow()

    def _change(self) -> None:
        """Colours change it, too, as Qt has it: what counts is the text."""
        if self._quiet or not self.editing or (text := self.toPlainText()) == self._last:
            return
        where = shifted(self._last.split("\n"), text.split("\n"))
        self.errors = moved(self.errors, where)
        self._last = text
        self._follow()
        self.typed.emit(text)

    def _row(self) -> int:
        return self.textCursor().blockNumber() + 1

    def event(self, event: QEvent) -> bool:
        """Ctrl+S is the editor's while it is written in; some keys stay the window's."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            keys = QKeySequence(event.keyCombination())
            if self.editing and (keys == _SAVE or event.key() == Qt.Key.Key_Escape):
                event.accept()
                return True
            if keys in _THE_WINDOWS:
                event.ignore()
                return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Tab, Return, a step back and a closing brace know about indentation."""
        if not self.editing:
            super().keyPressEvent(event)
            return
        key = event.key()
        if QKeySequence(event.keyCombination()) == _SAVE:
            self.save_asked.emit()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key == Qt.Key.Key_Backtab:
            self._change_lines(editing.outdented)
        elif key == Qt.Key.Key_Tab and not event.modifiers():
            self._tab()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self._break_line()
        elif key == Qt.Key.Key_Backspace and not event.modifiers() and self._step_back():
            pass
        elif event.text() == "}" and not self._before().strip():
            self._close()
        else:
            super().keyPressEvent(event)

    def _before(self) -> str:
        """The line up to the cursor."""
        cursor = self.textCursor()
        return cursor.block().text()[: cursor.positionInBlock()]

    def _tab(self) -> None:
        cursor = self.textCursor()
        if cursor.hasSelection() and "\u2029" in cursor.selectedText():
            self._change_lines(editing.indented)
        else:
            cursor.insertText(editing.to_next_stop(len(self._before().expandtabs(4))))

    def _break_line(self) -> None:
        cursor = self.textCursor()
        after = cursor.block().text()[cursor.positionInBlock() :]
        cursor.insertText("\n" + editing.next_indent(self._before(), after))
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _step_back(self) -> bool:
        """Take back a whole step of indentation; False where there is none before the cursor."""
        cursor, many = self.textCursor(), editing.before_stop(self._before())
        if cursor.hasSelection() or many < 2:
            return False
        for _ in range(many):
            cursor.movePosition(
                QTextCursor.MoveOperation.PreviousCharacter, QTextCursor.MoveMode.KeepAnchor
            )
        cursor.removeSelectedText()
        return True

    def _close(self) -> None:
        """A brace that closes a block stands one step further out."""
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.StartOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(editing.outdented(self._before()) + "}")

    def _change_lines(self, change: Callable[[str], str]) -> None:
        """Change all lines of the selection, or that of the cursor; one thing to undo."""
        cursor = self.textCursor()
        document = self.document()
        first = document.findBlock(cursor.selectionStart()).blockNumber()
        last = document.findBlock(max(cursor.selectionEnd() - 1, cursor.selectionStart()))
        cursor.beginEditBlock()
        for number in range(first, last.blockNumber() + 1):
            block = document.findBlockByNumber(number)
            line = QTextCursor(block)
            line.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
            line.insertText(change(block.text()))
        cursor.endEditBlock()
