"""ILP against TLP: independent instructions of one warp, and more warps, hide the same latency."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.arch import Architecture, architecture
from gpuviz.arrays import F64
from gpuviz.draw.plot import logarithmic
from gpuviz.language import tr
from gpuviz.occupancy import occupancy
from gpuviz.panels.bar import Bar
from gpuviz.panels.figures import Counted, Figure, Sourced
from gpuviz.panels.layout import Line, rows, spare
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.panels.plot import Corner, Curve, Element, Note, Plot, Points
from gpuviz.panels.script import Act, Script
from gpuviz.panels.table import Column, Table
from gpuviz.panels.warp_turns import WarpTurns
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Value, Values
from gpuviz.scenes.latency import ELEMENTS, LOADS, WARPS, Latency, Variant, cycles_of, rates_of
from gpuviz.scenes.occupancy_fit import G80, name_of, percent
from gpuviz.scenes.values import number

_KERNEL, _SWEEP = "latency.cu", "sweep"
_WIDEST = 1024  # threads a block of the sweep
_TURNS, _CHART, _TABLE, _MEASURED, _END = 9.0, 4.5, 3.0, 4.0, 1.5  # seconds
_PERIODS = 2.2  # of the longer of one load and one round of turns, in view

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
class _Shown:
    """All that the pictures select from: a multiprocessor with its warps, the kernels as compiled,
    and what was measured of the sweep (None: nothing).
    """

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


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """Warps take turns; the line between hidden and not; the kernels as compiled."""
    arch = G80 if values["sm"] == "G80" else architecture(runs[_SWEEP].arch)
    threads, independent = number(values, "threads"), number(values, "independent")
    registers = number(values, "registers") or _registers(runs[str(independent)])
    blocks, wait = occupancy(arch, threads, registers).blocks, number(values, "latency")
    one = Latency(blocks * -(-threads // 32), independent, cycles_of(arch), wait)
    variants = tuple(_variant(runs[str(n)], n, arch, threads, wait) for n in LOADS)
    rates, found = rates_of(runs[_SWEEP]), runs[_SWEEP].measurement
    badge, device = tr("unavailable"), tr("no GPU and no recording")
    if rates is not None and found is not None:
        badge = tr("recorded") if found.badge == "recorded" else tr("live")
        device = found.device.name
    given = bool(number(values, "registers"))
    shown = _Shown(arch, one, threads, registers, given, blocks, variants, rates, badge, device)
    script = Script(str(independent))
    turns = _turns(script, one, runs[script.role])
    chart = script.act(
        _CHART + _END, "intro", tr("warps needed"), tr("{n} warps needed", n=one.needed)
    )
    line = _line(runs[script.role], "value[k] = in")
    said = tr("registers of 1, 2, 4 and 8 loads at once")
    table = script.act(_TABLE + _END, "result", tr("as compiled"), said, line)
    if rates is not None:
        script.act(_MEASURED + _END, "result", tr("measured"), tr("1 to 32 warps"), line)

    def at(t: float) -> Picture:
        if t < turns.end:
            return _warps(shown, turns.share(t))
        if t < chart.end:
            return _chart(shown, min((t - chart.start) / _CHART, 1.0))
        if t < table.end or rates is None:
            return _compiled(shown, min((t - table.start) / _TABLE, 1.0))
        return _measured(shown, rates, min((t - table.end) / _MEASURED, 1.0))

    return Story.of(script, at, _expected(shown))


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


def _sentence(scene: _Shown) -> str:
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


def _expected(scene: _Shown) -> str:
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


def _turns(script: Script, one: Latency, run: Run) -> Act:
    """The first loads, the wait, the next round."""
    pace = _TURNS / (_PERIODS * one.period)
    out = min(one.warps * one.turn, one.period)
    add = _line(run, "sum += value")
    first = script.act(
        max(out * pace, 1.0),
        "load",
        tr("first turns"),
        tr("each warp sends a load"),
        _line(run, "value[k] = in"),
    )
    if one.busy < 1:
        idle = tr("lanes idle for {n} cycles", n=f"{one.period - out:.0f}")
        script.act((one.period - out) * pace, "barrier", tr("wait"), idle, add)
    busy = tr("lanes busy {n}", n=percent(one.busy))
    last = script.act(max(_TURNS - one.period * pace, 1.0), "compute", tr("next turns"), busy, add)
    return first.until(last)


def _line(run: Run, part: str) -> int:
    """The CUDA line with a statement."""
    source = run.trace.source.splitlines()
    return next((n for n, text in enumerate(source, 1) if part in text), 0)


def _warps(shown: _Shown, share: float) -> Picture:
    """The rows of warps."""
    one, span = shown.one, _PERIODS * shown.one.period
    turns = WarpTurns(one.warps, one.turn, one.period, one.wait, span, share * span)
    return Picture(_title(one), _sentence(shown), rows(turns, _figures(shown), _source(shown)))


def _figures(shown: _Shown) -> Counted:
    """Needed, resident, busy."""
    one = shown.one
    ink: Ink = "accent" if one.busy >= 1 else "warn"
    needed = tr(
        "needed {wait} / ({n} × {c}) = {needed}",
        wait=one.wait,
        n=one.independent,
        c=f"{one.cycles:g}",
        needed=one.needed,
    )
    resident = tr("{warps} warps in {blocks} blocks", warps=one.warps, blocks=shown.blocks)
    return Counted(
        (
            Figure(tr("lanes busy {n}", n=percent(one.busy)), ink, True),
            Figure(resident),
            Figure(needed, "muted"),
        )
    )


def _source(shown: _Shown) -> Sourced:
    """The slides' figures for these registers, or where the registers come from."""
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
    slides = shown.arch is G80 and shown.threads == 256 and shown.one.wait == 200
    if slides and shown.registers in said:
        return Sourced(said[shown.registers])
    origin = tr("given") if shown.given else tr("as compiled")
    texts = (
        tr(
            "{name}: {threads} threads a block, {n} registers each ({origin})",
            name=name_of(shown.arch),
            threads=shown.threads,
            n=shown.registers,
            origin=origin,
        ),
        tr("{n} registers ({origin})", n=shown.registers, origin=origin),
    )
    return Sourced(texts, tr("model"), "accent")


def _chart(shown: _Shown, share: float) -> Picture:
    """Needed warps over independent instructions."""
    texts = (
        tr(
            "{name}: {wait} cycles of latency, {cycles} cycles an instruction of a warp",
            name=name_of(shown.arch),
            wait=shown.one.wait,
            cycles=f"{shown.one.cycles:g}",
        ),
        name_of(shown.arch),
    )
    return Picture(
        tr("Twice the independent instructions need half the warps"),
        tr(
            "Rings: our kernel with 1, 2, 4 and 8 loads at once, with the registers it compiles to."
        ),
        rows(_needed(shown, share), Sourced(texts, tr("model"), "accent")),
    )


def _needed(shown: _Shown, share: float) -> Plot:
    """The line above which latency is hidden; the kernels as compiled, and the one chosen."""
    one, fitting = shown.one, [v for v in shown.variants if v.latency.warps]
    top = 2.0 ** np.ceil(np.log2(max(one.wait / one.cycles, 64.0)) + 0.01)
    x = logarithmic(
        (tr("independent instructions before a warp waits"), tr("independent instructions")),
        1.0,
        16.0,
        2.0,
    )
    y = logarithmic((tr("warps on a multiprocessor"), tr("warps")), 1.0, float(top), 4.0)
    ways: F64 = np.array([1.0, 2.0 ** (4.0 * min(share * 1.5, 1.0))])
    elements: list[Element] = [Curve(ways, one.wait / (ways * one.cycles), width=3)]
    if share * 1.5 >= 1:
        elements += [
            Corner("top right", tr("above: latency hidden"), "good", answers=True),
            Corner("bottom left", tr("below: lanes idle"), "warn", answers=True),
        ]
        loads, warps = [v.loads for v in fitting], [v.latency.warps for v in fitting]
        if fitting:
            elements.append(
                Points(
                    loads,
                    warps,
                    "compute",
                    6,
                    hollow=True,
                    tip=lambda i: _tip(fitting[i]),
                    answers=True,
                )
            )
        if one.warps:
            ink: Ink = "good" if one.busy >= 1 else "warn"
            chosen = [one.independent], [one.warps]
            text = tr("{warps} warps, {needed} needed", warps=one.warps, needed=one.needed)
            elements.append(Points(*chosen, ink, answers=True))
            elements.append(Note(one.independent, one.warps, text, answers=True))
    return Plot(x, y, tuple(elements))


def _tip(one: Variant) -> str:
    """A compiled kernel in words."""
    return tr(
        "{loads} loads at once: {registers} registers, {warps} warps",
        loads=one.loads,
        registers=one.registers,
        warps=one.latency.warps,
    )


def _compiled(shown: _Shown, share: float) -> Picture:
    """The kernels as compiled."""
    ink: Ink = "muted" if shown.rates is None else "good"
    texts = (tr("how fast one multiprocessor loads: {device}", device=shown.device), shown.device)
    model = (
        tr(
            "{name}: {threads} threads a block, latency {wait} cycles",
            name=name_of(shown.arch),
            threads=shown.threads,
            wait=shown.one.wait,
        ),
        name_of(shown.arch),
    )
    several = len({v.latency.warps for v in shown.variants}) > 1
    title = (
        tr("Loads at once cost registers, and registers cost warps")
        if several
        else tr("Loads at once cost registers; this multiprocessor has enough of them")
    )
    body: Line = rows(
        _table(shown, share),
        Sourced(model, tr("model"), "accent"),
        Sourced(texts, shown.badge, ink),
        spare(_needed(shown, 1.0)),
    )
    said = tr("The compiler keeps every load that is under way in a register of its own.")
    return Picture(title, said, body)


def _table(shown: _Shown, share: float) -> Table:
    """What each kernel takes, leaves, and reaches."""
    every, rates, model = shown.variants, shown.rates, tr("model")
    cells = tuple("–" for _ in every)
    if rates is not None:
        cells = tuple(tr("{n} B/ns", n=f"{rate:.1f}") for rate in rates[-1])
    busy = tuple(v.latency.busy for v in every)
    under_way = tuple(f"{v.under_way:,}".replace(",", "\u2009") for v in every)
    warps = tuple(str(v.latency.warps) for v in every)
    needed = tuple(str(v.latency.needed) for v in every)
    ink: Ink = "muted" if rates is None else "good"
    columns = (
        Column((tr("loads at once"), tr("loads")), tuple(str(v.loads) for v in every)),
        Column((tr("registers"),), tuple(str(v.registers) for v in every), badge=model, bold=True),
        Column((tr("blocks"),), tuple(str(v.blocks) for v in every), optional=2),
        Column((tr("warps resident"), tr("warps")), warps, badge=model, bold=True),
        Column((tr("warps needed"), tr("needed")), needed),
        Column((tr("lanes busy"), tr("busy")), tuple(map(percent, busy))),
        Column(
            (tr("of the time"), ""),
            ("",) * len(every),
            "left",
            optional=4,
            bars=tuple((Bar(share, 1 - share, ink="accent"),) for share in busy),
        ),
        Column((tr("bytes under way"), tr("bytes")), under_way, badge=model, optional=1),
        Column(
            (tr("32 warps load"), tr("32 warps")), cells, badge=shown.badge, ink=ink, optional=3
        ),
    )
    count = min(int(share * len(LOADS)) + 1, len(LOADS))
    return Table(columns, LOADS.index(shown.one.independent), count)


def _measured(shown: _Shown, rates: F64, share: float) -> Picture:
    """Bytes a nanosecond over warps, a line for each number of loads at once."""
    x = logarithmic((tr("warps on the multiprocessor"), tr("warps")), 1.0, 32.0, 2.0)
    low, high = 2.0 ** np.floor(np.log2(rates.min())), 2.0 ** np.ceil(np.log2(rates.max()))
    titles = tr("bytes a nanosecond, one multiprocessor"), tr("B/ns")
    inks: tuple[Ink, ...] = ("warn", "good", "shared", "accent")
    elements: list[Element] = []
    for column, (loads, ink) in enumerate(zip(LOADS, inks, strict=True)):
        name, y = tr("{n} at once", n=loads), rates[:, column]
        elements += [Curve(WARPS, y, ink, name=name, grown=share), Points(WARPS, y, ink, 4, share)]
    plot = Plot(x, logarithmic(titles, float(low), float(high), 2.0), tuple(elements))
    return Picture(
        tr("Measured: more warps, or more loads of each, load faster"),
        tr("Each block alone on its multiprocessor, timed from its first to its last thread."),
        rows(plot, Sourced((shown.device,), shown.badge, "good")),
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
