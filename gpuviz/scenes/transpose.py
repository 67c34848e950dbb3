"""Transpose: rows in and columns out, directly, through shared memory, padded, swizzled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuviz.arch import architecture
from gpuviz.draw.heading import heading, label
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Frame, Mark
from gpuviz.draw.stage import Stage
from gpuviz.draw.table import Column, draw, height_of, lay_out
from gpuviz.language import tr
from gpuviz.memory.counts import Count
from gpuviz.panels.script import Step, StepKind
from gpuviz.runners.base import Run
from gpuviz.scenes.base import Choice, Lesson, Parameter, Plan, Preset, Story, Values
from gpuviz.scenes.measured import badge_of, device_of, time_of
from gpuviz.scenes.shared_memory.transpose_block import Block, Pass, block_of
from gpuviz.scenes.shared_memory.transpose_view import Now, side, tiles
from gpuviz.scenes.values import number

_KERNEL = "transpose.cu"
VARIANTS = ("naive", "shared", "padded", "swizzled")
_LEAST_SIDE = 150.0  # smaller tiles have the stage to themselves until the result
_SHORT, _LONG, _REST, _BARRIER, _END = 1.8, 4.8, 1.6, 0.6, 5.0  # seconds

PARAMETERS = (
    Parameter(
        "variant",
        "kernel",
        "shared",
        choices=(
            Choice("naive", "naive"),
            Choice("shared", "through shared memory"),
            Choice("padded", "shared, padded rows"),
            Choice("swizzled", "shared, swizzled"),
        ),
    ),
    Parameter(
        "size",
        "rows and columns",
        64,
        choices=tuple(Choice(n, str(n)) for n in (32, 64, 128, 256, 512, 1024)),
    ),
    Parameter("warp", "warp shown", 0, 0, 7),
)

PRESETS = (
    Preset("Naive", {"variant": "naive"}),
    Preset("Shared", {"variant": "shared"}),
    Preset("Padded", {"variant": "padded"}),
    Preset("Swizzled", {"variant": "swizzled"}),
    Preset("Padded, 1024", {"variant": "padded", "size": 1024}),
)


def plan(values: Values) -> tuple[Plan, ...]:
    """All four kernels, so that they can be compared; a block off the diagonal is recorded."""
    n = number(values, "size")
    side = n // 32
    arguments = (f"f32[{n * n}]=arange", f"f32[{n * n}]=zeros", f"i32={n}")
    shown = min(1, side - 1)
    return tuple(
        Plan(name, _KERNEL, name, (side, side, 1), (32, 8, 1), arguments, record=(shown,))
        for name in VARIANTS
    )


@dataclass(frozen=True, eq=False)
class _Act:
    """A stretch of the story: one kind of request, that of the watched warp or all the others."""

    kind: str
    whole: bool
    start: float
    end: float

    def share(self, t: float) -> float:
        """How much of it is over."""
        return min(max((t - self.start) / (self.end - self.start), 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class _Scene:
    """All that the pictures select from."""

    variant: str
    block: Block
    acts: tuple[_Act, ...]
    columns: tuple[Column, ...]
    note: str
    title: str
    sentences: dict[str, str]

    def now(self, t: float) -> Now:
        """How far everything has come."""
        first = {a.kind: a.share(t) for a in self.acts if not a.whole}
        every = dict.fromkeys(self.block.moves, 0.0)
        for act in self.acts:
            if act.whole:
                every |= {k: act.share(t) for k in every if k in act.kind.split("+")}
        under = next((a.kind for a in self.acts if a.start <= t < a.end and not a.whole), "")
        return Now(first, every, under)


def tell(values: Values, runs: Mapping[str, Run]) -> Story:
    """One warp's row in detail, the rest of its block, and what all four kernels move."""
    variant = str(values["variant"])
    run = runs[variant]
    block = block_of(
        run.trace, architecture(run.arch), number(values, "size"), number(values, "warp")
    )
    acts = _acts(block)
    scene = _Scene(
        variant,
        block,
        acts,
        _columns(runs),
        _note(runs),
        _title(variant),
        _sentences(variant, block),
    )
    return Story(
        scene.title,
        scene.sentences["result"],
        _steps(scene),
        lambda t, given: _frame(scene, t, given.roomy()),
        _expected(values, run),
    )


_DIRECT = (("read", False), ("write", False), ("read+write", True))
_THROUGH_SHARED = (
    ("read", False),
    ("put", False),
    ("read+put", True),
    ("barrier", True),
    ("get", False),
    ("write", False),
    ("get+write", True),
)


def _acts(block: Block) -> tuple[_Act, ...]:
    """Read, put, the others, barrier, get, write, the others; each as long as it has to tell."""
    order = _THROUGH_SHARED if "put" in block.moves else _DIRECT
    acts, t = [], 0.0
    for kind, whole in order:
        if kind == "barrier":
            length = _BARRIER
        elif whole:
            length = _REST
        else:
            length = _LONG if block.moves[kind].first.count > 8 else _SHORT
        acts.append(_Act(kind, whole, t, t + length))
        t += length
    return tuple(acts)


def _steps(scene: _Scene) -> tuple[Step, ...]:
    """One step an act, and the result."""
    steps, names = [], _names()
    for act in scene.acts:
        name, kind = names[act.kind]
        if act.kind in scene.block.moves:
            one = scene.block.moves[act.kind].first
            steps.append(
                Step(
                    act.start,
                    act.end,
                    kind,
                    name,
                    f"{one.text} · {one.counted}",
                    one.line,
                    scene.variant,
                )
            )
        else:
            steps.append(Step(act.start, act.end, kind, name, "", 0, scene.variant))
    end = steps[-1].end
    return (*steps, Step(end, end + _END, "result", tr("result"), "", 0, scene.variant))


def _names() -> dict[str, tuple[str, StepKind]]:
    """What each act is called on the time line, and its kind."""
    return {
        "read": (tr("read a row"), "load"),
        "put": (tr("store in shared memory"), "shared"),
        "read+put": (tr("the block's other rows"), "load"),
        "barrier": (tr("barrier"), "barrier"),
        "get": (tr("load a column"), "shared"),
        "write": (tr("write"), "store"),
        "get+write": (tr("the block's other columns"), "store"),
        "read+write": (tr("the block's other rows"), "store"),
    }


def _title(variant: str) -> str:
    """What the kernel does with rows and columns."""
    return {
        "naive": tr("Naive transpose: rows are read, columns are written"),
        "shared": tr("Through shared memory: rows are read, and rows are written"),
        "padded": tr("Padded tile: its columns are spread over all banks"),
        "swizzled": tr("Swizzled tile: spread over all banks without a wasted word"),
    }[variant]


def _sentences(variant: str, block: Block) -> dict[str, str]:
    """What happens in each act."""
    one = {kind: moves.first for kind, moves in block.moves.items()}
    said = {
        "read": tr("A warp reads 32 floats of a row: {count}.", count=one["read"].counted),
        "write": tr("It writes 32 floats of a row: {count}.", count=one["write"].counted),
        "read+put": tr("So do the other warps: the block's tile fills row by row."),
        "barrier": tr("Nobody reads the tile before all have written."),
        "get+write": tr("The same for the other columns of the tile."),
        "read+write": tr("So do the other warps, row by row."),
        "result": _result(one),
    }
    if "put" in one:
        said["put"] = tr("It stores them in a row of the tile: {count}.", count=one["put"].counted)
        said["get"] = tr("Then it loads a column of the tile: {count}.", count=one["get"].counted)
    else:
        said["write"] = tr(
            "It writes them to a column: {count}, and most of each is not its own.",
            count=one["write"].counted,
        )
    return said


def _result(one: Mapping[str, Pass]) -> str:
    """What was gained, and what is left to mend."""
    write, get = one["write"], one.get("get")
    if get is None:
        return tr(
            "Each written float costs a transaction of its own: {count} where {ideal} would do.",
            count=write.counted,
            ideal=write.ideal,
        )
    if get.count > get.ideal:
        return tr(
            "Global memory is used fully; but each column lies in few banks: {count} where "
            "{ideal} would do.",
            count=get.counted,
            ideal=get.ideal,
        )
    return tr("Global memory is used fully, and no two lanes meet in a bank.")


def _columns(runs: Mapping[str, Run]) -> tuple[Column, ...]:
    """The totals of all four kernels."""
    totals = [runs[name].counts.totals for name in VARIANTS]

    def cells(*counts: Count) -> tuple[str, ...]:
        ideals = [count.ideal for count in counts if count.ideal]
        return tuple(_cell(sum(t[c] for c in counts), sum(t[i] for i in ideals)) for t in totals)

    names = (tr("naive"), tr("shared"), tr("padded"), tr("swizzled"))
    model = tr("model")
    sectors = architecture(runs["naive"].arch).has_sectors
    read = (tr("sectors read"), tr("read")) if sectors else (tr("segments read"), tr("read"))
    written = (
        (tr("sectors written"), tr("written"))
        if sectors
        else (tr("segments written"), tr("written"))
    )
    return (
        Column((tr("kernel"),), names, "left"),
        Column(read, cells(Count.GLOBAL_LOAD_SECTORS), badge=model),
        Column(written, cells(Count.GLOBAL_STORE_SECTORS), badge=model),
        Column(
            (tr("shared wavefronts"), tr("wavefronts")),
            cells(Count.SHARED_STORE_WAVEFRONTS, Count.SHARED_LOAD_WAVEFRONTS),
            badge=model,
        ),
        _time(runs),
    )


def _cell(count: int, ideal: int) -> str:
    """A count, and how many times the ideal it is when that is more than once."""
    if not count:
        return "–"
    exact = f"{count:,}".replace(",", "\u2009") if count < 1_000_000 else f"{count / 1e6:.2f} M"
    times = count / max(ideal, 1)
    return exact if times <= 1 else f"{exact} ({times:.3g}×)"


def _time(runs: Mapping[str, Run]) -> Column:
    """Measured medians, or that there are none."""
    times = [time_of(runs[name]) for name in VARIANTS]
    cells = tuple(t.text if t else "–" for t in times)
    return Column((tr("time"),), cells, badge=badge_of(times), optional=1)


def _note(runs: Mapping[str, Run]) -> str:
    """Where the times come from, or why there are none."""
    return tr("time: {device}", device=device_of(time_of(runs[name]) for name in VARIANTS))


def _expected(values: Values, run: Run) -> str:
    """Closed forms, for architectures with sectors."""
    if not architecture(run.arch).has_sectors:
        return ""
    requests = number(values, "size") ** 2 // 32
    naive = values["variant"] == "naive"
    ways = 32 if values["variant"] == "shared" else 1
    sectors = tr(
        "closed form: {requests} load and store requests, {read} sectors read, {written} written",
        requests=requests,
        read=4 * requests,
        written=(32 if naive else 4) * requests,
    )
    if naive:
        return sectors
    return sectors + "; " + tr("{count} shared load wavefronts", count=ways * requests)


def _frame(scene: _Scene, t: float, stage: Stage) -> Frame:
    """The pure function from time to picture."""
    act = next((a for a in scene.acts if t < a.end), None)
    sentence = scene.sentences[act.kind if act else "result"]
    head, area = heading(stage, scene.title, sentence)
    below, beside = _splits(stage, area)
    sides = [side(stage, top) for top, _ in (below, beside)]
    if act is not None and max(sides) < _LEAST_SIDE * stage.scale:
        return stage.frame(*head, *tiles(stage, area, scene.block, scene.now(t)))
    top, low = below if sides[0] >= sides[1] else beside
    marks = tiles(stage, top, scene.block, scene.now(t))
    return stage.frame(*head, *marks, *_totals(stage, low, scene))


def _splits(stage: Stage, area: Rect) -> tuple[tuple[Rect, Rect], tuple[Rect, Rect]]:
    """Areas for tiles and table, these below or beside those."""
    size = stage.text(14)
    tall, wide = height_of(stage, len(VARIANTS)) + size * 2.2, size * 29
    used = min(area.height - tall, side(stage, area) + size * 3.6)
    return (area.above(used, size * 0.6), area.beside(area.width - wide - size, size))


def _totals(stage: Stage, area: Rect, scene: _Scene) -> tuple[Mark, ...]:
    """The table of all four kernels, the one shown marked, and where times come from."""
    size = stage.text(14)
    inner = Rect(area.x + size * 0.5, area.y, area.width - size, area.height - size * 1.5)
    table = lay_out(stage, inner, scene.columns)
    now = VARIANTS.index(scene.variant)
    note = label(inner.x, table.bottom + size * 0.9, scene.note, stage.palette.muted, size)
    return *draw(stage, table, len(VARIANTS), now), note


LESSON = Lesson(
    "transpose",
    "Matrix transpose",
    "Shared memory",
    "How a tile in shared memory turns columns into rows, and what the banks make of its columns.",
    PARAMETERS,
    PRESETS,
    plan,
    tell,
    words=("tile", "bank", "conflict", "padding", "swizzle", "sector", "barrier"),
)
