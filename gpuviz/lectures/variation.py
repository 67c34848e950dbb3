"""A slide's view with other values than planned, and the fields by which they are changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpuviz.arch import ARCHITECTURES, architecture
from gpuviz.base.errors import InputError
from gpuviz.story.compare import SIDES, name_of
from gpuviz.story.lesson import Lesson, Parameter, Value
from gpuviz.views.make_view import beside_for, lesson_for
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

_TRIES = 64  # values that make no sense are passed over, so many at most


@dataclass(frozen=True)
class Variation:
    """What is shown in place of the view `planned`. Of two variants, those of `side` are changed.

    `asked` says whether the slide's question is asked anew.
    """

    planned: Provenance
    view: Provenance
    side: int = 0
    asked: bool = False

    @classmethod
    def of(cls, planned: Provenance) -> Variation:
        """Nothing is changed yet."""
        return cls(planned, planned)

    @property
    def changed(self) -> bool:
        """Whether anything is not as planned."""
        return self.view != self.planned

    @property
    def lesson(self) -> Lesson:
        """That of the side that is changed; InputError when it cannot be read any more."""
        return (beside_for(self.view) if self.side else None) or lesson_for(self.view)

    @property
    def values(self) -> Mapping[str, Value]:
        """Those of the side that is changed."""
        view = self.view
        if self.side and view.compare_lesson:
            return view.compare_values
        return {**view.values, **view.compare_values} if self.side else view.values

    @property
    def arch(self) -> str:
        """The architecture of the side that is changed."""
        view = self.view
        return view.compare_arch or view.arch if self.side else view.arch

    @property
    def words(self) -> str:
        """What is changed: `stride 3`; "" where nothing is."""
        if not self.changed:
            return ""
        before = replace(self, view=self.planned)
        if self.view.compared and not self.planned.compared:
            before = replace(before, side=0)
        said = []
        if dict(self.values) != dict(before.values):
            other = self.lesson.id != before.lesson.id
            said.append(
                tr(self.lesson.title) if other else name_of(self.lesson, self.values, before.values)
            )
        if self.arch != before.arch:
            said.append(str(architecture(self.arch)))
        return ", ".join(said)

    def with_values(self, values: Mapping[str, Value]) -> Variation:
        """With other values on the side that is changed."""
        view, made = self.view, dict(values)
        changed = replace(view, compare_values=made) if self.side else replace(view, values=made)
        return replace(self, view=changed)

    def with_arch(self, arch: str) -> Variation:
        """Counted for another architecture."""
        view = self.view
        changed = replace(view, compare_arch=arch) if self.side else replace(view, arch=arch)
        return replace(self, view=changed)

    def beside(self, side: int | None) -> Variation:
        """Two variants, of which one side is changed; None: one alone.

        A slide that was planned as one picture stays as A, beside what it was changed to.
        """
        view, planned = self.view, self.planned
        if side is not None and view.compared:
            return replace(self, side=side)
        if side is not None and planned.compare_lesson:  # it is told of one of two lessons
            return replace(self, view=planned, side=side)
        if side is not None:
            made = replace(
                view,
                values=planned.values,
                arch=planned.arch,
                compare_values=dict(view.values),
                compare_arch=view.arch if view.arch != planned.arch else "",
            )
            return replace(self, view=made, side=side)
        if self.side and view.compare_lesson:
            view = replace(view, lesson=view.compare_lesson, launch=view.compare_launch)
        alone = replace(
            view,
            values=dict(self.values),
            arch=self.arch,
            compare_values={},
            compare_arch="",
            compare_lesson="",
            compare_launch={},
        )
        return replace(self, view=alone, side=0)


@dataclass(frozen=True, eq=False)
class Field:
    """Something that can be changed: what it may be, what it is, and what that is called.

    `at` is the place among the `options`, None where it is none of them; `planned` is what it is
    in the plan, "" where that is the same. `put` gives the variation with one of the options.
    """

    id: str
    label: str
    options: Sequence[object]
    at: int | None
    name: Callable[[object], str]
    put: Callable[[object], Variation]
    planned: str = ""

    @property
    def value(self) -> str:
        """What it is, in words."""
        return "–" if self.at is None else self.name(self.options[self.at])

    @property
    def most(self) -> int:
        """The largest number that can be typed for it."""
        numbers = self.options[-1:] if isinstance(self.options, range) else self.options
        found = [one for one in numbers if type(one) is int]
        return max(found) if found else len(self.options)

    def typed(self, number: int) -> Variation:
        """The option of that number, or the one at that place, from 1.

        Raises
        ------
        InputError : there is none
        """
        numbers = type(self.options[0]) is int
        if numbers and number in self.options:
            return self.put(number)
        if numbers and not isinstance(self.options, range):
            raise InputError(tr("{name}: not {value}", name=self.label, value=number))
        least, most = (self.options[0], self.most) if numbers else (1, len(self.options))
        if numbers or not 1 <= number <= len(self.options):
            raise InputError(
                tr("{name}: {least} to {most}", name=self.label, least=least, most=most)
            )
        return self.put(self.options[number - 1])


def fields(variation: Variation) -> tuple[Field, ...]:
    """What can be changed of a slide; InputError when its lesson cannot be read any more."""
    lesson = variation.lesson
    found = [_parameter(variation, p) for p in lesson.parameters if not (p.hidden or p.typed)]
    if lesson.presets:
        found.append(_preset(variation, lesson))
    return (*found, _architecture(variation), _sides(variation))


def first(variation: Variation) -> int:
    """The field that is most likely wanted: the first that is not as usual, or that is a number."""
    lesson = lesson_for(variation.planned)
    usual, planned = lesson.defaults(), variation.planned.values
    every = [p for p in lesson.parameters if not (p.hidden or p.typed)]
    wanted = [n for n, p in enumerate(every) if planned.get(p.id) != usual.get(p.id)]
    numbers = [n for n, p in enumerate(every) if p.maximum > p.minimum]
    return next(iter((*wanted, *numbers)), 0)


def stepped(field: Field, variation: Variation, way: int) -> Variation:
    """The next value that makes sense in a direction; as it is where there is none.

    Raises
    ------
    InputError : why the next values make no sense
    """
    lesson, at, why = variation.lesson, field.at, ""
    start = (-1 if way > 0 else len(field.options)) if at is None else at
    for number in range(start + way, start + way * (_TRIES + 1), way):
        if not 0 <= number < len(field.options):
            break
        made = field.put(field.options[number])
        why = lesson.problem(dict(made.values))
        if not why:
            return made
    if why:
        raise InputError(why)
    return variation


def checked(variation: Variation) -> Variation:
    """The variation, if its values make sense; InputError says why they do not."""
    why = variation.lesson.problem(dict(variation.values))
    if why:
        raise InputError(why)
    return variation


def _parameter(variation: Variation, parameter: Parameter) -> Field:
    names: dict[object, str] = {choice.value: tr(choice.label) for choice in parameter.choices}
    options: Sequence[object] = [choice.value for choice in parameter.choices]
    if not options and isinstance(parameter.default, bool):
        options, names = (False, True), {False: tr("off"), True: tr("on")}
    elif not options:
        options = range(parameter.minimum, parameter.maximum + 1)
    value = variation.values.get(parameter.id, parameter.begins)

    def name(option: object) -> str:
        return names.get(option, str(option))

    def put(option: object) -> Variation:
        assert isinstance(option, int | str)
        return variation.with_values({**variation.values, parameter.id: option})

    before = replace(variation, view=variation.planned).values.get(parameter.id, value)
    planned = name(before) if before != value else ""
    return Field(
        parameter.id, tr(parameter.label), options, _place(options, value), name, put, planned
    )


def _preset(variation: Variation, lesson: Lesson) -> Field:
    presets, values = lesson.presets, variation.values
    at = next(
        (n for n, one in enumerate(presets) if {**lesson.defaults(), **one.values} == dict(values)),
        None,
    )

    def put(option: object) -> Variation:
        preset = next(one for one in presets if one.label == option)
        return variation.with_values({**lesson.defaults(), **preset.values})

    names = {one.label: tr(one.label) for one in presets}
    return Field("preset", tr("preset"), list(names), at, lambda label: names[str(label)], put)


def _architecture(variation: Variation) -> Field:
    names = [one.sm for one in ARCHITECTURES]
    now = architecture(variation.arch)
    at = next((n for n, one in enumerate(ARCHITECTURES) if one is now), None)
    before = architecture(replace(variation, view=variation.planned).arch)
    return Field(
        "arch",
        tr("architecture"),
        names,
        at,
        lambda name: str(architecture(str(name))),
        lambda name: variation.with_arch(str(name)),
        str(before) if before is not now else "",
    )


def _sides(variation: Variation) -> Field:
    names = {"": tr("alone"), **{one: tr("beside, {side} changes", side=one) for one in SIDES}}
    at = 1 + variation.side if variation.view.compared else 0
    return Field(
        "sides",
        "A | B",
        ("", *SIDES),
        at,
        lambda side: names[str(side)],
        lambda side: variation.beside(SIDES.index(str(side)) if side else None),
    )


def _place(options: Sequence[object], value: Value) -> int | None:
    return options.index(value) if value in options else None
