"""What is said about a moment of a matrix product: sentences, formulas, steps of the time line."""

from __future__ import annotations

from gpuviz.language import tr, trn
from gpuviz.panels.script import Step, StepKind
from gpuviz.scenes.matmul.reads import TileReads
from gpuviz.scenes.matmul.scene import Multiplication, Operand
from gpuviz.scenes.matmul.time import Moment, PartName

_KIND: dict[PartName, StepKind] = {
    "load M": "load",
    "load N": "load",
    "loaded": "barrier",
    "multiply": "compute",
    "multiplied": "barrier",
    "store": "store",
    "result": "result",
}


def number(value: float) -> str:
    """A value: whole numbers in full, others in four digits."""
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"


def spaced(count: float) -> str:
    """A count, thousands apart by a thin space; small fractions in three digits."""
    exact = count == round(count) or count >= 1000
    return f"{count:,.0f}".replace(",", "\u2009") if exact else f"{count:.3g}"


def things(count: int, name: str) -> str:
    """`1 thread`, `4 threads`."""
    n = spaced(count)
    return {
        "thread": trn("{n} thread", "{n} threads", count, n=n),
        "request": trn("{n} request", "{n} requests", count, n=n),
        "sector": trn("{n} sector", "{n} sectors", count, n=n),
        "wavefront": trn("{n} wavefront", "{n} wavefronts", count, n=n),
        "transaction": trn("{n} transaction", "{n} transactions", count, n=n),
    }[name]


def times(count: int) -> str:
    """`once`, `twice`, `4 times`."""
    return {1: tr("once"), 2: tr("twice")}.get(count) or tr("{n} times", n=count)


def sentence(about: Multiplication, moment: Moment) -> str:
    """What the block does now, and why."""
    start = tr("Phase {n} of {all}", n=moment.phase + 1, all=about.phases)
    if moment.part in ("load M", "load N"):
        return tr(
            "{phase}, load: {who}.", phase=start, who=loaded(_operand(about, moment), moment.phase)
        )
    if moment.part == "multiply":
        return tr(
            "{phase}, multiply, k = {k}: each value of the tiles serves {n} threads.",
            phase=start,
            k=moment.k,
            n=about.sizes.tile,
        )
    if moment.part == "loaded":
        return tr("{phase}, barrier: nobody multiplies before the tiles are complete.", phase=start)
    if moment.part == "multiplied":
        return tr("{phase}, barrier: nobody loads over a tile that others still read.", phase=start)
    if moment.part == "store":
        return stored(about)
    return tr(
        "The block is done: its {threads} have shared every load.",
        threads=things(about.sizes.tile**2, "thread"),
    )


def stored(about: Multiplication) -> str:
    """The last thing every thread with an element of P does."""
    count = int((~about.guards).sum())
    return trn(
        "The sum is complete: {n} thread stores its element of P.",
        "The sums are complete: {n} threads store one element of P each.",
        count,
    )


def _operand(about: Multiplication, moment: Moment) -> Operand:
    return about.m if moment.part == "load M" else about.n


def loaded(operand: Operand, phase: int) -> str:
    """Who loads what."""
    element = operand.tile.element[phase]
    guards, name = int((element < 0).sum()), operand.name
    busy = len(element) - guards
    if not guards:
        return tr("each thread copies one element of {name} to shared memory", name=name)
    zeros = trn("{n} guard lane puts a zero", "{n} guard lanes put zeros", guards)
    copy = trn(
        "{n} thread copies an element of {name}", "{n} copy an element of {name}", busy, name=name
    )
    return f"{copy}, {zeros}"


def expression(about: Multiplication, moment: Moment) -> tuple[str, str, str]:
    """What the followed thread does: the statement, which thread and k, the values."""
    x, y = about.thread
    who = tr("thread ({x},{y})", x=x, y=y)
    if moment.part in ("load M", "load N"):
        return _load(about, _operand(about, moment), moment.phase, who)
    if moment.part in ("loaded", "multiplied"):
        waits = tr("{who} waits for all {n}", who=who, n=about.sizes.tile**2)
        return "__syncthreads()", waits, _sum(about, moment)
    if about.element < 0:
        if moment.part == "multiply":
            guard = f"{who} · {tr('guard lane')}"
            return f"sum += Ms[{y}][k] × Ns[k][{x}]", guard, tr("its sum is not stored")
        return tr("nothing to store"), tr("{who} is a guard lane", who=who), ""
    if moment.part == "multiply":
        return _multiply(about, moment, who)
    row, column = divmod(about.element, about.sizes.columns)
    value = number(float(about.product[row, column]))
    return f"P[{row}][{column}] = sum", who, f"P[{row}][{column}] = {value}"


def _load(about: Multiplication, operand: Operand, phase: int, who: str) -> tuple[str, str, str]:
    """The followed thread's copy from global to shared memory."""
    tile, at = operand.tile, about.watched
    row, column = divmod(int(tile.slot[phase, at]), about.sizes.tile)
    target, element = f"{operand.name}s[{row}][{column}]", int(tile.element[phase, at])
    if element < 0:
        return f"{target} = 0", f"{who} · {tr('guard lane')}", tr("no element there")
    value = number(float(operand.value.ravel()[element]))
    return f"{target} = {operand.written(element)}", who, f"{target} = {value}"


def _multiply(about: Multiplication, moment: Moment, who: str) -> tuple[str, str, str]:
    """The followed thread's step, in letters and in numbers."""
    row, column = divmod(about.element, about.sizes.columns)
    x, y = about.thread
    detail = f"k = {moment.k} · {who}"
    return f"P[{row}][{column}] += Ms[{y}][k] × Ns[k][{x}]", detail, product_sum(about, moment.step)


def product_sum(about: Multiplication, step: int) -> str:
    """`5 + 2 × 9 = 23`; a slot filled by a guard lane counts as zero."""
    if step < 0:
        return tr("{sum} + 0 × 0, behind the edge", sum=number(float(about.sums[-1])))
    factors = [
        float(operand.value.ravel()[operand.naive_reads[step, about.watched]])
        for operand in (about.m, about.n)
    ]
    before, after = about.sums[step : step + 2]
    a, b = map(number, factors)
    return f"{number(float(before))} + {a} × {b} = {number(float(after))}"


def _sum(about: Multiplication, moment: Moment) -> str:
    """The sum so far."""
    so_far = number(float(about.sums[moment.naive]))
    return tr("sum = {value}", value=so_far) if about.element >= 0 else ""


def steps(about: Multiplication) -> tuple[Step, ...]:
    """The time line: one step a moment, with the line executed and its cost."""
    return tuple(step(about, moment, "tiled") for moment in about.line)


def step(about: Multiplication, moment: Moment, role: str) -> Step:
    """One moment on the time line, in the kernel of a role."""
    line, detail = _executed(about, moment)
    return Step(moment.start, moment.end, _KIND[moment.part], _label(moment), detail, line, role)


def _label(moment: Moment) -> str:
    """What a step is called on the time line."""
    if moment.part == "multiply":
        return tr("multiply k = {k}", k=moment.k)
    if moment.part in ("loaded", "multiplied"):
        return tr("barrier")
    return {"load M": tr("load M"), "load N": tr("load N"), "store": tr("store")}.get(
        moment.part, tr("result")
    )


def _executed(about: Multiplication, moment: Moment) -> tuple[int, str]:
    """The CUDA line, and what its requests cost."""
    tiled, noun = about.tiled, about.noun
    if moment.part in ("load M", "load N"):
        tile: TileReads = _operand(about, moment).tile
        cost = about.costs.of("load", "global", tile.load.line, moment.phase)
        return tile.load.line, cost_of(tile.load.text, cost, noun)
    if moment.part == "multiply":
        cost = about.costs.of("load", "shared", tiled.read.line, moment.phase)
        when = tr(" in this phase") + (tr(", as in the PTX") if about.merged else "")
        return tiled.read.line, cost_of(tiled.read.text, cost, "wavefront", when)
    if moment.part == "store":
        cost = about.costs.of("store", "global", tiled.store.line)
        return tiled.store.line, cost_of(tiled.store.text, cost, noun)
    if moment.part == "result":
        fewer = ratio(about.totals["naive"].loads, about.totals["tiled"].loads)
        return 0, tr("global loads · {fewer}", fewer=fewer)
    after = tiled.n.load.line if moment.part == "loaded" else tiled.read.line
    return _barrier_line(about.costs.trace.source, after), "__syncthreads()"


def cost_of(text: str, cost: tuple[int, int], noun: str, when: str = "") -> str:
    """`ld.global.f32 · 1 request · 4 sectors`."""
    return f"{text} · {things(cost[0], 'request')} · {things(cost[1], noun)}{when}"


def _barrier_line(source: str, after: int) -> int:
    """The first line with a barrier below another one; 0 when the source is not known."""
    lines = source.splitlines()
    return next((n for n in range(after + 1, len(lines) + 1) if "__syncthreads" in lines[n - 1]), 0)


def ratio(many: int, few: int) -> str:
    """`2 × fewer`."""
    share = many / max(few, 1)
    if share > 1.0005:
        return tr("{n} × fewer", n=f"{share:.3g}")
    return tr("no fewer") if share > 0.9995 else tr("{n} × more", n=f"{1 / share:.3g}")
