"""Which columns of counts can be looked at: one run against its measurement, or runs compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from gpuviz.arch import architecture
from gpuviz.memory.counts import find
from gpuviz.recordings.measurement import CounterValue, Measurement
from gpuviz.recordings.stall_reasons import first_of
from gpuviz.results import rows
from gpuviz.results.badges import caption
from gpuviz.results.quantities import Row, multiple, shown
from gpuviz.run.run import not_checked
from gpuviz.story.exhibit import Exhibit, Side
from gpuviz.words.language import later, tr, typeset

Kind = Literal["name", "predicted", "measured", "residual", "ratio"]
PREDICTED = later("Predicted by executing the kernel's code and modelling the memory system.")
RESIDUAL = later("Measured minus predicted.")
HINTS = {"predicted": PREDICTED, "residual": RESIDUAL}


@dataclass(frozen=True)
class View:
    """Some of the runs, by name; `ratio` compares the second with the first."""

    title: str
    runs: tuple[str, ...]
    ratio: bool = False


def views_of(showing: Exhibit) -> list[View]:
    """The ways to look at the counts, the best to begin with first."""
    beside = showing.companions
    small = [key for key in showing.runs if key not in beside]
    real = [key for key in showing.runs if key in beside]
    return _among(showing, small) + [
        replace(view, title=f"{view.title}, {showing.sizes[view.runs[0]]}")
        for view in _among(showing, real)
    ]


def _among(showing: Exhibit, keys: list[str]) -> list[View]:
    """The ways to look at some of the runs."""
    single = [View(showing.title(key), (key,)) for key in keys]
    if len(keys) < 2:
        return single
    return (_pairs(showing, keys) if showing.compared else [_all(showing, keys)]) + single


def _all(showing: Exhibit, keys: list[str]) -> View:
    return View(" | ".join(map(showing.title, keys)), tuple(keys), ratio=len(keys) == 2)


def _pairs(showing: Exhibit, keys: list[str]) -> list[View]:
    """A against B: the run that each story begins with, where these differ; then role by role."""
    a, b = showing.sides
    both = [(a.key(role), b.key(role)) for role in a.performance.runs]
    found = [pair for pair in both if set(pair) <= set(keys)]
    subjects = _subject(a), _subject(b)
    different = set(subjects) <= set(keys) and subjects not in found
    first = [View(" | ".join(map(showing.title, subjects)), subjects, ratio=True)] * different
    if len(found) == 1 and not different:
        return [View("A | B", found[0], ratio=True)]
    role = [showing.title(pair[0]).removeprefix(a.letter).strip() for pair in found]
    return first + [
        View(f"{name}: A | B", pair, ratio=True) for name, pair in zip(role, found, strict=True)
    ]


def _subject(side: Side) -> str:
    """The run that a side begins to tell of."""
    runs, steps = side.performance.runs, side.performance.story.steps
    role = steps[0].role if len(steps) else ""
    return side.key(role if role in runs else next(iter(runs)))


@dataclass(frozen=True)
class Readout:
    """What a GPU counted in one run: values by key, or the reason why there are none.

    `badge` is a key of `BADGES`; `caption` says where the numbers come from;
    `whys` tells of single counters why they have no value; `sm` is the GPU's architecture.
    """

    badge: str
    caption: str
    values: Mapping[str, float] = field(default_factory=dict)
    whys: Mapping[str, str] = field(default_factory=dict)
    sm: str = ""

    def why(self, key: str) -> str:
        """Why a row has no measured value."""
        told = self.whys.get(key) or next(iter(first_of(key, self.whys)), "")
        if told or not self.values:
            return told or tr(self.caption)
        return tr("not read: {caption}", caption=tr(self.caption))


def readout_of(measurement: Measurement) -> Readout:
    """The counters of a measurement; unavailable when there is not one."""
    values = rows.measured(measurement)
    whys = {key: r.why for key, r in measurement.counters.items() if r.value is None}
    if values:
        return Readout(measurement.kind, caption(measurement), values, whys, measurement.device.sm)
    why = next(iter(whys.values()), measurement.device.counters or tr("no counters were read"))
    return Readout("unavailable", tr("counters unavailable: {why}", why=why), {}, whys)


def updated(measured: Readout, readings: Mapping[str, CounterValue]) -> Readout:
    """The same with newer values for some counters."""
    fresh = {key: r.value for key, r in readings.items() if r.value is not None}
    return replace(measured, values={**measured.values, **fresh})


NOT_MEASURED = Readout("unavailable", later("unavailable: no GPU has run this launch"))


@dataclass(frozen=True)
class Column:
    """A column: its title, the badge of its numbers, what hovering the title says, its run."""

    kind: Kind
    title: str = ""
    badge: str = ""
    hint: str = ""
    run: int = 0


def columns_of(
    view: View,
    titles: Mapping[str, str],
    indices: Mapping[str, int],
    measured: Mapping[str, Readout],
    unchecked: Mapping[str, str] = MappingProxyType({}),
) -> list[Column]:
    """Names, predictions, and either the measurement of one run or the ratio of two.

    `unchecked` names the files whose programs were run, by run.
    """
    first = view.runs[0]

    def predicted_of(key: str, title: str) -> Column:
        file = unchecked.get(key, "")
        hint = f"{tr(HINTS['predicted'])} {not_checked(file)}".strip()
        return Column("predicted", title, "unchecked" if file else "model", hint, indices[key])

    if len(view.runs) > 1:
        made: list[Column] = []
        for key in view.runs:
            made.append(predicted_of(key, titles[key]))
            known = measured.get(key, NOT_MEASURED)
            if known.values:
                made.append(
                    Column("measured", titles[key], known.badge, tr(known.caption), indices[key])
                )
        return [Column("name"), *([_ratio(view, titles, indices)] if view.ratio else []), *made]
    run, found = indices[first], measured.get(first, NOT_MEASURED)
    predicted = predicted_of(first, tr("predicted"))
    columns = [
        Column("name"),
        predicted,
        Column("measured", tr("measured"), found.badge, tr(found.caption), run),
    ]
    if found.values:
        columns.append(Column("residual", "Δ", "", tr(HINTS["residual"]), run))
    return columns


def _ratio(view: View, titles: Mapping[str, str], indices: Mapping[str, int]) -> Column:
    a, b = (titles[key] for key in view.runs[:2])
    title = f"{b} / {a}" if len(a) + len(b) < 6 else tr("ratio")
    return Column("ratio", title, "", tr("{b} divided by {a}", a=a, b=b), indices[view.runs[0]])


@dataclass(frozen=True, eq=False)
class Sheet:
    """Rows, columns and measurements: everything that cells are made of.

    `runs` and `archs` name the runs whose values the rows hold, and what they are predicted for;
    `sampled` are those whose values are estimates, which are never compared with a measurement.
    """

    rows: tuple[Row, ...] = ()
    columns: tuple[Column, ...] = ()
    runs: tuple[str, ...] = ()
    measured: Mapping[str, Readout] = field(default_factory=dict)
    view: View | None = None
    archs: tuple[str, ...] = ()
    sampled: frozenset[str] = frozenset()

    def text(self, row: Row, column: Column) -> str:
        """What a cell says."""
        if column.kind == "name":
            return row.label
        if not row.values:
            return ""
        if column.kind == "ratio":
            return ratio(*self._pair(row))
        if column.kind == "residual":
            return self._residual(row, column)
        value = (
            row.values[column.run] if column.kind == "predicted" else self.reading(row, column.run)
        )
        said = shown(value, row.percent, row.digits)
        estimated = column.kind == "predicted" and self.runs[column.run] in self.sampled
        return f"≈ {said}" if said and estimated else said

    def reading(self, row: Row, run: int) -> float | None:
        """What was measured of a row in a run."""
        found = self.measured.get(self.runs[run], NOT_MEASURED)
        missing = row.values[run] is None and not row.modelled  # no such access is made
        if missing or not self._alike(row, run):
            return None
        return row.measured(run, found.values.get(row.key))

    def residual(self, row: Row, run: int) -> float | None:
        """Measured minus predicted, None where one is missing or they are of different GPUs."""
        if self.foreign(run) or self.runs[run] in self.sampled:
            return None
        predicted = row.values[run] if row.values else None
        reading = self.reading(row, run) if row.values else None
        return None if predicted is None or reading is None else reading - predicted

    def foreign(self, run: int) -> bool:
        """Whether the GPU is of another architecture than the prediction is for."""
        found = self.measured.get(self.runs[run], NOT_MEASURED)
        return bool(found.sm and self.archs) and found.sm != self.archs[run]

    def why(self, row: Row, run: int) -> str:
        """Why a row has no measured value."""
        found = self.measured.get(self.runs[run], NOT_MEASURED)
        if found.values and not self._alike(row, run):
            return tr("the GPU counts sectors of 32 bytes, the model what this architecture moves")
        return found.why(row.key)

    def _alike(self, row: Row, run: int) -> bool:
        """Whether the GPU counts in a row what is predicted for a run."""
        found = self.measured.get(self.runs[run], NOT_MEASURED)
        return not self.foreign(run) or same_size(row, found.sm, self.archs[run])

    def _pair(self, row: Row) -> tuple[float | None, float | None]:
        """The values of both runs, where they are of things as large as each other."""
        assert self.view is not None
        runs = [self.runs.index(key) for key in self.view.runs[:2]]
        if self.archs and not same_size(row, *(self.archs[run] for run in runs)):
            return None, None
        a, b = (row.values[run] for run in runs)
        return a, b

    def _residual(self, row: Row, column: Column) -> str:
        residual = self.residual(row, column.run)
        if residual is None or row.percent:
            return ""
        if row.modelled and not row.digits:
            return _hundredths(residual, row.values[column.run])
        return signed(residual, row.digits)


def same_size(row: Row, one: str, other: str) -> bool:
    """Whether what a row counts is as large on both architectures: sectors have 32 bytes from 5.0
    on; what older ones move differs in size from one to the next.
    """
    count = find(row.key)
    if count is None or not count.quantity.startswith("sectors") or one == other:
        return True
    return architecture(one).has_sectors and architecture(other).has_sectors


def _hundredths(residual: float, predicted: float | None) -> str:
    """A difference as a part of what was predicted."""
    return f"{residual / predicted:+.0%}".replace("-", "−") if predicted else ""


def signed(value: float, digits: int = 0) -> str:
    """A difference with its sign; 0 plainly."""
    value = round(value, digits)
    return typeset(f"{value:+,.{digits}f}").replace("-", "−") if value else "0"


def ratio(a: float | None, b: float | None) -> str:
    """How many times as much b is."""
    return multiple(None if a is None or b is None or a == 0 else b / a)
