"""ILP against TLP: independent instructions of one warp, and more warps, hide the same latency."""

from dataclasses import replace

from gpuviz.arch import Architecture, architecture
from gpuviz.arch.occupancy import occupancy
from gpuviz.arch.occupancy_fit import G80, name_of, percent
from gpuviz.course import named
from gpuviz.course.together.ilp_tlp.latency_plots import (
    LatencyModel,
    WarpTurns,
    as_compiled,
    as_measured,
    warps_needed,
)
from gpuviz.course.together.ilp_tlp.warps_over_time import narrate as over_time
from gpuviz.course.together.ilp_tlp.warps_over_time import simulated
from gpuviz.course.together.latency_hiding import (
    ELEMENTS,
    LOADS,
    WARPS,
    Latency,
    Variant,
    cycles_of,
    rates_of,
    waits_of,
)
from gpuviz.panels.figures import Figure, FigureRow, Provenance
from gpuviz.panels.layout import rows
from gpuviz.panels.panel import Ink
from gpuviz.panels.picture import Picture
from gpuviz.run.run import Run
from gpuviz.story.lesson import Lesson, Parameter, Plan, Preset, Runs, Story, Value, Values, number
from gpuviz.story.script import Act, Script, line_with
from gpuviz.words.language import grouped, tr, trn

_KERNEL, _SWEEP = "latency.cu", "sweep"
_WIDEST = 1024  # threads a block of the sweep
_TURNS, _CHART, _TABLE, _MEASURED, _END = 9.0, 4.5, 3.0, 4.0, 1.5  # seconds
_PERIODS = 2.2  # of the longer of one load and one round of turns, in view

LOOK_FOR = "Whether the warps on a multiprocessor have enough to do while loads are under way."
WORDS = ("ilp", "tlp", "latency", "occupancy", "register")

PARAMETERS = (
    Parameter(
        "independent",
        "independent instructions",
        4,
        compiled=True,
        offers=LOADS,
        hint="that a warp can execute while a load of its own is under way",
    ),
    Parameter(
        "registers",
        "registers a thread",
        0,
        0,
        255,
        hint="of the arithmetic; 0: those that the compiler takes for so many independent loads",
    ),
    Parameter("threads", "threads per block", 256, offers=(64, 128, 256, 512)),
    Parameter("latency", "latency of a load", 500, 20, 1000, hint="of the arithmetic: cycles"),
    Parameter(
        "sm",
        "multiprocessor",
        "chosen",
        offers={"G80": "G80 (1.0), of the slides", "chosen": "the architecture chosen"},
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
        replace(
            _plan(_SWEEP, "sweep", grid, _WIDEST, LOADS[-1]),
            optional=True,
            record=tuple(range(grid)),
            path=True,
            timeline="each",
        ),
    )


def _plan(role: str, entry: str, blocks: int, threads: int, loads: int) -> Plan:
    """One launch."""
    count = blocks * threads
    shape = (blocks, 1, 1), (threads, 1, 1)
    arguments = (f"f32[{count * ELEMENTS}]=rand", f"f32[{count}]=zeros", f"i32={ELEMENTS}")
    size = trn(
        "{n} block, {each} loads a thread",
        "{n} blocks, {each} loads a thread",
        blocks,
        each=grouped(ELEMENTS),
    )
    return Plan(
        role, _KERNEL, entry, *shape, arguments, (("LOADS", str(loads)),), size=size, outputs=False
    )


def narrate(values: Values, runs: Runs) -> Story:
    """Warps over time as simulated, where the multiprocessor is modelled; else by arithmetic: warps
    take turns; the line between hidden and not; the kernels as compiled.
    """
    threads, independent = number(values, "threads"), number(values, "independent")
    shown_run, sweep = runs[str(independent)], runs.get(_SWEEP)  # of blocks too wide for CC 1.x
    arch = G80 if values["sm"] == "G80" else architecture(shown_run.arch)
    registers = number(values, "registers") or _registers(shown_run)
    blocks, wait = occupancy(arch, threads, registers).blocks, number(values, "latency")
    one = Latency(blocks * -(-threads // 32), independent, cycles_of(arch), wait)
    variants = tuple(_variant(runs[str(n)], n, arch, threads, wait) for n in LOADS)
    rates, found = (rates_of(sweep), sweep.measurement) if sweep else (None, None)
    badge, device = tr("unavailable"), tr("no GPU and no recording")
    if rates is not None and found is not None:
        badge, device = found.badge, found.gpu
    source = shown_run.trace.source
    load, add = (line_with(source, part) for part in ("value[k] = in", "sum += value"))
    if sweep is not None and arch is not G80:
        known = simulated(arch, sweep, variants, threads)
        if known is not None:
            return over_time(known, independent, _SWEEP, (load, add))
    given, waits = bool(number(values, "registers")), waits_of(sweep) if sweep else None
    measured = rates, waits, badge, device
    shown = LatencyModel(arch, one, threads, registers, given, blocks, variants, *measured)
    script = Script(str(independent))
    turns = _turns(script, one, load, add)
    chart = script.act(
        _CHART + _END, "intro", tr("warps needed"), tr("{n} warps needed", n=one.needed)
    )
    said = tr("registers of 1, 2, 4 and 8 loads at once")
    table = script.act(_TABLE + _END, "result", tr("as compiled"), said, load)
    if rates is not None:
        script.act(_MEASURED + _END, "result", tr("measured"), tr("1 to 32 warps"), load)

    def at(t: float) -> Picture:
        if t < turns.end:
            return _warps(shown, turns.share(t))
        if t < chart.end:
            return warps_needed(shown, min((t - chart.start) / _CHART, 1.0))
        if t < table.end or rates is None:
            return as_compiled(shown, min((t - table.start) / _TABLE, 1.0))
        return as_measured(shown, rates, min((t - table.end) / _MEASURED, 1.0))

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
    """Whether the warps fill every issue slot."""
    if one.warps == 0:
        return tr("No block fits: nothing hides the latency")
    if one.busy >= 1:
        what: dict[str, object] = {"warps": one.warps, "wait": one.wait, "needed": one.needed}
        return tr("{warps} warps hide {wait} cycles of latency: {needed} would do", **what)
    what = {"warps": one.warps, "busy": percent(one.busy), "needed": one.needed}
    return tr(
        "{warps} warps keep the lanes busy {busy} of the time: all of it takes {needed}", **what
    )


def _sentence(scene: LatencyModel) -> str:
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
        "{n} × {cycles} cycles of work for each load of {wait}: to fill every issue slot takes "
        "{needed} warps; to keep memory busy takes bytes under way.",
        n=one.independent,
        cycles=f"{one.cycles:g}",
        wait=one.wait,
        needed=one.needed,
    )


def _expected(scene: LatencyModel) -> str:
    """The slides' figures, or the formula."""
    one = scene.one
    formula = tr(
        "by arithmetic: {wait} / ({n} × {cycles}) = {needed} warps, rounded up",
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


def _turns(script: Script, one: Latency, load: int, add: int) -> Act:
    """The first loads, the wait, the next round."""
    pace = _TURNS / (_PERIODS * one.period)
    out = min(one.warps * one.turn, one.period)
    first = script.act(
        max(out * pace, 1.0), "load", tr("first turns"), tr("each warp sends a load"), load
    )
    if one.busy < 1:
        idle = tr("lanes idle for {n} cycles", n=f"{one.period - out:.0f}")
        script.act((one.period - out) * pace, "barrier", tr("wait"), idle, add)
    busy = tr("lanes busy {n}", n=percent(one.busy))
    last = script.act(max(_TURNS - one.period * pace, 1.0), "compute", tr("next turns"), busy, add)
    return first.until(last)


def _warps(shown: LatencyModel, share: float) -> Picture:
    """The rows of warps."""
    one, span = shown.one, _PERIODS * shown.one.period
    turns = WarpTurns(one.warps, one.turn, one.period, one.wait, span, share * span)
    return Picture(_title(one), _sentence(shown), rows(turns, _figures(shown), _source(shown)))


def _figures(shown: LatencyModel) -> FigureRow:
    """Needed, resident, busy."""
    one = shown.one
    ink: Ink = "accent" if one.busy >= 1 else "warn"
    what = {"wait": one.wait, "n": one.independent, "c": f"{one.cycles:g}", "needed": one.needed}
    needed = tr("needed {wait} / ({n} × {c}) = {needed}", **what)
    warps = trn("{n} warp", "{n} warps", one.warps)
    resident = trn("{warps} in {n} block", "{warps} in {n} blocks", shown.blocks, warps=warps)
    return FigureRow(
        (
            Figure(tr("lanes busy {n}", n=percent(one.busy)), ink, True),
            Figure(resident),
            Figure(needed, "muted"),
        )
    )


def _source(shown: LatencyModel) -> Provenance:
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
        return Provenance(said[shown.registers])
    origin = tr("given") if shown.given else tr("as compiled")
    texts = (
        trn(
            "{name}: {threads} threads a block, {n} register each ({origin})",
            "{name}: {threads} threads a block, {n} registers each ({origin})",
            shown.registers,
            name=name_of(shown.arch),
            threads=shown.threads,
            origin=origin,
        ),
        trn("{n} register ({origin})", "{n} registers ({origin})", shown.registers, origin=origin),
    )
    return Provenance(texts, tr("model"), "accent")


LESSON = Lesson(*named(__name__), LOOK_FOR, PARAMETERS, PRESETS, plan, narrate, words=WORDS)
