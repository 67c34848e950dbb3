"""What everything in the window follows: the view shown, how it is run, measured and looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpuviz.qt.look.theme import Theme
from gpuviz.qt.playing.player import Player
from gpuviz.qt.preferences import preferences
from gpuviz.qt.preferences.preferences import Motion
from gpuviz.qt.running.course import Course
from gpuviz.qt.running.director import Director
from gpuviz.qt.running.meter import Meter
from gpuviz.qt.running.view_store import ViewStore
from gpuviz.views.state import ViewState

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from gpuviz.course import LessonEntry
    from gpuviz.qt.history.settings import Settings
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
