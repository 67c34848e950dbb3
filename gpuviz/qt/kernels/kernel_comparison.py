"""What a kernel of the user's own can be compared with: other launches, other files, and what its
file said before.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.launch import versions
from gpuviz.qt.commands.actions import Command
from gpuviz.qt.export.file_dialogs import ask_which
from gpuviz.qt.kernels.kernel_opener import KernelOpener
from gpuviz.qt.running.activity import InThread
from gpuviz.story.kernel_launch import FOLDER
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.views.state import shared
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpuviz.launch.versions import Version
    from gpuviz.qt.commands.actions import Actions
    from gpuviz.qt.kernels.own_kernel import OwnKernel
    from gpuviz.qt.running.core import Core
    from gpuviz.story.exhibit import Exhibit
    from gpuviz.story.kernel_launch import KernelLaunch
    from gpuviz.story.lesson import Lesson

_OFFERED = 8  # earlier texts


class KernelComparison(QObject):
    """Binds the commands that choose side B, and keeps the texts that have run."""

    before_known = Signal(str)  # when the text before ran, "" where there is none

    def __init__(
        self, core: Core, own: OwnKernel, actions: Actions, window: QWidget, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._core, self._own, self._actions, self._window = core, own, actions, window
        self.opener = KernelOpener(core.theme, window)
        self.opener.opened.connect(self._show)
        self._keeping = InThread(self._offer, self)
        self._earlier: tuple[Version, ...] = ()
        actions.bind("compare.file", self._ask)
        actions.bind("compare.launch", self._ask_for_launch)
        core.director.performed.connect(self._keep)
        own.turned.connect(lambda: self._keeping.ask(self._known))

    def _show(self, lesson: Lesson) -> None:
        """Side B, at the place that A shows."""
        now = self._core.view.now
        self._core.view.become(now.beside(lesson, shared(lesson, now.values)))

    def _ask(self) -> None:
        launch = self._own.launch
        path = ask_which(self._window, str(launch.path.parent) if launch else "")
        if path is not None:
            self.opener.open(path, self._core.view.now.arch)

    def _ask_for_launch(self) -> None:
        if self._own.launch is not None:
            self.opener.open(self._own.launch.path, self._core.view.now.arch, asks=True)

    def _keep(self, showing: Exhibit) -> None:
        """Keep the text that ran as side A."""
        side, launch = showing.sides[0], self._own.launch
        if launch is None or side.variant.prebuilt:
            return
        text = next(iter(side.performance.runs.values())).trace.source

        def work() -> tuple[Version, ...]:
            versions.keep(launch.path, text)
            return self._known()

        self._keeping.ask(work)

    def _known(self) -> tuple[Version, ...]:
        launch = self._own.launch
        return versions.versions(launch.path) if launch is not None else ()

    def _offer(self, about: object, known: object) -> None:
        """A command for each earlier text, the newest first."""
        self._actions.remove("compare.version.")
        if not isinstance(known, tuple):
            return
        self._earlier = known[-2:-1]
        self.before_known.emit("".join(one.said for one in self._earlier))
        for version in reversed(known[-_OFFERED - 1 : -1]):
            text = tr("Compare with the text of {date}", date=version.said)
            command = Command(f"compare.version.{version.date}", text, "Compare")
            self._actions.add(command, partial(self.with_version, version))

    def with_before(self) -> None:
        """Compare with the text before."""
        for version in self._earlier:
            self.with_version(version)

    def with_version(self, version: Version) -> None:
        """Compare with an earlier text, launched as the one shown is."""
        launch = self._own.launch
        if launch is not None:
            self._show(earlier(launch, version))


def earlier(launch: KernelLaunch, version: Version) -> Lesson:
    """The same launch of an earlier text; headers are those beside the file as they are now."""
    folder = f"{FOLDER}{launch.path.absolute().parent}"
    made = lesson_of(replace(launch, path=Path(version.file), options=(*launch.options, folder)))
    return replace(made, title=f"{launch.name} ({launch.path.name}, {version.said})")
