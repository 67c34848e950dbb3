"""A form for a slide of words: its title, its Markdown, and beside it the slide as it will be."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QPlainTextEdit,
    QWidget,
)

from gpuviz.base.errors import Error
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures.lecture import Slide
from gpuviz.lectures.markdown.files import SUFFIXES
from gpuviz.lectures.markdown.formulas import trouble
from gpuviz.lectures.picture import SlideState
from gpuviz.lectures.slide_fields import slide_of
from gpuviz.qt.controls.controls import Switch, answers, button, label, show_words, text_line, timer
from gpuviz.qt.controls.layouts import DIALOG, FlowLayout, column_of, row_of
from gpuviz.qt.lecture.slide_dialog import as_value
from gpuviz.qt.lecture.slide_picture import SlidePicture
from gpuviz.qt.look.theme import Theme
from gpuviz.words.language import later, tr

_REST_MS = 150  # after a letter, before the slide is drawn anew


@dataclass(frozen=True)
class Sign:
    """What a button writes around the words chosen, in place of which there is an example."""

    face: str
    name: str
    before: str
    after: str
    example: str
    key: str = ""


_SIGNS = (
    Sign("B", later("bold"), "**", "**", later("important"), "Ctrl+B"),
    Sign("I", later("stressed"), "*", "*", later("stressed"), "Ctrl+I"),
    Sign("#", later("heading"), "\n## ", "\n", later("heading")),
    Sign("•", later("list"), "\n- ", "\n- ", later("first")),
    Sign("x", later("name in code"), "`", "`", "stride"),
    Sign("{ }", later("lines of code"), "\n```cuda\n", "\n```\n", "y[i] = x[i * stride];"),
    Sign("∑", later("formula"), "\n$$", "$$\n", r"\frac{\text{bytes used}}{\text{bytes moved}}"),
)


class SlideWordsDialog(QDialog):
    """Accepts whatever is written: what of it cannot be shown is told below.

    Pictures and other files are looked for in `folder`; `take` makes a file one of the lecture's,
    and says by which name.
    """

    def __init__(
        self, slide: Slide, folder: Path, take: Callable[[Path], str], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._slide, self._reach, self._take = slide, Reach(folder), take
        self.ask_picture: Callable[[], Path | None] = self._ask_picture
        self.setWindowTitle(tr("Slide: {name}", name=slide.name))
        self.title = text_line(tr("Title"), slide.title, tr("title"))
        share = tr("How long it is meant to take; empty: its share of the lecture")
        minutes = f"{slide.minutes:g}" if slide.minutes else ""
        self.minutes = text_line(tr("Minutes"), minutes, tr("minutes"), share)
        self.words = QPlainTextEdit(slide.words)
        self.words.setAccessibleName(tr("Words"))
        self.words.setProperty("role", "field")
        self.words.setTabChangesFocus(True)
        self.markdown = Switch("Markdown", theme)
        self.markdown.setChecked(slide.markdown)
        self.preview = SlidePicture(tr("The slide"))
        self.problem = label("", "problem", wraps=True)
        self.buttons = answers(self, tr("Done"))
        self._rest = timer(self, _REST_MS, self.refresh)
        self._signs = [self._button(sign) for sign in _SIGNS]
        self.picture = button("▨ …", tr("picture …"), "chip", tr("picture …"))
        self.picture.setAutoDefault(False)
        self.picture.clicked.connect(self._insert_picture)
        self._lay_out(theme)
        for text in (self.title, self.minutes):
            text.textChanged.connect(self._rest.start)
        self.words.textChanged.connect(self._rest.start)
        self.markdown.toggled.connect(self.refresh)
        self.words.setFocus()
        self.refresh()

    def slide(self) -> Slide:
        """The slide as filled in; what has no field (notes, ink, the time it took) as before."""
        made, _ = slide_of(self._plain(), self._reach)
        kept = self._slide
        made = replace(made, notes=kept.notes, ink=kept.ink, taken=kept.taken)
        return replace(made, problems=(), raw=kept.raw)

    def refresh(self) -> None:
        """Draw the slide as it is written now, and say what of it cannot be shown."""
        self._rest.stop()
        made, faults = slide_of(self._plain(), self._reach)
        told = [fault.text for fault in faults]
        if made.markdown:
            told += trouble(made.words)
        show_words(self.problem, "\n".join(f"▲ {text}" for text in told))
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(bool(made.title or made.words))
        for each in (*self._signs, self.picture):
            each.setEnabled(made.markdown)
        self.preview.show_slide(SlideState(made))

    def _plain(self) -> dict[str, Any]:
        """What is filled in, as a file would have it."""
        plain = {
            "title": self.title.text().strip(),
            "words": self.words.toPlainText().strip("\n"),
            "markdown": self.markdown.isChecked(),
            "minutes": as_value(self.minutes.text().strip()),
        }
        return {key: value for key, value in plain.items() if value}

    def _button(self, sign: Sign) -> QWidget:
        name = tr(sign.name)
        made = button(sign.face, name, "chip", f"{name}  ({sign.key})" if sign.key else name)
        made.setAutoDefault(False)
        made.clicked.connect(lambda: self._write(sign))
        if sign.key:
            QShortcut(QKeySequence(sign.key), self.words, made.click)
        return made

    def _write(self, sign: Sign) -> None:
        """The sign around what is chosen; what was there in its place stays chosen, to be typed
        over.
        """
        cursor, before = self.words.textCursor(), sign.before
        if before.startswith("\n") and cursor.block().text() == "":
            before = before[1:]  # the line is its own already
        start, inner = cursor.selectionStart(), cursor.selectedText().replace("\u2029", "\n")
        inner = inner or tr(sign.example)
        cursor.insertText(before + inner + sign.after)
        cursor.setPosition(start + len(before))
        cursor.setPosition(start + len(before) + len(inner), QTextCursor.MoveMode.KeepAnchor)
        self.words.setTextCursor(cursor)
        self.words.setFocus()

    def _insert_picture(self) -> None:
        """A picture of the user's becomes one of the lecture's."""
        file = self.ask_picture()
        if file is None:
            return
        try:
            name = self._take(file)
        except Error as error:
            show_words(self.problem, str(error), "▲ ")
            return
        told = f"<{name}>" if " " in name else name
        cursor = self.words.textCursor()
        cursor.insertText(f"\n![{file.stem}]({told})\n")
        self.words.setFocus()

    def _ask_picture(self) -> Path | None:
        kinds = " ".join(f"*{suffix}" for suffix in SUFFIXES)
        found, _ = QFileDialog.getOpenFileName(
            self, tr("A picture for the slide"), "", f"{tr('Pictures')} ({kinds})"
        )
        return Path(found) if found else None

    def _lay_out(self, theme: Theme) -> None:
        signs = FlowLayout(4)
        for each in (*self._signs, self.picture):
            signs.addWidget(each)
        top = row_of((signs, 1), label("Markdown", "quiet"), self.markdown)
        self.minutes.setFixedWidth(theme.look.px(90))
        seen = label(tr("as the class will see it"), "quiet")
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        grid.addLayout(row_of((self.title, 1), self.minutes), 0, 0)
        grid.addLayout(top, 1, 0)
        grid.addWidget(self.words, 2, 0)
        grid.addLayout(column_of(self.preview, seen, 1), 0, 1, 3, 1)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        column_of((grid, 1), self.problem, self.buttons, on=self, gap=10, margins=DIALOG)
        self.resize(theme.look.px(1080), theme.look.px(520))
