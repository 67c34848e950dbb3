"""Side B of a comparison: whether it is shown, of which lesson, with which values, for which
architecture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpuviz.story.lesson import Lesson, Value

AS_A = ""
"""The architecture of B when it is that of A."""


def another(lesson: Lesson, values: Mapping[str, Value]) -> dict[str, Value]:
    """Values worth comparing with: the first preset that is not what is shown already."""
    presets = [{**lesson.defaults(), **p.values} for p in lesson.presets]
    return next((p for p in presets if p != dict(values)), lesson.defaults())


def alike(one: Lesson, other: Lesson) -> bool:
    """Whether two lessons are the same: kernels are, if they are launched alike."""
    return one.id == other.id and one.launch == other.launch


class Comparison(QObject):
    """Every setter announces a change, and only a change.

    Signals
    -------
    switched : whether B is shown
    lesson_changed : it is of another lesson than A, or no longer
    values_changed, arch_changed : of B
    changed : any of these
    """

    switched = Signal(bool)
    lesson_changed = Signal()
    values_changed = Signal(object)
    arch_changed = Signal(str)
    changed = Signal()

    def __init__(self, lesson: Lesson, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lesson = lesson
        self._other: Lesson | None = None
        self._on = False
        self._arch = AS_A
        self._values: dict[str, Value] = {}

    @property
    def on(self) -> bool:
        """Whether B is shown."""
        return self._on

    @property
    def other(self) -> Lesson | None:
        """The lesson of B where that is another than A's: a kernel, an earlier text of one."""
        return self._other

    @property
    def arch(self) -> str:
        """The architecture of B, `AS_A` when it is that of A."""
        return self._arch

    @property
    def values(self) -> Mapping[str, Value]:
        """The values of B; none were chosen yet while it is empty."""
        return self._values

    def open(
        self, lesson: Lesson, values: Mapping[str, Value], beside: Mapping[str, Value]
    ) -> None:
        """Take another lesson; without values they are chosen when B is shown beside A's.

        What was chosen for the lesson before does not follow to this one: an architecture of its
        own, another lesson. A kernel that is launched in another way is the same lesson.
        """
        if self._other is not None and lesson.id == self._lesson.id:
            self._lesson = lesson
            return
        if lesson.id != self._lesson.id and self._arch != AS_A:
            self._arch = AS_A
            self.arch_changed.emit(AS_A)
        self._lesson = lesson
        self._forget_other()
        self._values = {**lesson.defaults(), **values} if values else {}
        if self._on and not self._values:
            self._values = another(lesson, beside)

    def switch(self, on: bool, beside: Mapping[str, Value]) -> None:
        """Show B beside a side A with these values, or A alone."""
        if on and not self._values:
            self._values = another(self._lesson, beside)
        if on != self._on:
            self._on = on
            self.switched.emit(on)
            self.changed.emit()

    def set_lesson(self, other: Lesson | None, values: Mapping[str, Value]) -> None:
        """Show B, of another lesson than A with these values; of A's where that is the same."""
        self._other = None if other is None or alike(other, self._lesson) else other
        self._values = {**(other or self._lesson).defaults(), **values}
        self.lesson_changed.emit()
        self.values_changed.emit(self._values)
        if not self._on:
            self._on = True
            self.switched.emit(True)
        self.changed.emit()

    def _forget_other(self) -> None:
        if self._other is not None:
            self._other = None
            self.lesson_changed.emit()

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Change some or all values of B; those that its lesson has not are left out."""
        if self._other is not None:
            values = {key: value for key, value in values.items() if key in self._values}
        merged = {**self._values, **values}
        if merged != self._values:
            self._values = merged
            self.values_changed.emit(merged)
            self.changed.emit()

    def set_arch(self, arch: str) -> None:
        """Choose the architecture of B."""
        if arch != self._arch:
            self._arch = arch
            self.arch_changed.emit(arch)
            self.changed.emit()
