"""What is shown: one performance of a lesson, or two side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpuviz.arch import architecture
from gpuviz.base.waiting import SECONDS
from gpuviz.run import session
from gpuviz.story.compare import SIDES, beside, name_of, titles_of
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.recordings.measurement import Measurement
    from gpuviz.run.run import Level, Run
    from gpuviz.run.session import Library
    from gpuviz.story.lesson import Lesson, Plan, Story, Value
    from gpuviz.story.perform import Performance


@dataclass(frozen=True)
class Variant:
    """A lesson with these values, for this architecture, at this level.

    A `prebuilt` one is of the PTX that ships: it waits for no compiler, and has no machine code.
    Without a `library` launches are looked up in what ships. `checks` are what is looked for,
    `seconds` how long the emulation of a launch may take.
    """

    lesson: Lesson
    values: Mapping[str, Value]
    arch: str
    level: Level
    prebuilt: bool = False
    library: Library | None = None
    checks: tuple[str, ...] = ()
    seconds: float = SECONDS


@dataclass(frozen=True, eq=False)
class Side:
    """One performance; `letter` is A or B when there are two, else ""."""

    letter: str
    name: str
    variant: Variant
    performance: Performance

    def key(self, role: str) -> str:
        """The name of a run among those of all sides, as the steps of the story have it."""
        return f"{self.letter} {role}".strip()


@dataclass(frozen=True, eq=False)
class Exhibit:
    """The sides, and the story told of them on one clock."""

    sides: tuple[Side, ...]
    story: Story

    @property
    def compared(self) -> bool:
        """Whether there are two sides."""
        return len(self.sides) > 1

    @property
    def library(self) -> Library:
        """Where its launches are looked up."""
        return self.sides[0].variant.library or session.shipped()

    @property
    def runs(self) -> Mapping[str, Run]:
        """The runs of all sides by name: "naive", or "A naive" when there are two sides."""
        return {s.key(role): run for s in self.sides for role, run in s.performance.runs.items()}

    @property
    def plans(self) -> Mapping[str, Plan]:
        """What was launched, by the names of the runs."""
        return {s.key(plan.role): plan for s in self.sides for plan in s.performance.plans}

    @property
    def archs(self) -> Mapping[str, str]:
        """The architectures asked for, by the names of the runs."""
        return {s.key(role): s.variant.arch for s in self.sides for role in s.performance.runs}

    @property
    def sizes(self) -> Mapping[str, str]:
        """How big each launch is, in words, by the names of the runs."""
        planned = {key: plan.size_words for key, plan in self.plans.items()}
        return planned | {key: run.size_words for key, run in self.runs.items()}

    def title(self, key: str) -> str:
        """What a run is called on screen: its role, its side, or both; a companion as its run."""
        beside = self.companions
        key = beside.get(key, key)
        roles = {r for s in self.sides for r in s.performance.runs if s.key(r) not in beside}
        named = {s.key(r): (s.letter, r) for s in self.sides for r in s.performance.runs}
        side = named.get(key, ("", key))
        if self.compared and len(roles) == 1:
            return side[0]
        return f"{side[0]} {tr(side[1])}".strip()

    @property
    def companions(self) -> Mapping[str, str]:
        """The names of companions, and of the runs that they are beside."""
        return {
            s.key(plan.role): s.key(plan.companion_of)
            for s in self.sides
            for plan in s.performance.plans
            if plan.companion_of
        }

    @property
    def timed(self) -> tuple[str, ...]:
        """Names of the launches whose times tell something: not of those with a companion."""
        covered = set(self.companions.values())
        return tuple(key for key in self.sizes if key not in covered)


def showing(variants: tuple[Variant, ...], performances: tuple[Performance, ...]) -> Exhibit:
    """Performances of these variants as they are shown."""
    names = names_of(variants)
    letters = SIDES if len(variants) > 1 else ("",)
    sides = tuple(map(Side, letters, names, variants, performances))
    if len(sides) == 1:
        return Exhibit(sides, performances[0].story)
    a, b = (side.performance.story for side in sides)
    return Exhibit(sides, beside(a, b, *names))


def measurements_of(shown: Exhibit) -> dict[str, Measurement]:
    """What the story is told with, by the names of the launches."""
    found: dict[str, Measurement] = {}
    for side in shown.sides:
        for role, run in side.performance.runs.items():
            if run.measurement is not None:
                found[side.key(role)] = run.measurement
            if run.companion is not None and run.companion.measurement is not None:
                found[side.key(run.companion.role)] = run.companion.measurement
    return found


def with_measurements(shown: Exhibit, found: Mapping[str, Measurement | None]) -> Exhibit:
    """The same launches, told with other measurements of them; nothing is run.

    `found` are by the names of the launches, None where there is none; those of others stay.
    """
    performances = tuple(_remeasured(side, found) for side in shown.sides)
    return showing(tuple(side.variant for side in shown.sides), performances)


def asked_of_gpu(plan: Plan) -> tuple[object, ...]:
    """What of a plan a GPU is given: where that is the same, so is what is measured."""
    return (
        plan.kernel,
        plan.entry,
        plan.grid,
        plan.block,
        plan.arguments,
        plan.defines,
        plan.dynamic_shared,
        plan.options,
    )


def going_on(before: Exhibit | None, made: Exhibit) -> Exhibit:
    """What is shown next, told with what was measured live of the same launches until now."""
    if before is None:
        return made
    then, now = before.plans, made.plans
    live = {
        key: one
        for key, one in measurements_of(before).items()
        if one.source == "live"
        and key in now
        and not Path(now[key].kernel).is_absolute()  # its text may be another one by now
        and key in then
        and asked_of_gpu(then[key]) == asked_of_gpu(now[key])
    }
    return with_measurements(made, live) if live else made


def _remeasured(side: Side, found: Mapping[str, Measurement | None]) -> Performance:
    def measured(role: str, run: Run) -> Run:
        beside = run.companion
        if beside is not None:
            new = found.get(side.key(beside.role), beside.measurement)
            beside = replace(beside, measurement=new)
        return replace(
            run, measurement=found.get(side.key(role), run.measurement), companion=beside
        )

    runs = {role: measured(role, run) for role, run in side.performance.runs.items()}
    lesson, values = side.variant.lesson, side.variant.values
    return replace(side.performance, story=lesson.narrate(values, runs), runs=runs)


def names_of(variants: tuple[Variant, ...]) -> tuple[str, ...]:
    """What variants are called beside each other; their architectures where these differ."""
    if len(variants) == 1:
        return (tr(variants[0].lesson.title),)
    a, b = variants
    same = a.lesson.id == b.lesson.id and a.lesson.launch == b.lesson.launch
    if not same:
        names = titles_of(a.lesson, b.lesson)
    else:
        names = name_of(a.lesson, a.values, b.values), name_of(b.lesson, b.values, a.values)
    if a.arch == b.arch:
        return names
    archs = [str(architecture(v.arch)) for v in variants]
    if same and dict(a.values) == dict(b.values):
        return tuple(archs)
    return tuple(f"{name}, {arch}" for name, arch in zip(names, archs, strict=True))
