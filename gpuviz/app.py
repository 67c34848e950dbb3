"""The window's entry point: check the machine, make the application, show the window, run it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gpuviz import doctor, words
from gpuviz.lectures.lecture import Lecture


def main(argv: Sequence[str] = ()) -> int:
    """Show the window until it is closed; the exit status.

    Qt is imported only after its system libraries have been found: without them it would end the
    process with a message that helps nobody.
    """
    return _lacking() or _run(argv)


def present(lecture: Lecture, slide: int = 0) -> int:
    """Give a lecture, from the slide of that number on; the exit status."""
    return _lacking() or _present(lecture, slide)


def _lacking() -> int:
    """Say which system libraries are missing, if any; the exit status for it."""
    if advice := doctor.advice() or doctor.display_advice():
        print(advice, file=sys.stderr)
        return doctor.EXIT_CODE
    return 0


def _present(lecture: Lecture, slide: int) -> int:
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.look.theme import FOLLOW, MODES, Theme
    from gpuviz.qt.presenter.presentation import Presentation
    from gpuviz.qt.running.meter import Sources
    from gpuviz.qt.window.remembered import APPLICATION, ORGANISATION, Remembered
    from gpuviz.runners.gpu.client import Gpu
    from gpuviz.runners.recorded import known
    from gpuviz.scenes.perform import perform

    app = QApplication(["gpuviz"])
    app.setApplicationName(APPLICATION)
    app.setOrganizationName(ORGANISATION)
    load_fonts()
    kept = Remembered(QSettings(ORGANISATION, APPLICATION))
    theme = Theme(kept.text("theme", FOLLOW, MODES), kept.number("scale", 1.0))
    theme.apply()
    shown = Presentation(lecture, perform, Sources(Gpu, known))
    shown.ended.connect(lambda number: app.quit())
    shown.start(slide)
    status = app.exec()
    shown.close()
    shown.deleteLater()
    app.processEvents()
    return status


def _run(argv: Sequence[str]) -> int:
    from PySide6.QtCore import QLocale, QSettings
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.running.meter import Sources
    from gpuviz.qt.window.remembered import APPLICATION, ORGANISATION
    from gpuviz.qt.window.window import Window
    from gpuviz.runners.gpu.client import Gpu
    from gpuviz.runners.recorded import known
    from gpuviz.scenes import SCENES
    from gpuviz.scenes.perform import perform

    app = QApplication(["gpuviz", *argv])
    app.setApplicationName(APPLICATION)
    app.setOrganizationName(ORGANISATION)
    load_fonts()
    settings = QSettings(ORGANISATION, APPLICATION)
    words.choose(words.best((str(settings.value("language", "")), *QLocale.system().uiLanguages())))
    window = Window(perform, SCENES, settings, Sources(Gpu, known))
    window.show()
    status = app.exec()
    # Widgets that outlive the interpreter's teardown crash it; so this one goes first.
    window.close()
    window.deleteLater()
    app.processEvents()
    return status
