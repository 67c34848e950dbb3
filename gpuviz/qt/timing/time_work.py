"""Explains where the time of a launch goes, off the GUI thread; the newest wish wins."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.qt.running.activity import Activity
from gpuviz.run.run import Cancel, Progress
from gpuviz.views.subject import Subject, Wish, explained
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.story.exhibit import Variant
    from gpuviz.story.lesson import Plan

Explain = Callable[["Variant", "Plan", Progress, Cancel], Subject]


def name_of(wish: Wish) -> Hashable:
    """What is launched, whichever of its blocks are looked at in the picture."""
    variant, plan = wish.variant, wish.plan
    texts = variant.library.texts if variant.library else {}
    return (
        *(plan.kernel, plan.entry, plan.grid, plan.block, plan.arguments, plan.defines),
        *(plan.dynamic_shared, plan.options, variant.arch, variant.prebuilt),
        texts.get(Path(plan.kernel)),
    )


class TimeWork(Activity):
    """One launch at a time.

    Signals
    -------
    came : name of the launch, and its `Subject` or the error that ended it
    """

    came = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.explain: Explain = explained
        self._now: Wish | None = None
        self._next: Wish | None = None

    @property
    def doing(self) -> str:
        """What is under way, in words."""
        return tr("finding out where the time goes …")

    def ask(self, wish: Wish) -> None:
        """Explain this, and nothing else any more."""
        self._next = wish
        if self.busy:
            self.cancel()
        else:
            self._start()

    def forget(self) -> None:
        """Nothing is wanted any more."""
        self._next = None
        self.cancel()

    def _start(self) -> None:
        wish, self._next = self._next, None
        if wish is not None:
            self._now = wish
            self._begin(partial(self.explain, wish.variant, wish.plan))

    def _end(self, outcome: object, stopped: bool) -> None:
        now = self._now
        self.rested.emit(tr("stopped") if stopped else "")
        if self._next is not None:
            self._start()
        elif now is not None:
            self.came.emit(now.key, None if stopped else outcome)
