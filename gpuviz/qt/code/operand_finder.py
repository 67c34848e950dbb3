"""Finds out which part of its line each access of a run is, off the GUI thread."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from gpuviz.memory.operands import Operands
    from gpuviz.scenes.base import Plan
    from gpuviz.scenes.showing import Showing, Variant


class OperandFinder(QObject):
    """Compiles the text of a run once more; the newest wish is found last.

    Signals
    -------
    found : the PTX they are of, and `Operands`
    """

    found = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[str, Operands] = {}
        self._wanted: tuple[str, Variant, Plan] | None = None
        self._thread: threading.Thread | None = None
        self.found.connect(self._keep)

    def ask(self, showing: Showing, key: str) -> Operands:
        """The operands of a run, none while they are not known: `found` tells them then."""
        run, plan = showing.runs[key], showing.plans.get(key)
        ptx = run.trace.ptx
        if ptx in self._known or plan is None or not run.trace.source:
            return self._known.get(ptx, {})
        side = next(s for s in showing.sides if key in map(s.key, s.performance.runs))
        self._wanted = ptx, side.variant, plan
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        return {}

    def _work(self) -> None:
        """Runs in the thread."""
        from gpuviz.errors import Error
        from gpuviz.memory.operands import operands_of
        from gpuviz.scenes.perform import job_of

        while (wanted := self._wanted) is not None:
            ptx, variant, plan = wanted
            operands: Operands = {}
            with suppress(Error, OSError):  # then nobody knows: the table says less
                program = job_of(plan, variant.arch, variant.prebuilt, variant.library).program
                operands = operands_of(program) if program.ptx == ptx else {}
            if self._wanted is wanted:
                self._wanted = None
            with suppress(RuntimeError):  # the window may be gone by now
                self.found.emit(ptx, operands)

    def _keep(self, ptx: str, operands: Operands) -> None:
        if len(self._known) >= 8:
            self._known.pop(next(iter(self._known)))
        self._known[ptx] = operands
