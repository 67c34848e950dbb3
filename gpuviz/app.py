"""The entry points with a display: check the machine, make the application, show, run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuviz import doctor
from gpuviz.base import ending, resources
from gpuviz.files import folders
from gpuviz.processes import memory
from gpuviz.words import language
from gpuviz.words.terminal import err, out

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings, QTimer
    from PySide6.QtWidgets import QApplication, QWidget

    from gpuviz.gpu.client import Gpu
    from gpuviz.gpu.consent import ConsentList
    from gpuviz.lectures.lecture import Lecture
    from gpuviz.lectures.writing import Keep
    from gpuviz.run.session import Library
    from gpuviz.story.lesson import Lesson, Values
    from gpuviz.story.perform import Performance
    from gpuviz.views.provenance import Provenance

SIGNALS_MS = 250  # between two looks for signals


def main(argv: Sequence[str] = (), wanted: Provenance | Path | None = None) -> int:
    """Show the window, with a view or a file if one is wanted, until it is closed; the exit status.

    Qt is imported only after its system libraries have been found: without them it would end the
    process with a message that helps nobody.
    """
    return _lacking() or _run(argv, wanted)


def present(
    lecture: Lecture,
    library: Library,
    agreed: ConsentList,
    slide: int = 0,
    keep: Keep | None = None,
    rehearses: bool = False,
) -> int:
    """Give a lecture, from the slide of that number on, its launches looked up in `library`; the
    exit status. Of its own kernels those that were `agreed` to are measured. What `keep` is given,
    it keeps with the lecture; one that is rehearsed has its times told.
    """
    return _lacking() or _present(lecture, library, agreed, slide, keep, rehearses)


def _lacking() -> int:
    """Say which system libraries are missing, if any; the exit status for it. Else load Qt."""
    if advice := doctor.advice() or doctor.display_advice():
        err(advice)
        return doctor.EXIT_CODE
    from gpuviz.qt import bindings

    bindings.load()
    return 0


def _application(argv: Sequence[str] = ()) -> tuple[QApplication, QSettings, Path]:
    """The application, its settings, and the folder of its log, which is begun."""
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.diagnostics import log
    from gpuviz.qt.diagnostics.log import versions
    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.preferences.settings import APPLICATION, ORGANISATION, open_settings

    ending.note()  # a slot of Qt's would take what is raised
    memory.keep_together()
    app = QApplication(["gpuviz", *argv])
    app.setApplicationName(APPLICATION)
    app.setOrganizationName(ORGANISATION)
    app.setDesktopFileName("gpuviz")  # as `gpuviz --integrate` calls it
    app.setWindowIcon(QIcon(str(resources.path("desktop/gpuviz.png"))))
    state = folders.state()
    log.begin(state)
    log.LOG.info("started: %s", versions())
    load_fonts()
    return app, open_settings(), state


def _run(argv: Sequence[str], wanted: Provenance | Path | None) -> int:
    from PySide6.QtCore import QLocale

    from gpuviz.base.errors import failure_of
    from gpuviz.course import COURSE
    from gpuviz.gpu.consent import kept
    from gpuviz.qt.diagnostics.log import LOG, UncaughtErrors
    from gpuviz.qt.history.crash_file import CrashFile
    from gpuviz.qt.preferences.settings import fit_to_screen, put_aside
    from gpuviz.qt.window.ahead import Ahead
    from gpuviz.qt.window.window import Window
    from gpuviz.run.session import Session
    from gpuviz.story.sources import Sources

    crash_file = CrashFile(folders.state())  # counts this start before the settings are read
    if crash_file.left is not None and crash_file.left.blameless:
        put_aside()
    app, settings, state = _application(argv)

    def window_as_left() -> Window:
        language.choose(
            language.best((str(settings.value("language", "")), *QLocale.system().uiLanguages()))
        )
        sources, session = Sources(_gpu, agreed=kept()), Session()
        return Window(_perform, COURSE, settings, sources, state, wanted, session, crash_file)

    try:
        window = window_as_left()
    except Exception as error:  # whatever the settings hold, there is a window
        LOG.error("the window does not start as it was left", exc_info=error)
        put_aside(settings)
        window = window_as_left()
    uncaught = UncaughtErrors(window)
    uncaught.happened.connect(lambda error: window.message.show_failure(failure_of(error)))
    uncaught.install()
    fit_to_screen(window)
    Ahead(window)
    window.show()
    return _until_over(app, window.leave, window)


def _present(
    lecture: Lecture,
    library: Library,
    agreed: ConsentList,
    slide: int,
    keep: Keep | None,
    rehearses: bool,
) -> int:
    from gpuviz.qt.diagnostics.log import UncaughtErrors
    from gpuviz.qt.look.theme import Theme
    from gpuviz.qt.preferences.preferences import BY_KEY
    from gpuviz.qt.preferences.settings import Settings
    from gpuviz.qt.presenter.presentation import Presentation
    from gpuviz.story.sources import Sources

    app, settings, _ = _application()
    kept = {key: row.stored(Settings(settings)) for key, row in BY_KEY.items()}
    theme = Theme(kept["theme"], kept["scale"])
    theme.apply()
    calm, use = kept["reduced_motion"], kept["gpu_use"] if kept["gpu_live"] else 0.0
    sources = Sources(_gpu, agreed=agreed)
    shown = Presentation(
        lecture, _perform, sources, library, calm=calm, use=use, keep=keep, rehearses=rehearses
    )
    shown.rehearsed.connect(lambda taken, said: _tell_times(lecture, taken, said))
    uncaught = UncaughtErrors(shown)
    uncaught.happened.connect(lambda error: shown.speaker.say(f"{type(error).__name__}: {error}"))
    uncaught.install()
    shown.ended.connect(lambda number: app.quit())
    shown.start(slide)
    return _until_over(app, lambda lost=False: shown.close(), shown.screen, shown.speaker)


def _tell_times(lecture: Lecture, taken: Mapping[int, float], said: str) -> None:
    """What a rehearsal took, as lines of text, and where it is kept."""
    from gpuviz.lectures.pace import table

    for line in (*table(lecture, taken), said):
        out(line)


def _perform(lesson: Lesson, values: Values, **how: Any) -> Performance:
    """What takes long is done by a process beside. That is started by the first picture: it would
    have to wait for it, and is of the PTX that ships.
    """
    from gpuviz.processes import calls
    from gpuviz.results import code_text
    from gpuviz.story.perform import perform

    at_once = how["prebuilt"] and not lesson.launch and not calls.begun()
    try:
        made = perform(lesson, values, call=calls.here if at_once else calls.call, **how)
        code_text.read(made.runs.values())
        return made
    finally:
        calls.warm("gpuviz.story.emulating", "gpuviz.ptx.compiled.engine")


def _gpu(number: int) -> Gpu:
    from gpuviz.gpu.client import Gpu

    return Gpu(number)


def _until_over(app: QApplication, leave: Callable[..., object], *shown: QWidget) -> int:
    """Run until it is closed, or `leave` at a signal or without a display; the exit status.

    Widgets that outlive the interpreter's teardown crash it: they go.
    """
    from gpuviz.qt.diagnostics.log import LOG

    watch = _obey_signals(app, leave)
    LOG.info("showing")
    status = app.exec()
    watch.stop()
    LOG.info("ended: %d", status)
    if status == 1:  # as Qt ends the loop when the display is gone: nobody can be asked
        leave(lost=True)
    for one in shown:
        one.close()
        one.deleteLater()
    app.processEvents()
    return status


def _obey_signals(app: QApplication, leave: Callable[[], object]) -> QTimer:
    """Ctrl+C, a terminal that is closed and a desktop that ends close the windows without a
    question: nobody may be there to answer it.

    A signal is only noted where it comes, which may be in the middle of painting; a timer, which
    also lets Python see signals in Qt's loop, closes.
    """
    from PySide6.QtCore import QTimer

    def look() -> None:
        if status := ending.told():
            watch.stop()
            leave()
            app.exit(status)  # ends the loops of dialogs, too

    watch = QTimer(app)
    watch.timeout.connect(look)
    watch.start(SIGNALS_MS)
    return watch
