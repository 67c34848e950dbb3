"""The lecture's slides: chosen, ordered, duplicated; their notes written."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QKeySequence, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
)

from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.pace import beside, clock, planned
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.controls import (
    ElidedLabel,
    button,
    keep_arrows,
    keep_space,
    plain_tip,
    text_line,
)
from gpuviz.qt.controls.layouts import FlowLayout, column_of
from gpuviz.qt.lecture.document import Document
from gpuviz.qt.lecture.slide_thumbnails import SIZE
from gpuviz.words.language import later, tr, trn

# What the buttons below the slides do, and what is written on them.
_BUTTONS = {
    "lecture.add": later("+ view"),
    "lecture.words": later("+ words"),
    "lecture.update": later("set view"),
    "lecture.edit": later("edit …"),
    "lecture.duplicate": later("copy"),
    "lecture.up": "↑",
    "lecture.down": "↓",
    "lecture.remove": "×",
}
_PICTURE = Qt.ItemDataRole.UserRole  # which one an item shows
_LONGEST = 90  # letters of a problem in the list


class LecturePane(QFrame):
    """Follows the document."""

    looked_at = Signal(int)  # the number of a slide that the user chose

    def __init__(self, document: Document, actions: Actions) -> None:
        super().__init__()
        self._document = document
        self._showing = False
        self.title = text_line(tr("Title of the lecture"))
        self.title.textEdited.connect(document.retitle)
        self.state = ElidedLabel("quiet")
        self.list = _Slides(document)
        self.list.currentRowChanged.connect(self._choose)
        self.notes = QPlainTextEdit()
        self.notes.setProperty("role", "field")
        self.notes.setAccessibleName(tr("Notes of the slide"))
        self.notes.setPlaceholderText(tr("Notes for the speaker"))
        self.notes.setTabChangesFocus(True)
        self.notes.textChanged.connect(self._note)
        for widget in (self, self.list):
            widget.installEventFilter(self)
        self._lay_out(actions)
        document.changed.connect(self.refresh)
        document.chosen.connect(self.select)
        self.refresh()

    @property
    def slide(self) -> int:
        """The number of the slide chosen, -1 for none."""
        return self.list.currentRow()

    def select(self, number: int) -> None:
        """Choose a slide."""
        self.list.setCurrentRow(min(number, self.list.count() - 1))

    def show_pictures(self, picture: Callable[[Slide], QPixmap | None]) -> None:
        """Beside the names of slides stand their pictures, as far as there are any."""
        self.list.picture = picture
        self.list.fill(self._document.lecture or Lecture(""))

    def refresh(self) -> None:
        """Show the lecture as it is."""
        lecture = self._document.lecture or Lecture("")
        self._showing = True
        if self.title.text() != lecture.title:
            self.title.setText(lecture.title)
            self.title.setCursorPosition(0)  # a long one is cut at its end
        self.state.say(_state(self._document))
        row = self.slide
        self.list.fill(lecture)
        self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
        self._showing = False
        self._show_notes()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Undo and redo are the lecture's while the slides have the focus."""
        if isinstance(event, QKeyEvent) and event.type() in (
            QEvent.Type.ShortcutOverride,
            QEvent.Type.KeyPress,
        ):
            undo = event.matches(QKeySequence.StandardKey.Undo)
            redo = event.matches(QKeySequence.StandardKey.Redo)
            if undo or redo:
                if event.type() == QEvent.Type.KeyPress:
                    (self._document.undo if undo else self._document.redo)()
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _choose(self, row: int) -> None:
        if not self._showing and row >= 0:
            self._show_notes()
            self.looked_at.emit(row)

    def _current(self) -> Slide | None:
        lecture = self._document.lecture
        if lecture is None or not 0 <= self.slide < len(lecture.slides):
            return None
        return lecture.slides[self.slide]

    def _show_notes(self) -> None:
        slide = self._current()
        self.notes.setEnabled(slide is not None)
        text = slide.notes if slide is not None else ""
        if _text(self.notes).strip("\n") != text:
            self._showing = True
            self.notes.setPlainText(text)
            self._showing = False

    def _note(self) -> None:
        """Notes are the slide's as they are typed."""
        if self._showing or self._current() is None:
            return
        text = _text(self.notes).strip("\n")
        self._document.change(
            lambda lecture: lecture.change(self.slide, lambda slide: replace(slide, notes=text)),
            typing=f"notes {self.slide}",
        )

    def _lay_out(self, actions: Actions) -> None:
        chips = FlowLayout(4)
        for id in _BUTTONS:
            action = actions[id]
            made = button(tr(_BUTTONS[id]), action.text(), "chip", _tip(actions, id))
            made.setAutoRepeat(id in ("lecture.up", "lecture.down"))
            made.clicked.connect(action.trigger)
            action.changed.connect(
                lambda made=made, action=action: made.setEnabled(action.isEnabled())
            )
            keep_space(made)
            chips.addWidget(made)
        parts = self.title, self.state, (self.list, 3), chips, (self.notes, 1)
        column_of(*parts, on=self, gap=6, margins=(8, 8, 8, 8))


class _Slides(QListWidget):
    """The slides by number and name; dragging one moves it."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.picture: Callable[[Slide], QPixmap | None] = lambda slide: None
        self._empty = QPixmap(SIZE)
        self._empty.fill(Qt.GlobalColor.transparent)
        self.setIconSize(SIZE)
        self.setAccessibleName(tr("Slides"))
        self.setWordWrap(True)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSpacing(1)
        self.model().rowsMoved.connect(self._move)
        keep_arrows(self)

    def fill(self, lecture: Lecture) -> None:
        """Show the slides of a lecture."""
        self.blockSignals(True)
        names = [
            (f"{_name(n, slide)}   {beside(slide.taken, plan)}".rstrip(), _about(slide), slide)
            for n, (slide, plan) in enumerate(zip(lecture.slides, planned(lecture), strict=True), 1)
        ]
        while self.count() > len(names):
            self.takeItem(self.count() - 1)
        for row, (name, about, slide) in enumerate(names):
            if row == self.count():
                self.addItem(QListWidgetItem())
            item = self.item(row)
            item.setText(name)
            picture = self.picture(slide) or self._empty
            if item.data(_PICTURE) != picture.cacheKey():
                icon = QIcon(picture)
                icon.addPixmap(picture, QIcon.Mode.Selected)  # which would be tinted
                item.setIcon(icon)
                item.setData(_PICTURE, picture.cacheKey())
            item.setToolTip(plain_tip(about))
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, about)
        self.blockSignals(False)

    def _move(
        self, parent: QModelIndex, start: int, end: int, target: QModelIndex, row: int
    ) -> None:
        """A slide was dragged: the document moves it, and the list is filled from there."""
        to = row if row < start else row - 1
        self._document.change(lambda lecture: lecture.move(start, to), to)


def _text(edit: QPlainTextEdit) -> str:
    """What was written, with the spaces that `toPlainText` makes others."""
    return edit.document().toRawText().replace("\u2029", "\n").replace("\u2028", "\n")


def _name(number: int, slide: Slide) -> str:
    """What the list says of a slide: a question mark for a question, a sign for a problem."""
    name = slide.name if len(slide.name) <= _LONGEST else slide.name[: _LONGEST - 1] + "…"
    signs = " ?" * (slide.question is not None) + " ▲" * bool(slide.problems)
    return f"{number}  {name}{signs}"


def _about(slide: Slide) -> str:
    """The problems of a slide, or what it shows."""
    if slide.problems:
        return "\n".join(map(str, slide.problems))
    return slide.view.words() if slide.view is not None else slide.words


def _state(document: Document) -> str:
    """How many slides there are, how long it takes, and whether it is saved."""
    lecture = document.lecture
    if lecture is None:
        return tr("no lecture is open")
    parts = [tr("not saved")] if document.dirty else []
    parts.append(trn("{n} slide", "{n} slides", len(lecture.slides)))
    if lecture.minutes:
        parts.append(tr("{n:g} min", n=lecture.minutes))
    if taken := sum(slide.taken for slide in lecture.slides):
        parts.append(tr("rehearsed in {time}", time=clock(taken)))
    if lecture.all_problems:
        parts.append(trn("{n} problem", "{n} problems", len(lecture.all_problems)))
    if document.path is not None:
        parts.append(document.path.name)
    return " · ".join(parts)


def _tip(actions: Actions, id: str) -> str:
    action = actions[id]
    keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    return f"{action.text()}  ({keys})" if keys else action.text()
