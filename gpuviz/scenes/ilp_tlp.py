"""ILP against TLP: independent instructions of one warp, and more warps, hide the same latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import F64
from gpuviz.draw import table
from gpuviz.draw.figures import Figure, figures, line_height, sourced
from gpuviz.draw.heading import steady_heading
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.language import tr
from gpuviz.occupancy import occupancy
from gpuviz.panels.script import Step
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.together.latency import Latency, cycles_of
from gpuviz.scenes.together.latency_charts import (
    ELEMENTS,
    LOADS,
    WARPS,
    Variant,
    bars,
    compiled,
    measured,
    needed,
    rates_of,
)
from gpuviz.scenes.together.latency_view import span_of, turns
from gpuviz.scenes.together.occupancy_fit import G80, name_of, percent
from gpuviz.scenes.values import number

_KERNEL, _SWEEP = "latency.cu", "sweep"
_WIDEST = 1024  # threads a block of the sweep
_TURNS, _CHART, _TABLE, _MEASURED, _END = 9.0, 4.5, 3.0, 4.0, 1.5  # seconds
_LEAST_CHART = 13.0  # letters high

PARAMETERS = (
    Parameter(
        "independent",
        "independent instructions",
        4,
        compiled=True,
        choices=tuple(Choice(n, str(n)) for n in LOADS),
        hint="that a warp can execute while a load of its own is under way",
    ),
    Parameter(
        "registers",
        "registers a thread",
        10,
        0,
        255,
        hint="0: those that the compiler takes for so many independent loads",
    ),
    Parameter(
        "threads",
        "threads per block",
        256,
        choices=tuple(Choice(n, str(n)) for n in (64, 128, 256, 512)),
    ),
    Parameter("latency", "latency of a load", 200, 20, 1000, hint="cycles"),
    Parameter(
        "sm",
        "multiprocessor",
        "G80",
        choices=(
            Choice("G80", "G80 (1.0), of the slides"),
            Choice("chosen", "the architecture chosen"),
        ),
    ),
)

_SLIDES: dict[str, Value] = {"sm": "G80", "threads": 256, "latency": 200}
_TODAY: dict[str, Value] = {"sm": "chosen", "threads": 256, "latency": 500, "registers": 0}
PRESETS = (
    Preset("4 independent, 10 registers", {**_SLIDES, "independent": 4, "registers": 10}),
    Preset("8 independent, 11 registers", {**_SLIDES, "independent": 8, "registers": 11}),
    Preset("Nothing independent", {**_SLIDES, "independent": 1, "registers": 10}),
    Preset("Today, one load at a time", {**_TODAY, "independent": 1}),
    Preset("Today, eight at once", {**_TODAY, "independent": 8}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """The kernel with 1 to 8 loads at once, and all of them at once with 1 to 32 warps."""
    threads = number(values, "threads")
    grid = len(LOADS) * len(WARPS)
    return (
        *(_plan(str(n), "independent", 1, threads, n) for n in LOADS),
        _plan(_SWEEP, "sweep", grid, _WIDEST, LOADS[-1]),
    )


def _plan(role: str, entry: str, blocks: int, threads: int, loads: int) -> Plan:
    """One launch."""
    count = blocks * threads
    return Plan(
        role,
        _KERNEL,
        entry,
        (blocks, 1, 1),
        (threads, 1, 1),
        (f"f32[{count * ELEMENTS}]=rand", f"f32[{count}]=zeros", f"i32={ELEMENTS}"),
        (("LOADS", str(loads)),),
    )


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from."""

    arch: Architecture
    one: Latency
    threads: int
    registers: int
    given: bool
    blocks: int
    variants: tuple[Variant, ...]
    rates: F64 | None
    badge: str
    device: str
    steps: tuple[Step, ...]

    @property
    def starts(self) -> tuple[float, float, float]:
        """When chart, table and measurement begin; the last one never when there is none."""
        last = 1 if self.rates is None else 2
        rates = float("inf") if self.rates is None else self.steps[-1].start
        return self.steps[-last - 1].start, self.steps[-last].start, rates


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """Warps take turns; the line between hidden and not; the kernels as compiled."""
    chosen = architecture(runs[_SWEEP].arch)
    arch = G80 if values["sm"] == "G80" else chosen
    threads, independent = number(values, "threads"), number(values, "independent")
    registers = number(values, "registers") or _registers(runs[str(independent)])
    blocks = occupancy(arch, threads, registers).blocks
    wait = number(values, "latency")
    one = Latency(blocks * -(-threads // 32), independent, cycles_of(arch), wait)
    variants = tuple(_variant(runs[str(n)], n, arch, threads, wait) for n in LOADS)
    rates = rates_of(runs[_SWEEP])
    found = runs[_SWEEP].measurement
    badge = (
        tr("unavailable")
        if rates is None or found is None
        else (tr("recorded") if found.badge == "recorded" else tr("live"))
    )
    device = tr("no GPU and no recording") if rates is None or found is None else found.device.name
    steps = _steps(one, runs, rates is not None)
    scene = _Scene(
        arch,
        one,
        threads,
        registers,
        bool(number(values, "registers")),
        blocks,
        variants,
        rates,
        badge,
        device,
        steps,
    )
    return Story(
        _title(one),
        _sentence(scene),
        steps,
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(scene),
    )


def _registers(run: Run) -> int:
    """What the compiler takes; 0 when nobody said."""
    return run.resources.registers if run.resources else 0


def _variant(run: Run, loads: int, arch: Architecture, threads: int, wait: int) -> Variant:
    """A kernel as compiled, on a multiprocessor."""
    registers = _registers(run)
    blocks = occupancy(arch, threads, registers).blocks
    warps = blocks * -(-threads // 32)
    return Variant(loads, registers, blocks, Latency(warps, loads, cycles_of(arch), wait))


def _title(one: Latency) -> str:
    """Whether the latency is hidden."""
    if one.warps == 0:
        return tr("No block fits: nothing hides the latency")
    if one.busy >= 1:
        return tr(
            "{warps} warps hide {wait} cycles of latency: {needed} would do",
            warps=one.warps,
            wait=one.wait,
            needed=one.needed,
        )
    return tr(
        "{warps} warps do not hide {wait} cycles: it takes {needed}",
        warps=one.warps,
        wait=one.wait,
        needed=one.needed,
    )


def _sentence(scene: _Scene) -> str:
    """The arithmetic in words."""
    one = scene.one
    text = tr(
        "A warp keeps the lanes busy for {n} × {cycles} cycles, then waits for its load; "
        "the others take their turns.",
        n=one.independent,
        cycles=f"{one.cycles:g}",
    )
    if one.busy >= 1:
        return text
    return tr(
        "A warp is busy for {n} × {cycles} cycles, then waits for its load: the lanes are "
        "idle {idle} of the time.",
        n=one.independent,
        cycles=f"{one.cycles:g}",
        idle=percent(1 - one.busy),
    )


def _expected(scene: _Scene) -> str:
    """The slides' figures, or the formula."""
    one = scene.one
    formula = tr(
        "closed form: {wait} / ({n} × {cycles}) = {needed} warps, rounded up",
        wait=one.wait,
        n=one.independent,
        cycles=f"{one.cycles:g}",
        needed=one.needed,
    )
    if scene.arch is not G80:
        return formula
    return formula + "; " + _published()


def _published() -> str:
    """What the slides say."""
    return tr(
        "published (lecture slides, G80): 10 registers give 3 blocks of 256 threads; 11 give "
        "2, and 8 independent instructions, for which 200 / (8 × 4) = 7 warps do; 2 blocks "
        "have 16"
    )


def _steps(one: Latency, runs: Mapping[str, Run], timed: bool) -> tuple[Step, ...]:
    """The first loads, the wait, the second round; the line; the table; what was measured."""
    role = str(one.independent)
    rows = runs[role].trace.source.splitlines()
    load, add = (
        next((n for n, text in enumerate(rows, 1) if part in text), 0)
        for part in ("value[k] = in", "sum += value")
    )
    whole = span_of(one)
    pace = _TURNS / whole
    out = min(one.warps * one.turn, one.period)
    made: list[Step] = []
    acts: list[tuple[float, str, str, str, int]] = [
        (max(out * pace, 1.0), "load", tr("first turns"), tr("each warp sends a load"), load)
    ]
    if one.busy < 1:
        acts.append(
            (
                (one.period - out) * pace,
                "barrier",
                tr("wait"),
                tr("lanes idle for {n} cycles", n=f"{one.period - out:.0f}"),
                add,
            )
        )
    acts += [
        (
            max(_TURNS - one.period * pace, 1.0),
            "compute",
            tr("next turns"),
            tr("lanes busy {n}", n=percent(one.busy)),
            add,
        ),
        (_CHART + _END, "intro", tr("warps needed"), tr("{n} warps needed", n=one.needed), 0),
        (
            _TABLE + _END,
            "result",
            tr("as compiled"),
            tr("registers of 1, 2, 4 and 8 loads at once"),
            load,
        ),
    ]
    if timed:
        acts.append((_MEASURED + _END, "result", tr("measured"), tr("1 to 32 warps"), load))
    for length, kind, name, detail, line in acts:
        t = made[-1].end if made else 0.0
        made.append(Step(t, t + length, kind, name, detail, line, role))  # type: ignore[arg-type]
    return tuple(made)


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    for start, picture in reversed([*zip(scene.starts, (_chart, _table, _rates), strict=True)]):
        if t >= start:
            return picture(scene, t - start, stage)
    return _warps(scene, t, stage)


def _warps(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The rows of warps."""
    head, area = steady_heading(stage, _title(scene.one), _sentence(scene), ())
    low = line_height(stage)
    top = area.above(area.height - 2 * low - stage.text(14) * 0.2)[0]
    feet = [Rect(area.x, area.bottom - n * low, area.width, low) for n in (2, 1)]
    now = t / scene.starts[0] * span_of(scene.one)
    rows = turns(stage, top, scene.one, now) if scene.one.warps else ()
    return stage.frame(
        *head, *rows, *_figures(stage, feet[0], scene), *_source(stage, feet[1], scene)
    )


def _figures(stage: Stage, area: Rect, scene: _Scene) -> tuple[Mark, ...]:
    """Needed, resident, busy."""
    palette, one = stage.palette, scene.one
    busy, hidden = one.busy, one.busy >= 1
    pieces: tuple[Figure, ...] = (
        (tr("lanes busy {n}", n=percent(busy)), palette.accent if hidden else palette.warn, True),
        (
            tr("{warps} warps in {blocks} blocks", warps=one.warps, blocks=scene.blocks),
            palette.ink,
            False,
        ),
        (
            tr(
                "needed {wait} / ({n} × {c}) = {needed}",
                wait=one.wait,
                n=one.independent,
                c=f"{one.cycles:g}",
                needed=one.needed,
            ),
            palette.muted,
            False,
        ),
    )
    return figures(stage, area, pieces, tr("model"), palette.accent)


def _source(stage: Stage, area: Rect, scene: _Scene) -> tuple[Mark, ...]:
    """The slides' figures for these registers, or where the registers come from."""
    palette = stage.palette
    said = {
        10: (
            tr("lecture slides, G80: 4 independent instructions, 10 registers: 3 blocks"),
            tr("slides, G80: 10 registers: 3 blocks"),
        ),
        11: (
            tr("lecture slides, G80: 200 / (8 × 4) = 7 warps; 11 registers: 2 blocks, 16 warps"),
            tr("slides, G80: 7 warps needed, 16 there"),
        ),
    }
    slides = scene.arch is G80 and scene.threads == 256 and scene.one.wait == 200
    if slides and scene.registers in said:
        return sourced(stage, area, tr("published"), palette.muted, said[scene.registers])
    origin = tr("given") if scene.given else tr("as compiled")
    texts = (
        tr(
            "{name}: {threads} threads a block, {n} registers each ({origin})",
            name=name_of(scene.arch),
            threads=scene.threads,
            n=scene.registers,
            origin=origin,
        ),
        tr("{n} registers ({origin})", n=scene.registers, origin=origin),
    )
    return sourced(stage, area, tr("model"), palette.accent, texts)


def _chart(scene: _Scene, since: float, stage: Stage) -> Frame:
    """Needed warps over independent instructions."""
    head, area = steady_heading(
        stage,
        tr("Twice the independent instructions need half the warps"),
        tr(
            "Rings: our kernel with 1, 2, 4 and 8 loads at once, with the registers it compiles to."
        ),
        (),
    )
    low = line_height(stage)
    top, foot = area.above(area.height - low)
    share = min(since / _CHART, 1.0)
    texts = (
        tr(
            "{name}: {wait} cycles of latency, {cycles} cycles an instruction of a warp",
            name=name_of(scene.arch),
            wait=scene.one.wait,
            cycles=f"{scene.one.cycles:g}",
        ),
        name_of(scene.arch),
    )
    return stage.frame(
        *head,
        *needed(stage, top, scene.one, scene.variants, share),
        *sourced(stage, foot, tr("model"), stage.palette.accent, texts),
    )


def _table(scene: _Scene, since: float, stage: Stage) -> Frame:
    """The kernels as compiled."""
    head, area = steady_heading(
        stage,
        _table_title(scene),
        tr("The compiler keeps every load that is under way in a register of its own."),
        (),
    )
    low, side = line_height(stage), stage.text(14) * 0.5
    inner = Rect(area.x + side, area.y, area.width - 2 * side, area.height - 2 * low)
    laid = compiled(stage, inner, scene.variants, scene.rates, scene.badge)
    shown = min(int(since / _TABLE * len(LOADS)) + 1, len(LOADS))
    now = LOADS.index(scene.one.independent)
    foot = Rect(inner.x, laid.bottom + low * 0.3, inner.width, low)
    color = stage.palette.muted if scene.rates is None else stage.palette.good
    texts = (tr("how fast one multiprocessor loads: {device}", device=scene.device), scene.device)
    model = (
        tr(
            "{name}: {threads} threads a block, latency {wait} cycles",
            name=name_of(scene.arch),
            threads=scene.threads,
            wait=scene.one.wait,
        ),
        name_of(scene.arch),
    )
    rest = area.above(foot.y + 2.5 * low - area.y)[1]
    more: tuple[Mark, ...] = ()
    if rest.height > _LEAST_CHART * stage.text(14):
        more = needed(stage, rest, scene.one, scene.variants, 1.0)
    return stage.frame(
        *head,
        *more,
        *table.draw(stage, laid, shown, now),
        *bars(stage, laid, scene.variants[:shown]),
        *sourced(stage, foot, tr("model"), stage.palette.accent, model),
        *sourced(stage, foot._replace(y=foot.y + low), scene.badge, color, texts),
    )


def _table_title(scene: _Scene) -> str:
    """Whether more registers leave fewer warps on this multiprocessor."""
    if len({v.latency.warps for v in scene.variants}) > 1:
        return tr("Loads at once cost registers, and registers cost warps")
    return tr("Loads at once cost registers; this multiprocessor has enough of them")


def _rates(scene: _Scene, since: float, stage: Stage) -> Frame:
    """What a GPU measured."""
    assert scene.rates is not None
    head, area = steady_heading(
        stage,
        tr("Measured: more warps, or more loads of each, load faster"),
        tr("Each block alone on its multiprocessor, timed from its first to its last thread."),
        (),
    )
    low = line_height(stage)
    top, foot = area.above(area.height - low)
    return stage.frame(
        *head,
        *measured(stage, top, scene.rates, min(since / _MEASURED, 1.0)),
        *sourced(stage, foot, scene.badge, stage.palette.good, (scene.device,)),
    )


LESSON = Lesson(
    "ilp-tlp",
    "ILP against TLP",
    "Putting it together",
    "Whether the warps on a multiprocessor have enough to do while loads are under way.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("ilp", "tlp", "latency", "occupancy", "register"),
)
