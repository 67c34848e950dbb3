"""The lessons in course order, by chapter, with thumbnails."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QResizeEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpuviz.course import LessonEntry
from gpuviz.draw.stage import Stage
from gpuviz.qt.controls.controls import keep_arrows, plain_tip, timer
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.painting.painter import to_image
from gpuviz.qt.running.activity import InThread
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.worker import Job, Perform, Performer
from gpuviz.story.exhibit import Variant
from gpuviz.story.lesson import Story
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.qt.look.theme import Look
    from gpuviz.story.lesson import Lesson
    from gpuviz.story.perform import Performance


LESSON_ROLE = Qt.ItemDataRole.UserRole + 1
PICTURE = (48, 27)
ROW, CHAPTER = 38, 34
LINES = 3  # that a title may take
Index = QModelIndex | QPersistentModelIndex


class LessonList(QListView):
    """Choose a lesson with the arrow keys or a click."""

    chosen = Signal(LessonEntry)  # the lesson chosen by the user

    def __init__(self, lessons: Sequence[LessonEntry], theme: Theme) -> None:
        super().__init__()
        self._lessons = {lesson.id: lesson for lesson in lessons}
        self._rows: dict[str, int] = {}
        self._theme = theme
        self.setAccessibleName(tr("Lessons"))
        self.setModel(self._filled(lessons))
        self._delegate = _Delegate(theme, self)
        self.setItemDelegate(self._delegate)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.selectionModel().currentChanged.connect(self._choose)
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        keep_arrows(self)

    def show_pictures(self, thumbnails: Thumbnails) -> None:
        """Show these beside the titles, as they come."""
        self._delegate.thumbnails = thumbnails
        thumbnails.ready.connect(lambda id: self.viewport().update())

    def show_lesson(self, lesson: Lesson) -> None:
        """Mark the lesson that is shown."""
        index = self.model().index(self._rows[lesson.id], 0)
        if self.currentIndex() != index:
            self.setCurrentIndex(index)
        self.scrollTo(index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In another width titles have other lines; Qt would keep the rows where they are."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.scheduleDelayedItemsLayout()

    def sizeHint(self) -> QSize:
        """Wide enough for the thumbnails and most titles."""
        return QSize(self._theme.look.px(220), 400)

    def minimumSizeHint(self) -> QSize:
        """Enough for the first words of a title."""
        return QSize(self._theme.look.px(170), 100)

    def add(self, lesson: LessonEntry) -> None:
        """One more lesson, at the end of the last chapter if that is its own."""
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        if tr(lesson.chapter) not in (model.item(row).text() for row in range(model.rowCount())):
            model.appendRow(_heading(tr(lesson.chapter)))
        self._lessons[lesson.id] = lesson
        self._rows[lesson.id] = model.rowCount()
        model.appendRow(_Item(lesson))

    def rename(self, lesson: LessonEntry) -> None:
        """Another title."""
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        self._lessons[lesson.id] = lesson
        model.setItem(self._rows[lesson.id], _Item(lesson))

    def remove(self, id: str) -> None:
        """One lesson less, and its chapter when there is nothing else in it."""
        model = self.model()
        assert isinstance(model, QStandardItemModel)
        row = self._rows.pop(id)
        del self._lessons[id]
        model.removeRow(row)
        last = row == model.rowCount() or not model.index(row, 0).data(LESSON_ROLE)
        if last and not model.index(row - 1, 0).data(LESSON_ROLE):
            model.removeRow(row - 1)
        rows = ((r, model.index(r, 0).data(LESSON_ROLE)) for r in range(model.rowCount()))
        self._rows = {found: r for r, found in rows if found}

    def _filled(self, lessons: Sequence[LessonEntry]) -> QStandardItemModel:
        model = QStandardItemModel(self)
        chapter = ""
        for lesson in lessons:
            if lesson.chapter != chapter:
                chapter = lesson.chapter
                model.appendRow(_heading(tr(lesson.chapter)))
            self._rows[lesson.id] = model.rowCount()
            model.appendRow(_Item(lesson))
        return model

    def _choose(self, index: QModelIndex) -> None:
        if id := index.data(LESSON_ROLE):
            self.chosen.emit(self._lessons[id])


def _heading(chapter: str) -> QStandardItem:
    made = QStandardItem(chapter)
    made.setFlags(Qt.ItemFlag.NoItemFlags)
    return made


class _Item(QStandardItem):
    """A lesson, which is opened to say what to look for in it."""

    def __init__(self, lesson: LessonEntry) -> None:
        super().__init__(tr(lesson.title))
        self._lesson = lesson
        self.setData(lesson.id, LESSON_ROLE)
        self.setEditable(False)

    def data(self, role: int = Qt.ItemDataRole.UserRole + 1) -> object:
        """What is shown of it, and what is said."""
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            said = tr(self._lesson.open().look_for)
            return plain_tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        return super().data(role)


class _Delegate(QStyledItemDelegate):
    """Paints a chapter as a heading, a lesson as thumbnail and title."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.thumbnails: Thumbnails | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Chapters are a little lower than lessons; a long title makes its row higher."""
        look = self._theme.look
        if not index.data(LESSON_ROLE):
            return QSize(80, look.px(CHAPTER))
        measure = QFontMetrics(look.font(13, bold=True))
        title = in_lines(str(index.data()), measure, self._room(option))
        return QSize(80, max(look.px(ROW), measure.height() * (title.count("\n") + 1) + look.px(6)))

    def _room(self, option: QStyleOptionViewItem) -> int:
        """Width of a title: what the margins and the thumbnail leave."""
        view, look = option.widget, self._theme.look
        width = view.viewport().width() if isinstance(view, QListView) else option.rect.width()
        return int(width - 2 * look.px(8) - look.px(16) - look.px(PICTURE[0]) - look.px(6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """One row."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(LESSON_ROLE):
            self._lesson(painter, option, index)
        else:
            self._chapter(painter, option, index)
        painter.restore()

    def _chapter(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = self._theme.look
        painter.setFont(look.font(11.5, bold=True))
        painter.setPen(look.color("muted"))
        rect = option.rect.adjusted(look.px(14), 0, -4, -look.px(5))
        painter.drawText(rect, Qt.AlignmentFlag.AlignBottom, str(index.data()).upper())

    def _lesson(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        look = self._theme.look
        rect = QRectF(option.rect).adjusted(look.px(8), 1, -look.px(8), -1)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        _ground(painter, look, option, rect, chosen)
        width, height = look.px(PICTURE[0]), look.px(PICTURE[1])
        frame = QRectF(rect.left() + look.px(8), rect.center().y() - height / 2, width, height)
        self._picture(painter, frame, index.data(LESSON_ROLE))
        painter.setFont(look.font(13, bold=chosen))
        painter.setPen(look.color("ink" if chosen else "ink", 1.0 if chosen else 0.85))
        text = rect.adjusted(look.px(16) + width, 0, -look.px(6), 0)
        measure = QFontMetrics(look.font(13, bold=True))
        title = in_lines(str(index.data()), measure, self._room(option))
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, title)

    def _picture(self, painter: QPainter, frame: QRectF, id: str) -> None:
        look = self._theme.look
        ratio = painter.device().devicePixelRatio()
        size = (frame.size() * ratio).toSize()
        picture = self.thumbnails.picture(id, size) if self.thumbnails is not None else None
        shape = QPainterPath()
        shape.addRoundedRect(frame, 3, 3)
        painter.fillPath(shape, look.color("ground"))
        if picture is not None:
            painter.save()
            painter.setClipPath(shape)
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(frame, picture, QRectF(picture.rect()))
            painter.restore()
        painter.setPen(QPen(look.blend("border", "panel", 0.3), 1))
        painter.drawPath(shape)


def in_lines(text: str, measure: QFontMetrics, width: int, most: int = LINES) -> str:
    """A text broken between words to at most so many lines of a width, the last one cut."""
    if measure.horizontalAdvance(text) <= width:
        return text  # elidedText may cut a text that just fits
    if most == 1:
        return measure.elidedText(text, Qt.TextElideMode.ElideRight, width)
    words = text.split()
    fitting = [
        n for n in range(1, len(words)) if measure.horizontalAdvance(" ".join(words[:n])) <= width
    ]
    if not fitting:
        return measure.elidedText(text, Qt.TextElideMode.ElideRight, width)
    first, rest = " ".join(words[: fitting[-1]]), " ".join(words[fitting[-1] :])
    return f"{first}\n{in_lines(rest, measure, width, most - 1)}"


def _ground(
    painter: QPainter, look: Look, option: QStyleOptionViewItem, rect: QRectF, chosen: bool
) -> None:
    """What lies under a lesson: the selection, the pointer, the focus."""
    shape = QPainterPath()
    shape.addRoundedRect(rect, 5, 5)
    if chosen:
        painter.fillPath(shape, look.blend("accent_soft", "panel", 0.35))
        painter.fillRect(
            QRectF(rect.left(), rect.top() + 4, 3, rect.height() - 8), look.color("accent")
        )
    elif option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillPath(shape, look.color("cell"))
    if chosen and option.state & QStyle.StateFlag.State_HasFocus:
        painter.setPen(QPen(look.color("accent"), 1.2))
        painter.drawPath(shape)


TAKEN_FROM = QSize(720, 405)  # the stage a thumbnail is taken from
LARGEST = 5  # device pixels for each of a thumbnail's own: large letters on a fine screen
MOMENT = 0.6  # share of the story at which it is taken
IDLE_MS = 400


def thumbnail(story: Story, palette_of: Theme) -> QImage:
    """A story's picture, made small."""
    stage = Stage(TAKEN_FROM.width(), TAKEN_FROM.height(), palette_of.look.palette)
    return _scaled(to_image(story.frame(MOMENT * story.duration, stage)), QSize(*PICTURE) * LARGEST)


def _scaled(image: QImage, size: QSize) -> QImage:
    return image.scaled(
        size,
        Qt.AspectRatioMode.KeepAspectRatioByExpanding,
        Qt.TransformationMode.SmoothTransformation,
    )


class Thumbnails(QObject):
    """Performs one lesson after the other while the director rests; draws and keeps a picture of
    each, in a thread.

    Their stories would hold all that was run for them.
    """

    ready = Signal(str)  # id of a lesson whose thumbnail is new

    def __init__(
        self,
        lessons: Sequence[LessonEntry],
        perform: Perform,
        core: Core,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        director, theme = core.director, core.theme
        self._view, self._theme, self._director = core.view, theme, director
        self._lessons, self._waiting = lessons, list(lessons)
        self._made: dict[str, QImage] = {}
        self._pictures: dict[str, QPixmap] = {}
        self._newest: tuple[Job, Story] | None = None  # told, but not drawn yet
        self._drawing = InThread(self._land, self)
        self._performer = Performer(perform, self)
        self._performer.performed.connect(self._take)
        self._performer.failed.connect(self._skip)
        self._timer = timer(self, IDLE_MS, self._next)
        director.performer.started.connect(self._yield)
        director.performer.performed.connect(self._take)
        director.performer.rested.connect(self._timer.start)
        theme.changed.connect(self._repaint)

    def picture(self, id: str, size: QSize) -> QPixmap | None:
        """A lesson's thumbnail in at least this many device pixels, None while there is none."""
        made, kept = self._made.get(id), self._pictures.get(id)
        if made is not None and (kept is None or kept.width() < size.width()):
            kept = self._pictures[id] = QPixmap.fromImage(_scaled(made, size))
        return kept

    def close(self) -> None:
        """Stop what is under way."""
        self._timer.stop()
        self._waiting.clear()
        self._drawing.forget()
        self._performer.close()

    def _yield(self, job: Job) -> None:
        """The user's own run goes first."""
        self._timer.stop()
        self._performer.cancel()

    def _next(self) -> None:
        if self._performer.busy or self._director.performer.busy:
            return
        if self._newest is not None:
            (job, story), self._newest = self._newest, None
            self._drawing.ask(partial(thumbnail, story, self._theme), job)
        elif self._waiting:
            lesson = self._waiting[0].open()
            view = self._view.now
            self._performer.ask(Job((Variant(lesson, lesson.defaults(), view.arch, view.level),)))

    def _take(self, job: Job, performances: tuple[Performance, ...]) -> None:
        """It is drawn in idle time, too: while a value is dragged there is another story soon."""
        self._performer.forget()
        self._newest = job, performances[0].story
        if not self._director.performer.busy:
            self._timer.start()

    def _land(self, job: Job, made: object) -> None:
        """The stage reports a picture that cannot be made."""
        self._skip(job)
        if isinstance(made, QImage):
            self._made[job.lesson.id] = made
            self._pictures.pop(job.lesson.id, None)
            self.ready.emit(job.lesson.id)

    def _skip(self, job: Job, *_: object) -> None:
        self._waiting = [one for one in self._waiting if one.id != job.lesson.id]
        if not self._director.performer.busy:
            self._timer.start()

    def _repaint(self) -> None:
        """In other colours, as they come."""
        self._waiting = list(self._lessons)
        self._timer.start()
