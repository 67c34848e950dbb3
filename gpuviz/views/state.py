"""What a window shows and how it is run, as one record, and what it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpuviz.base.waiting import SECONDS
from gpuviz.run.run import Level
from gpuviz.story.lesson import Lesson, Parameter, Value, Values
from gpuviz.traces.check_table import ALL
from gpuviz.words.language import later

ARCH = "sm_90"
LEVEL: Level = "sass"
LEVELS = {"sass": later("SASS counts"), "ptx": later("PTX counts")}
AS_A = ""
"""The architecture of B when it is that of A."""


@dataclass(frozen=True)
class ViewState:
    """Side A, and B where it is `compared` with."""

    # lesson, values, arch, level: what is run.
    lesson: Lesson
    values: Values
    arch: str = ARCH
    level: Level = LEVEL
    compared: bool = False
    # The lesson of B where that is another than A's: a kernel, an earlier text of one.
    compare_lesson: Lesson | None = None
    # Of B; none were chosen yet while they are empty.
    compare_values: Values = field(default_factory=dict)
    compare_arch: str = AS_A  # of B, `AS_A` where it is that of A
    checks: tuple[str, ...] = ALL  # what is looked for while launches run
    seconds: float = SECONDS  # what the emulation of a launch may take
    lecture: Path | None = None  # the file of the lecture whose slide is shown

    def opened(
        self, lesson: Lesson, values: Mapping[str, Value], beside: Mapping[str, Value]
    ) -> ViewState:
        """Another lesson as it was left; without values `beside` those of B are chosen.

        What was chosen for the lesson before does not follow to this one: an architecture of its
        own, another lesson, a lecture. A kernel that is launched in another way is the same lesson.
        """
        known = lesson.id == self.lesson.id
        made = replace(self, lesson=lesson, values=lesson.defaults() | dict(values))
        if not known:
            made = replace(made, compare_arch=AS_A, lecture=None)
        if known and self.compare_lesson is not None:
            return made
        others = {**lesson.defaults(), **beside} if beside else {}
        made = replace(made, compare_lesson=None, compare_values=others)
        return made.compare() if self.compared else made

    def compare(self, on: bool = True) -> ViewState:
        """B beside A, or A alone."""
        others = self.compare_values
        if on and not others:
            others = another(self.lesson, self.values)
        return replace(self, compared=on, compare_values=others)

    def beside(self, other: Lesson | None, values: Mapping[str, Value]) -> ViewState:
        """B of another lesson than A with these values; of A's where that is the same."""
        of = other or self.lesson
        return replace(
            self,
            compared=True,
            compare_lesson=None if alike(of, self.lesson) else of,
            compare_values={**of.defaults(), **values},
        )

    def given(self, values: Mapping[str, Value], right: bool = False) -> ViewState:
        """Some or all values of A, or of B; those that B's own lesson has not are left out."""
        if not right:
            return replace(self, values={**self.values, **values})
        if self.compare_lesson is not None:
            values = {key: value for key, value in values.items() if key in self.compare_values}
        return replace(self, compare_values={**self.compare_values, **values})

    def swapped(self) -> ViewState:
        """A as B and B as A."""
        made = self.compare()
        other, arch = made.compare_lesson, made.compare_arch
        return replace(
            made,
            lesson=other or made.lesson,
            values=made.compare_values,
            arch=arch or made.arch,
            compare_lesson=made.lesson if other is not None else None,
            compare_values=made.values,
            compare_arch=made.arch if arch else AS_A,
        )


def another(lesson: Lesson, values: Mapping[str, Value]) -> dict[str, Value]:
    """Values worth comparing with: the first preset that is not what is shown already."""
    presets = [{**lesson.defaults(), **p.values} for p in lesson.presets]
    return next((p for p in presets if p != dict(values)), lesson.defaults())


def alike(one: Lesson, other: Lesson) -> bool:
    """Whether two lessons are the same: kernels are, if they are launched alike."""
    return one.id == other.id and one.launch == other.launch


def shared(lesson: Lesson, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values of A that another lesson can take as well, so that both show the same place."""
    known = {parameter.id: parameter for parameter in lesson.parameters}
    return {
        key: value for key, value in values.items() if key in known and _takes(known[key], value)
    }


def _takes(parameter: Parameter, value: Value) -> bool:
    if parameter.choices:
        return value in [choice.value for choice in parameter.choices]
    if parameter.typed:
        return isinstance(value, str)
    if isinstance(parameter.default, bool) or not isinstance(value, int):
        return isinstance(value, bool) and isinstance(parameter.default, bool)
    return parameter.minimum <= value <= parameter.maximum
