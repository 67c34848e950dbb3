"""What a sweep varies: parameters of a lesson, or sizes of a user's own launch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gpuviz.arch import ARCHITECTURES
from gpuviz.launch.job import Job
from gpuviz.run.run import Level
from gpuviz.story.kernel_launch import KernelLaunch, launch_of
from gpuviz.story.lesson import Lesson, Parameter, Values, check_values
from gpuviz.story.lesson_sweeps import says
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import accepted, job_of
from gpuviz.sweeps.axis import ARCH, Axis, Cell
from gpuviz.sweeps.subject import FileLaunch, Subject, at, of_file, size
from gpuviz.words.language import tr

_MANY = 64  # values offered one by one; more are offered by doubling


def of_lesson(lesson: Lesson, values: Values, arch: str, axes: Sequence[Axis]) -> Subject:
    """The launches of a lesson; axes are its parameters, or `arch`.

    Raises
    ------
    InputError : an axis is neither
    """
    said = says(lesson, values, axes)
    fixed = {name: value for name, value in values.items() if name in said}

    def launches(cell: Cell) -> Mapping[str, Job]:
        at = {name: value for name, value in cell.items() if name != ARCH}
        plans, on = lesson.plan(check_values(lesson, {**fixed, **at})), cell.get(ARCH, arch)
        return {plan.role: job_of(plan, on) for plan in accepted(plans, on)}

    return Subject(said, arch, launches)


class Offer(NamedTuple):
    """One thing that can be varied: its id, its name, and values to begin with, as typed."""

    id: str
    name: str
    values: str


@dataclass(frozen=True, eq=False)
class CellView:
    """What the window shows of a cell."""

    lesson: Lesson
    values: Values
    arch: str


@dataclass(frozen=True, eq=False)
class SweptLesson:
    """A lesson of the course: its parameters, the others as they are."""

    lesson: Lesson
    values: Values
    arch: str
    level: Level

    @property
    def roles(self) -> Mapping[str, str]:
        """Those of its plan."""
        plans = self.lesson.plan(check_values(self.lesson, self.values))
        return {plan.role: tr(plan.role) for plan in plans}

    def offers(self) -> Sequence[Offer]:
        """Its parameters, and the architecture."""
        every = (p for p in self.lesson.parameters if not p.typed)
        own = [Offer(p.id, tr(p.label), _range(p)) for p in every]
        return (*own, _architectures())

    def subject(self, axes: Sequence[Axis]) -> Subject:
        """The lesson's launches."""
        return of_lesson(self.lesson, self.values, self.arch, axes)

    def view(self, cell: Mapping[str, str]) -> CellView:
        """The lesson with the values of the cell."""
        given = {name: value for name, value in cell.items() if name != ARCH}
        values = check_values(self.lesson, {**self.values, **given})
        return CellView(self.lesson, values, cell.get(ARCH, self.arch))


@dataclass(frozen=True, eq=False)
class SweptKernel:
    """A kernel of the user's: sizes of its launch. The grid may follow, `{ceil(4096/block.x)}`."""

    lesson: Lesson
    values: Values
    arch: str
    level: Level
    grid: str = ""

    @property
    def roles(self) -> Mapping[str, str]:
        """There is one."""
        return {"": ""}

    @property
    def launch(self) -> KernelLaunch:
        """The launch that is shown."""
        return launch_of(self.lesson.launch)

    def offers(self) -> Sequence[Offer]:
        """Sizes, and the architecture."""
        names = {"block": tr("block {axis}"), "grid": tr("grid {axis}")}
        values = {"block": "32..1024..32", "grid": "1..1024*2"}
        sizes = [
            Offer(f"{what}.{axis}", name.format(axis=axis), values[what])
            for what, name in names.items()
            for axis in "xyz"
        ]
        return (*sizes, _architectures())

    def subject(self, axes: Sequence[Axis]) -> Subject:
        """The file's kernel with these sizes."""
        return of_file(self._texts, self.arch, axes)

    @property
    def _texts(self) -> FileLaunch:
        shown = self.launch
        grid = self.grid or ",".join(map(str, shown.grid))
        block = ",".join(map(str, shown.block))
        shared = str(shown.dynamic_shared)
        macros = dict(shown.defines)
        building = macros, shown.arguments, shown.options
        return FileLaunch(shown.path, shown.entry, grid, block, shared, *building)

    def view(self, cell: Mapping[str, str]) -> CellView:
        """The launch with the sizes of the cell, as a lesson."""
        made = at(self._texts, cell)
        grid, block = size(made.grid, "grid"), size(made.block, "block")
        lesson = lesson_of(replace(self.launch, grid=grid, block=block))
        return CellView(lesson, lesson.defaults(), cell.get(ARCH, self.arch))


Swept = SweptLesson | SweptKernel
"""What the window shows when a sweep is asked for, and how it varies."""


def swept(lesson: Lesson, values: Values, arch: str, level: Level) -> Swept:
    """What the window shows, ready to be varied."""
    made = SweptKernel if lesson.launch else SweptLesson
    return made(lesson, values, arch, level)


def _architectures() -> Offer:
    newest = ",".join(one.sm for one in ARCHITECTURES[-6:])
    return Offer(ARCH, tr("Architecture"), newest)


def _range(parameter: Parameter) -> str:
    """Values to vary a parameter through, as they are typed."""
    if parameter.choices:
        return ",".join(str(choice.value) for choice in parameter.choices)
    if isinstance(parameter.default, bool):
        return "false,true"
    low, high = parameter.minimum, parameter.maximum
    if high - low < _MANY:
        return f"{low}..{high}"
    return f"{max(low, 1)}..{high}*2"
