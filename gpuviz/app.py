"""The window's entry point: check the machine, make the application, show the window, run it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gpuviz import doctor, words


def main(argv: Sequence[str] = ()) -> int:
    """Show the window until it is closed; the exit status.

    Qt is imported only after its system libraries have been found: without them it would end the
    process with a message that helps nobody.
    """
    if advice := doctor.advice() or doctor.display_advice():
        print(advice, file=sys.stderr)
        return doctor.EXIT_CODE
    return _run(argv)


def _run(argv: Sequence[str]) -> int:
    from PySide6.QtCore import QLocale, QSettings
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.running.meter import Sources
    from gpuviz.qt.window.remembered import APPLICATION, ORGANISATION
    from gpuviz.qt.window.window import Window
    from gpuviz.runners.gpu.client import Gpu
    from gpuviz.runners.recorded import shipped
    from gpuviz.scenes import SCENES
    from gpuviz.scenes.perform import perform

    app = QApplication(["gpuviz", *argv])
    app.setApplicationName(APPLICATION)
    app.setOrganizationName(ORGANISATION)
    load_fonts()
    settings = QSettings(ORGANISATION, APPLICATION)
    words.choose(words.best((str(settings.value("language", "")), *QLocale.system().uiLanguages())))
    window = Window(perform, SCENES, settings, Sources(Gpu, shipped))
    window.show()
    status = app.exec()
    # Widgets that outlive the interpreter's teardown crash it; so this one goes first.
    window.close()
    window.deleteLater()
    app.processEvents()
    return status
