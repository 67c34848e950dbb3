"""What everything in the window follows: the lessons, the view shown, how it is run and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.course import LessonEntry
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.preferences import preferences
from gpuviz.qt.preferences.preferences import Motion
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.view_store import ViewStore
from gpuviz.views.state import ViewState

if TYPE_CHECKING:
    from gpuviz.qt.preferences.settings import Settings
    from gpuviz.qt.running.view_store import ViewStore
    from gpuviz.story.lesson import Lesson


_NAMES = "own_names"  # of users' kernels, in the settings


class Course(QObject):
    """Opens lessons, and keeps the values of both sides."""

    # A lesson made of a user's own kernel, among the others from now on.
    added = Signal(LessonEntry)
    renamed = Signal(LessonEntry)  # such a lesson under another name
    removed = Signal(str)  # the id of such a lesson, which is no longer there

    def __init__(self, lessons: Sequence[LessonEntry], view: ViewStore, settings: Settings) -> None:
        super().__init__(view)
        self.lessons = tuple(lessons)
        self._view, self._settings = view, settings
        self._titles: dict[str, str] = {}  # of users' kernels, as they are called by themselves

    def open(self, listed: LessonEntry) -> None:
        """Show a lesson, unless it is shown already; a user's kernel as it was launched last."""
        lesson = (self._known(listed.id) or listed).open()
        if lesson is not self._view.now.lesson:
            self.keep_values()
            self.show(lesson)

    def open_any(self, lesson: Lesson) -> None:
        """Show a lesson that may be new here (`enlist`)."""
        self.open(self.enlist(lesson))

    def enlist(self, lesson: Lesson) -> LessonEntry:
        """A lesson that may be new here: a user's kernel becomes one like the others, or is
        launched in another way.
        """
        self._titles.setdefault(lesson.id, lesson.title)
        listed, known = LessonEntry.of(self._named(lesson)), self._known(lesson.id)
        if known is None:
            self.lessons += (listed,)
            self.added.emit(listed)
        elif dict(known.open().launch) != dict(lesson.launch):
            self._replace(known, listed)
        else:
            return known
        return listed

    def rename(self, id: str, name: str) -> None:
        """Call a user's kernel by another name, or without one as it is called by itself."""
        known = self._known(id)
        if known is None or not known.open().launch:
            return
        self._settings.keep(f"{_NAMES}/{id}", name.strip())
        plain = replace(known.open(), title=self._titles[id])
        listed = LessonEntry.of(self._named(plain))
        self._replace(known, listed)
        self.renamed.emit(listed)
        if self._view.now.lesson.id == id:
            self.show(listed.open())

    def remove(self, id: str) -> None:
        """Take a user's kernel off the list; what is beside it is shown instead."""
        known = self._known(id)
        if known is None or not known.open().launch:
            return
        if self._view.now.lesson.id == id:
            at = self.lessons.index(known)
            self.open(self.lessons[at - 1 if at else 1])
        self.lessons = tuple(one for one in self.lessons if one is not known)
        self.removed.emit(id)

    def _known(self, id: str) -> LessonEntry | None:
        return next((one for one in self.lessons if one.id == id), None)

    def _replace(self, known: LessonEntry, listed: LessonEntry) -> None:
        self.lessons = tuple(listed if one is known else one for one in self.lessons)

    def _named(self, lesson: Lesson) -> Lesson:
        """A user's kernel as its user calls it."""
        name = self._settings.text(f"{_NAMES}/{lesson.id}", "") if lesson.launch else ""
        return replace(lesson, title=name) if name else lesson

    def open_neighbour(self, way: int) -> None:
        """The lesson so many behind the one shown, if there is one."""
        shown = self._view.now.lesson.id
        index = [one.id for one in self.lessons].index(shown) + way
        if 0 <= index < len(self.lessons):
            self.open(self.lessons[index])

    def open_first(self) -> None:
        """The first lesson alone as it is at first, whatever was remembered of it."""
        self.open(self.lessons[0])
        lesson = self._view.now.lesson
        self._view.set(values=lesson.defaults(), compared=False)

    def show(self, lesson: Lesson) -> None:
        """Show a lesson, both sides as they were left."""
        values, beside = (self._settings.values(lesson, side) for side in ("values", "compared"))
        self._view.become(self._view.now.opened(lesson, values, beside))

    def keep_values(self) -> None:
        """Keep the values of the lesson shown."""
        view = self._view.now
        self._settings.keep_values(view.lesson, view.values)
        if view.compare_lesson is None:
            self._settings.keep_values(view.lesson, view.compare_values, "compared")


if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from gpuviz.course import LessonEntry
    from gpuviz.qt.preferences.settings import Settings
    from gpuviz.qt.running.worker import Perform
    from gpuviz.run.session import Session
    from gpuviz.story.sources import Sources


@dataclass(frozen=True, eq=False)
class Core:
    """One of each for a window; `settings` are kept from start to start, `session` is not."""

    settings: Settings
    session: Session
    theme: Theme
    view: ViewStore
    player: Player
    motion: Motion
    director: Director
    course: Course
    meter: Meter


def as_left(
    settings: Settings,
    session: Session,
    lessons: Sequence[LessonEntry],
    perform: Perform,
    sources: Sources,
    parent: QObject,
) -> Core:
    """Everything as it was left at the last start. Nothing is run until the director is let go."""
    ids = [lesson.id for lesson in lessons]
    lesson = lessons[ids.index(settings.text("lesson", ids[0], ids))].open()
    view = ViewStore(ViewState(lesson, lesson.defaults()), parent)
    player = Player(parent)
    core = Core(
        settings,
        session,
        Theme(parent=parent),
        view,
        player,
        Motion(player),
        Director(player, view, perform, session, parent),
        Course(lessons, view, settings),
        Meter(sources, parent),
    )
    preferences.restore(core)
    core.course.show(lesson)
    return core
