"""What a lesson is: parameters, the launches they ask for, and the story told of the runs.

A lesson never computes an address: it plans launches of real kernels, and tells what their traces
say. `frame(t, stage)` of its story is a pure function, so that seeking, stepping back, thumbnails,
tests and export are all the same call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.draw.axis import Scales, wider
from gpuviz.draw.marks import Frame
from gpuviz.draw.stage import Stage
from gpuviz.panels.layout import panels
from gpuviz.panels.panel import Value as Value
from gpuviz.panels.panel import Values as Values
from gpuviz.panels.picture import placed
from gpuviz.story.script import LongSteps, Script, Step, edges_of, step_at
from gpuviz.traces.geometry import LaunchSpec, Triple
from gpuviz.words.language import tr

if TYPE_CHECKING:
    from gpuviz.base.arrays import F64
    from gpuviz.panels.picture import At
    from gpuviz.ptx.options import Blocks
    from gpuviz.run.run import Run
    from gpuviz.sweeps.axis import Axis

_MOST = 64  # pictures that scales are taken from
LONGEST = 200  # letters of a parameter that is typed
SIZES = "GPUVIZ_SIZES"
Runs: TypeAlias = "Mapping[str, Run]"  # by role


@dataclass(frozen=True)
class Choice:
    """One value of a parameter that has names rather than numbers."""

    value: Value
    label: str


@dataclass(frozen=True)
class Parameter:
    """A knob of a lesson; the window draws it from this declaration alone.

    An integer parameter has `minimum` and `maximum`; one that `offers` values, with labels or named
    by themselves, takes just these; any other bool is a switch, any other text is typed. `compiled`
    marks a compile-time constant of the kernel (changing it needs NVRTC). The choices of one of
    `pictures` are offered beside the picture, a key for each; a `hidden` one is only set by clicks
    in pictures. `small` is what it begins with where sizes that people run take too long
    (`small_sizes`), None where that is its default, too.
    """

    id: str
    label: str
    default: Value
    minimum: int = 0
    maximum: int = 0
    offers: tuple[int, ...] | Mapping[int, str] | Mapping[str, str] = ()
    hint: str = ""
    compiled: bool = False
    pictures: bool = False
    hidden: bool = False
    small: Value | None = None

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """What it offers, with labels."""
        labels: Mapping[Any, str] = (
            self.offers if isinstance(self.offers, Mapping) else {n: str(n) for n in self.offers}
        )
        return tuple(Choice(*item) for item in labels.items())

    @property
    def typed(self) -> bool:
        """Whether it is any text."""
        return isinstance(self.default, str) and not self.choices

    @property
    def begins(self) -> Value:
        """What it begins with."""
        return self.default if self.small is None or not small_sizes() else self.small

    def shown(self, value: Value) -> str:
        """A value as the knob shows it."""
        named = next((tr(one.label) for one in self.choices if one.value == value), None)
        if named is None and isinstance(value, bool):
            return tr("on") if value else tr("off")
        return str(value) if named is None else named


def small_sizes() -> bool:
    """Whether lessons begin small: `GPUVIZ_SIZES=small`, for slow machines, and for tests."""
    return os.environ.get(SIZES) == "small"


@dataclass(frozen=True)
class Preset:
    """Named parameter values: a variant of the lesson worth showing (or comparing)."""

    label: str
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Plan(LaunchSpec):
    """One launch a lesson asks for, and what it wants of it.

    `record` are the linear ids of the blocks whose requests the story needs, `path` whether it
    needs their way through the program, too (`Trace.path`). `size` is how big it is in words, which
    stand wherever its counts or times do ("1024 × 1024 times 1024 × 1024"). `companion_of` names
    the run that this launch is the companion of (see `companion`), "" where it is none. `others`
    are launches whose times the story sets beside this one's, as far as somebody has measured them;
    nobody runs them for it. `outputs` says whether the story reads the arrays that the launch
    leaves behind; large ones are let go where it does not. `otherwise` is launched on an
    architecture that refuses this one; without it a launch that is `optional` is left out there,
    and any other is an error. `run_blocks` "classes" counts it from classes of its blocks, where
    these provably do the same (see `ptx.options.Options`); it leaves no arrays behind then.
    `timeline` says which multiprocessors the story shows over time (`Run.timelines`), with what the
    launch reads in L2: the one that takes longest, or each, where every block is alone on one;
    `explained` whether it tells where the time of the launch goes (`Run.explained`), with what it
    reads in memory. `placed` says whether the story shows which multiprocessors the blocks went to.
    `checks` are what the story tells of, looked for whatever else is (see `check_table`); `guesses`
    name what of the launch nobody said: no kernel is accused of what may follow from them.
    Without a launch that is `later` the story can be told already, as only a table needs it: its
    run may be missing then.
    """

    record: tuple[int, ...] = (0,)
    path: bool = False
    size: str = ""
    companion_of: str = ""
    others: tuple[Plan, ...] = ()
    outputs: bool = True
    goes_on: bool = False
    run_blocks: Blocks = "all"
    otherwise: Plan | None = None
    optional: bool = False
    timeline: Literal["", "longest", "each"] = ""
    explained: bool = False
    placed: bool = False
    checks: tuple[str, ...] = ()
    later: bool = False
    guesses: tuple[str, ...] = ()

    def companion(
        self, size: str, grid: Triple, arguments: tuple[str, ...], **changes: Any
    ) -> Plan:
        """The same kernel at the size people run it at: timed and counted, not drawn.

        For launches that are small because their picture needs the whole of them. `changes` are
        further fields that differ (block, defines, dynamic_shared, entry, role).
        """
        role = changes.pop("role", f"{self.role}, real size")
        return replace(
            self,
            role=role,
            size=size,
            grid=grid,
            arguments=arguments,
            record=(),
            path=False,
            companion_of=self.role,
            others=(),
            **changes,
        )


Pick = Callable[[float, Stage, float, float], Values | None]


def nothing(t: float, stage: Stage, x: float, y: float) -> Values | None:
    """The pick of pictures in which there is nothing to click."""
    return None


@dataclass(frozen=True)
class Search:
    """How moments of a story are found by words; `hint` says which words there are.

    `find` gives the (N,) moments, ascending; InputError when it does not understand the words. It
    may take seconds where there are millions of steps.
    """

    hint: str
    find: Callable[[str], F64]


@dataclass(frozen=True, eq=False)
class Story:
    """A lesson told for one set of parameters: what happens when, and its pictures.

    `title` is one sentence about what is seen, `sentence` the one below it. `expected` states the
    closed form or published count that the counts should show. `pick` says which values a click at
    a point of the picture sets (None: it sets none); the story then begins anew. As `frame`, it is
    a pure function. `at` is the picture at a time, as data, for what looks at its panels. `search`
    finds moments, None where there are few.
    """

    title: str
    sentence: str
    steps: Sequence[Step]
    frame: Callable[[float, Stage], Frame]
    expected: str = ""
    pick: Pick = nothing
    at: At | None = None
    search: Search | None = None

    @classmethod
    def of(
        cls,
        script: Script | LongSteps,
        at: At,
        expected: str = "",
        sentence: str = "",
        search: Search | None = None,
    ) -> Story:
        """The story of a script and the pictures at its times.

        The first picture names it; `sentence` is what sums it up, by default the first one's.
        """
        began = at(0.0)
        # The moment shown last is asked for again wherever the pointer goes.
        shown = lru_cache(maxsize=1)(lambda t, stage: placed(at(t), stage))
        return cls(
            began.title,
            sentence or began.sentence,
            script if isinstance(script, LongSteps) else tuple(script.steps),
            lambda t, stage: shown(t, stage).frame(),
            expected,
            lambda t, stage, x, y: shown(t, stage).pick(x, y),
            at,
            search,
        )

    @property
    def duration(self) -> float:
        """Seconds from the first step to the end of the last."""
        return self.steps[-1].end if self.steps else 0.0

    @cached_property
    def scales(self) -> Scales:
        """How far the scales of all its pictures reach, as they are when each step begins."""
        at = self.at
        if at is None:
            return {}
        begun = edges_of(self.steps)[:-1]
        some = np.unique(np.linspace(0, len(begun) - 1, min(len(begun), _MOST)).astype(int))
        shown = [at(t) for t in begun[some].tolist()]
        every = (panel.scales() for one in shown for panel in panels(one.body))
        return reduce(wider, every, {})

    def step_at(self, t: float) -> int:
        """Index of the step under way at time t (the last one at and after the end)."""
        return step_at(self.steps, t)


@dataclass(frozen=True)
class Lesson:
    """One lesson of the course.

    `problem(values)` says in a sentence why a combination of values makes no sense, or returns "".
    `plan(values)` gives the launches, `narrate(values, runs)` the story, with runs by role. `words`
    are the ids of the glossary's words that the lesson is about (`gpuviz.words.glossary`). `launch`
    is how a kernel of the user's own is launched, as plain values; empty in lessons of the course.
    `given(arch)` is what needs no launch: runs from a file, by role, counted for an architecture.
    `swept` is what a sweep varies that is shown beside the launch; all its runs have it. `former`
    are names of parameters that it had once: stored values of theirs say nothing any more.
    """

    id: str
    title: str
    chapter: str
    look_for: str
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    plan: Callable[[Values], tuple[Plan, ...]]
    narrate: Callable[[Values, Runs], Story]
    problem: Callable[[Values], str] = field(default=lambda values: "")
    words: tuple[str, ...] = ()
    launch: Values = field(default_factory=dict)
    given: Callable[[str], Runs] = field(default=lambda arch: {})
    swept: tuple[Axis, ...] = ()
    former: tuple[str, ...] = ()

    def defaults(self) -> dict[str, Value]:
        """Parameter values to start with."""
        return {p.id: p.begins for p in self.parameters}

    def launches(self, values: Values) -> tuple[Plan, ...]:
        """All that may be launched, on whatever architecture (see `Plan.otherwise`)."""
        plans = self.plan(values)
        return (*plans, *(plan.otherwise for plan in plans if plan.otherwise))


def number(values: Values, name: str) -> int:
    """A whole-number parameter.

    Raises
    ------
    InputError : it is a word
    """
    value: Value = values[name]
    if isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it has to be a whole number")
    return int(value)


def no_such_warp(values: Values) -> str:
    """Why a block of `threads` threads cannot show its warp `warp`, or ""."""
    warp, threads = number(values, "warp"), number(values, "threads")
    if warp * 32 >= threads:
        what = {"threads": threads, "warp": warp, "last": threads // 32 - 1}
        return tr(
            "A block of {threads} threads has no warp {warp}: its last one is warp {last}.", **what
        )
    return ""


def check_values(lesson: Lesson, values: Values) -> dict[str, Value]:
    """Defaults completed by the values given, each of which must be one the lesson offers.

    Raises
    ------
    InputError : an unknown parameter, a value out of range, or a bad combination
    """
    known = {p.id: p for p in lesson.parameters}
    for name in values:
        if name not in known and name not in lesson.former:
            what = {"lesson": lesson.id, "name": repr(name), "known": ", ".join(known)}
            raise InputError(tr("lesson {lesson} has no parameter {name}; it has: {known}", **what))
    complete = {p.id: value_of(p, values.get(p.id, p.begins)) for p in lesson.parameters}
    problem = lesson.problem(complete)
    if problem:
        raise InputError(problem)
    return complete


def value_of(parameter: Parameter, value: Value) -> Value:
    """A value as the parameter's own kind (texts come from the command line); InputError when it
    is not one that it offers.
    """
    what: dict[str, object] = {"name": parameter.id, "value": repr(value)}
    if parameter.choices:
        for choice in parameter.choices:
            if str(choice.value) == str(value):
                return choice.value
        offered = ", ".join(str(c.value) for c in parameter.choices)
        raise InputError(
            tr("{name} cannot be {value}; it is one of: {offered}", **what, offered=offered)
        )
    if isinstance(parameter.default, bool):
        if str(value).lower() in ("1", "true", "yes", "on"):
            return True
        if str(value).lower() in ("0", "false", "no", "off"):
            return False
        raise InputError(tr("{name} cannot be {value}; it is true or false", **what))
    if parameter.typed:
        text = str(value).strip()
        if len(text) > LONGEST:
            what |= {"n": len(text), "most": LONGEST}
            raise InputError(tr("{name} has {n} letters; at most {most} are read", **what))
        return text
    try:
        number = int(value)
    except ValueError:
        raise InputError(tr("{name} cannot be {value}; it is a whole number", **what)) from None
    if not parameter.minimum <= number <= parameter.maximum:
        what |= {"value": number, "least": parameter.minimum, "most": parameter.maximum}
        raise InputError(tr("{name} cannot be {value}; it goes from {least} to {most}", **what))
    return number
