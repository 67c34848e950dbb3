"""What is said about a moment of a matrix product: sentences, formulas, steps of the time line."""

from __future__ import annotations

from gpuviz.scenes.base import Step, StepKind
from gpuviz.scenes.matmul_reads import TileReads
from gpuviz.scenes.matmul_scene import Multiplication, Operand
from gpuviz.scenes.matmul_time import Moment, PartName

_KIND: dict[PartName, StepKind] = {
    "load M": "load", "load N": "load", "loaded": "barrier", "multiply": "compute",
    "multiplied": "barrier", "store": "store", "result": "result",
}  # fmt: skip


def number(value: float) -> str:
    """A value: whole numbers in full, others in four digits."""
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e9 else f"{value:.4g}"


def things(count: int, name: str) -> str:
    """`1 element`, `4 elements`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}".replace(",", "\u2009")


def times(count: int) -> str:
    """`once`, `twice`, `4 times`."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def sentence(about: Multiplication, moment: Moment) -> str:
    """What the block does now, and why."""
    tile = about.sizes.tile
    start = f"Phase {moment.phase + 1} of {about.sizes.phases}"
    if moment.part in ("load M", "load N"):
        operand = _operand(about, moment)
        return f"{start}, load: {_loaded(operand, moment.phase)}."
    if moment.part == "multiply":
        return f"{start}, multiply, k = {moment.k}: {_multiplies(about)}."
    if moment.part == "loaded":
        return f"{start}, barrier: nobody multiplies before the tiles are complete."
    if moment.part == "multiplied":
        return f"{start}, barrier: nobody loads over a tile that others still read."
    if moment.part == "store":
        count = int((~about.guards).sum())
        return f"The sums are complete: {things(count, 'thread')} store one element of P each."
    count = tile * tile
    return f"The block is done: its {things(count, 'thread')} have shared every load."


def _operand(about: Multiplication, moment: Moment) -> Operand:
    return about.m if moment.part == "load M" else about.n


def _loaded(operand: Operand, phase: int) -> str:
    """Who loads what."""
    element = operand.tile.element[phase]
    guards = int((element < 0).sum())
    if not guards:
        return f"each thread copies one element of {operand.name} to shared memory"
    zeros = "1 guard lane puts a zero" if guards == 1 else f"{guards} guard lanes put zeros"
    copy = "1 thread copies" if len(element) - guards == 1 else f"{len(element) - guards} copy"
    return f"{copy} an element of {operand.name}, {zeros}"


def _multiplies(about: Multiplication) -> str:
    width = about.sizes.tile
    return f"each value of the tiles serves {width} threads"


def expression(about: Multiplication, moment: Moment) -> tuple[str, str, str]:
    """What the followed thread does: the statement, which thread and k, the values."""
    x, y = about.thread
    who = f"thread ({x},{y})"
    if moment.part in ("load M", "load N"):
        return _load(about, _operand(about, moment), moment.phase, who)
    if moment.part in ("loaded", "multiplied"):
        return "__syncthreads()", f"{who} waits for all {about.sizes.tile**2}", _sum(about, moment)
    if about.element < 0:
        if moment.part == "multiply":
            return f"sum += Ms[{y}][k] × Ns[k][{x}]", f"{who} · guard lane", "its sum is not stored"
        return "nothing to store", f"{who} is a guard lane", ""
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
        return f"{target} = 0", f"{who} · guard lane", "no element there"
    value = number(float(operand.value.ravel()[element]))
    return f"{target} = {operand.written(element)}", who, f"{target} = {value}"


def _multiply(about: Multiplication, moment: Moment, who: str) -> tuple[str, str, str]:
    """The followed thread's step, in letters and in numbers."""
    row, column = divmod(about.element, about.sizes.columns)
    x, y = about.thread
    detail = f"k = {moment.k} of 0…{about.sizes.tile - 1} · {who}"
    return f"P[{row}][{column}] += Ms[{y}][k] × Ns[k][{x}]", detail, _products(about, moment)


def _products(about: Multiplication, moment: Moment) -> str:
    """`5 + 2 × 9 = 23`; a slot filled by a guard lane counts as zero."""
    if moment.step < 0:
        return f"{number(float(about.sums[-1]))} + 0 × 0, behind the edge"
    factors = [float(operand.value.ravel()[operand.naive_reads[moment.step, about.watched]])
               for operand in (about.m, about.n)]  # fmt: skip
    before, after = about.sums[moment.step : moment.step + 2]
    a, b = map(number, factors)
    return f"{number(float(before))} + {a} × {b} = {number(float(after))}"


def _sum(about: Multiplication, moment: Moment) -> str:
    """The sum so far."""
    return f"sum = {number(float(about.sums[moment.naive]))}" if about.element >= 0 else ""


def steps(about: Multiplication) -> tuple[Step, ...]:
    """The time line: one step a moment, with the line executed and its cost."""
    return tuple(_step(about, moment) for moment in about.line)


def _step(about: Multiplication, moment: Moment) -> Step:
    line, detail = _executed(about, moment)
    return Step(moment.start, moment.end, _KIND[moment.part], _label(moment), detail, line, "tiled")


def _label(moment: Moment) -> str:
    """What a step is called on the time line."""
    if moment.part == "multiply":
        return f"multiply k = {moment.k}"
    return {"loaded": "barrier", "multiplied": "barrier"}.get(moment.part, moment.part)


def _executed(about: Multiplication, moment: Moment) -> tuple[int, str]:
    """The CUDA line, and what its requests cost."""
    tiled, noun = about.tiled, about.noun
    if moment.part in ("load M", "load N"):
        tile: TileReads = _operand(about, moment).tile
        cost = about.costs.of("load", "global", tile.load.line, moment.phase)
        return tile.load.line, _cost(tile.load.text, cost, noun)
    if moment.part == "multiply":
        cost = about.costs.of("load", "shared", tiled.read.line, moment.phase)
        when = " in this phase" + ", as in the PTX" * about.merged
        return tiled.read.line, _cost(tiled.read.text, cost, "wavefront", when)
    if moment.part == "store":
        cost = about.costs.of("store", "global", tiled.store.line)
        return tiled.store.line, _cost(tiled.store.text, cost, noun)
    if moment.part == "result":
        fewer = ratio(about.totals["naive"].loads, about.totals["tiled"].loads)
        return 0, f"global loads · {fewer}"
    after = tiled.n.load.line if moment.part == "loaded" else tiled.read.line
    return _barrier_line(about.costs.trace.source, after), "__syncthreads()"


def _cost(text: str, cost: tuple[int, int], noun: str, when: str = "") -> str:
    return f"{text} · {things(cost[0], 'request')} · {things(cost[1], noun)}{when}"


def _barrier_line(source: str, after: int) -> int:
    """The first line with a barrier below another one; 0 when the source is not known."""
    lines = source.splitlines()
    return next((n for n in range(after + 1, len(lines) + 1) if "__syncthreads" in lines[n - 1]), 0)


def ratio(many: int, few: int) -> str:
    """`2 × fewer`."""
    share = many / max(few, 1)
    return f"{share:.3g} × fewer" if share > 1.0005 else "no fewer" if share > 0.9995 else (
        f"{1 / share:.3g} × more")  # fmt: skip
