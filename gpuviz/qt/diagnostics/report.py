"""What to send along with a question: versions, machine, GPU, look, view, the end of the log."""

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from gpuviz.gpu.gpu_state import State
from gpuviz.qt.commands.actions import Actions
from gpuviz.qt.controls.message import Message
from gpuviz.qt.diagnostics.log import CRASH, last_lines, versions
from gpuviz.qt.look.theme import Theme
from gpuviz.qt.running.core import Core
from gpuviz.qt.running.view_recorder import ViewRecorder
from gpuviz.qt.window.status import Status
from gpuviz.views.link import link
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import chosen, tr

_LINES, _CRASH_LINES = 100, 40
# NVIDIA's libraries and what talks to them, told when installed; none is imported for this.
_PACKAGES = (
    "numpy",
    "pyqtgraph",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
    "nvidia-cuda-runtime",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "nvidia-ml-py",
    "nvidia-cuda-cupti",
    "av",
)


def report(
    view: Provenance, state: State, theme: Theme, window: QWidget, folder: Path | None
) -> str:
    """The whole text; the home folder is written `~`."""
    lines = [versions(), *_installed(), *_gpu(state), *_look(theme, window), f"view: {link(view)}"]
    if folder is not None:
        lines += ["", f"log ({folder}):", *last_lines(folder, _LINES)]
        if crash := last_lines(folder, _CRASH_LINES, CRASH):
            lines += ["", "crash:", *crash]
    return homeless("\n".join(lines))


def homeless(text: str) -> str:
    """The text without the name of the user's home folder, where that is one of its own."""
    home = Path.home()
    return text if home == home.parent else text.replace(str(home), "~")


def _installed() -> Iterator[str]:
    from importlib import metadata

    found = []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    yield "packages: " + ", ".join(found)
    yield f"started as: {sys.executable}, {QGuiApplication.platformName()}"


def _gpu(state: State) -> Iterator[str]:
    device = state.device
    if device is None:
        yield f"GPU: none ({state.why})"
        return
    yield f"GPU: {device.name}, CC {device.capability}, driver {device.driver}, CUDA {device.cuda}"
    yield f"counters: {device.counters or 'available'}"
    if state.trouble:
        yield f"trouble: {state.trouble}"


def _look(theme: Theme, window: QWidget) -> Iterator[str]:
    screen = window.screen()
    size, ratio = screen.size(), screen.devicePixelRatio()
    yield f"look: theme {theme.mode}, text {theme.look.scale:g}, language {chosen()}"
    yield (
        f"window {window.width()}x{window.height()}, screen {size.width()}x{size.height()} "
        f"at {ratio:g}"
    )


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
    pass

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
