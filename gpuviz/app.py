"""The window's entry point: check the machine, make the application, show the window, run it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from gpuviz import doctor, words
from gpuviz.export.provenance import Provenance


def main(argv: Sequence[str] = (), wanted: Provenance | Path | None = None) -> int:
    """Show the window, with a view or a kernel's file if one is wanted, until it is closed; the
    exit status.

    Qt is imported only after its system libraries have been found: without them it would end the
    process with a message that helps nobody.
    """
    if advice := doctor.advice() or doctor.display_advice():
        print(advice, file=sys.stderr)
        return doctor.EXIT_CODE
    return _run(argv, wanted)


def _run(argv: Sequence[str], wanted: Provenance | Path | None) -> int:
    from PySide6.QtCore import QLocale, QSettings, QStandardPaths
    from PySide6.QtWidgets import QApplication

    from gpuviz.qt.diagnostics import log
    from gpuviz.qt.diagnostics.report import versions
    from gpuviz.qt.diagnostics.troubles import Troubles
    from gpuviz.qt.look.fonts import load_fonts
    from gpuviz.qt.running.meter import Sources
    from gpuviz.qt.running.worker import failure_of
    from gpuviz.qt.window.remembered import APPLICATION, ORGANISATION
    from gpuviz.qt.window.window import Window
    from gpuviz.runners.gpu.client import Gpu
    from gpuviz.runners.recorded import shipped
    from gpuviz.scenes import SCENES
    from gpuviz.scenes.perform import perform

    app = QApplication(["gpuviz", *argv])
    app.setApplicationName(APPLICATION)
    app.setOrganizationName(ORGANISATION)
    state = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.StateLocation))
    log.begin(state)
    log.LOG.info("started: %s", versions())
    load_fonts()
    settings = QSettings(ORGANISATION, APPLICATION)
    words.choose(words.best((str(settings.value("language", "")), *QLocale.system().uiLanguages())))
    view = wanted if isinstance(wanted, Provenance) else None
    window = Window(perform, SCENES, settings, Sources(Gpu, shipped), state, view)
    troubles = Troubles(window)
    troubles.happened.connect(lambda error: window.message.show_failure(failure_of(error)))
    troubles.install()
    window.show()
    if isinstance(wanted, Path):
        window.opening.open(wanted, window.director.arch)
    status = app.exec()
    log.LOG.info("ended")
    # Widgets that outlive the interpreter's teardown crash it; so this one goes first.
    window.close()
    window.deleteLater()
    app.processEvents()
    return status
