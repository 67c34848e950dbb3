"""The commands that help to find out what went wrong."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.message import Message
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.window.status import Status
from gpuviz.words.language import tr


def bind(
    actions: Actions,
    core: Core,
    recorder: ViewRecorder,
    state: Path | None,
    message: Message,
    status: Status,
) -> None:
    """Bind them; `state` is the log's folder, if there is a log."""
    actions.bind("help.diagnostics", partial(_copy, core, recorder, state, status))
    actions.bind("help.log", partial(_open_folder, state, message))


def _copy(core: Core, recorder: ViewRecorder, state: Path | None, status: Status) -> None:
    """Put the diagnostics on the clipboard."""
    from gpuviz.qt.diagnostics.report import report

    window: QWidget = status.window()
    text = report(recorder.record(), core.meter.state, core.theme, window, state)
    QGuiApplication.clipboard().setText(text)
    status.say(tr("The diagnostics are on the clipboard."))


def _open_folder(folder: Path | None, message: Message) -> None:
    """Show the log's folder in the desktop's file manager, or say where it is."""
    if folder is None:
        message.say("note", tr("Log"), tr("No log is kept."))
    elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        said = tr(
            "There is no program to open a folder with. The log is in:\n{folder}", folder=folder
        )
        message.say("note", tr("Log"), said, str(folder))
