"""Finds out which part of its line each access of a run is, off the GUI thread."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpuviz.qt.running.activity import InThread

if TYPE_CHECKING:
    from gpuviz.memory.operands import Operands
    from gpuviz.story.exhibit import Exhibit, Variant
    from gpuviz.story.lesson import Plan

_KEPT = 8  # texts whose operands are known


class OperandFinder(QObject):
    """Compiles the text of a run once more."""

    found = Signal(str, Mapping)  # the PTX they are of, and `Operands`

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._known: dict[str, Operands] = {}
        self._work = InThread(self._take, self)

    def ask(self, showing: Exhibit, key: str) -> Operands:
        """The operands of a run, none while they are not known: `found` tells them then."""
        run, plan = showing.runs[key], showing.plans.get(key)
        ptx = run.trace.ptx
        if ptx not in self._known and plan is not None and run.trace.source:
            side = next(s for s in showing.sides if key in map(s.key, s.performance.runs))
            self._work.ask(partial(_operands, side.variant, plan, ptx), ptx)
        return self._known.get(ptx, {})

    def _take(self, ptx: str, outcome: object) -> None:
        """What cannot be found out is not asked for again: the table says less."""
        while len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[ptx] = outcome if isinstance(outcome, dict) else {}
        self.found.emit(ptx, self._known[ptx])


def _operands(variant: Variant, plan: Plan, ptx: str) -> Operands:
    from gpuviz.memory.operands import operands_of
    from gpuviz.story.perform import job_of

    program = job_of(plan, variant.arch, variant.prebuilt, variant.library).program
    return operands_of(program) if program.ptx == ptx else {}
