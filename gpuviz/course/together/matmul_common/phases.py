"""The tiled product phase by phase: what is said of a moment, which line it executes, its cost."""

from gpuviz.course.together.matmul_common.block import (
    SECONDS,
    Moment,
    Multiplication,
    Operand,
    PartName,
)
from gpuviz.course.together.matmul_common.tips import number, spaced
from gpuviz.story.script import Script, StepKind
from gpuviz.traces.trace import MemoryInstruction
from gpuviz.words.language import tr, trn

_KIND: dict[PartName, StepKind] = {
    "load M": "load",
    "load N": "load",
    "loaded": "barrier",
    "multiply": "compute",
    "multiplied": "barrier",
    "store": "store",
    "result": "result",
}


def act(
    script: Script,
    about: Multiplication,
    moment: Moment,
    pace: float = 1.0,
    role: str | None = None,
    told: tuple[str, str] | None = None,
) -> None:
    """A moment on the time line, with the line executed and its cost; `told` in other words."""
    line, detail = _executed(about, moment)
    label, detail = told or (_label(moment), detail)
    script.act(SECONDS[moment.part] * pace, _KIND[moment.part], label, detail, line, role)


def sentence(about: Multiplication, moment: Moment) -> str:
    """What the block does now, and why."""
    phase = tr("Phase {n} of {all}", n=moment.phase + 1, all=about.phases)
    if moment.part in ("load M", "load N"):
        who = _loaded(_operand(about, moment), moment.phase)
        return tr("{phase}, load: {who}.", phase=phase, who=who)
    if moment.part == "multiply":
        what = {"phase": phase, "k": moment.k, "n": about.sizes.tile}
        return tr("{phase}, multiply, k = {k}: each value of the tiles serves {n} threads.", **what)
    if moment.part == "loaded":
        return tr("{phase}, barrier: nobody multiplies before the tiles are complete.", phase=phase)
    if moment.part == "multiplied":
        return tr("{phase}, barrier: nobody loads over a tile that others still read.", phase=phase)
    if moment.part == "store":
        return stored(about)
    return tr(
        "The block is done: its {threads} have shared every load.",
        threads=things(about.sizes.tile**2, "thread"),
    )


def stored(about: Multiplication) -> str:
    """The last thing every thread with an element of P does."""
    return trn(
        "The sum is complete: {n} thread stores its element of P.",
        "The sums are complete: {n} threads store one element of P each.",
        int((~about.guards).sum()),
    )


def statement(about: Multiplication, moment: Moment) -> tuple[str, str, str]:
    """What the followed thread does: the statement, which thread and k, the values."""
    x, y = about.thread
    who = tr("thread ({x},{y})", x=x, y=y)
    if moment.part in ("load M", "load N"):
        return _load(about, _operand(about, moment), moment.phase, who)
    if moment.part in ("loaded", "multiplied"):
        waits = tr("{who} waits for all {n}", who=who, n=about.sizes.tile**2)
        value = tr("sum = {value}", value=number(float(about.sums[moment.naive])))
        return "__syncthreads()", waits, value if about.element >= 0 else ""
    if about.element < 0:
        if moment.part == "multiply":
            guard = f"{who} · {tr('guard lane')}"
            return f"sum += Ms[{y}][k] × Ns[k][{x}]", guard, tr("its sum is not stored")
        return tr("nothing to store"), tr("{who} is a guard lane", who=who), ""
    target = about.written(about.element)
    if moment.part == "multiply":
        added = f"{target} += Ms[{y}][k] × Ns[k][{x}]"
        return added, f"k = {moment.k} · {who}", product_sum(about, moment.step)
    value = number(float(about.product.ravel()[about.element]))
    return f"{target} = sum", who, f"{target} = {value}"


def product_sum(about: Multiplication, step: int) -> str:
    """`5 + 2 × 9 = 23`; a slot filled by a guard lane counts as zero."""
    if step < 0:
        return tr("{sum} + 0 × 0, behind the edge", sum=number(float(about.sums[-1])))
    a, b = (number(o.of(o.naive_reads[step, about.watched])) for o in about.operands)
    before, after = (number(float(value)) for value in about.sums[step : step + 2])
    return f"{before} + {a} × {b} = {after}"


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


def cost_of(made: MemoryInstruction, cost: tuple[int, int], noun: str) -> str:
    """`ld.global.f32 · 1 request · 4 sectors`."""
    return f"{made.text} · {things(cost[0], 'request')} · {things(cost[1], noun)}"


def ratio(many: int, few: int) -> str:
    """`2 × fewer`."""
    share = many / max(few, 1)
    if share > 1.0005:
        return tr("{n} × fewer", n=f"{share:.3g}")
    return tr("no fewer") if share > 0.9995 else tr("{n} × more", n=f"{1 / share:.3g}")


def _operand(about: Multiplication, moment: Moment) -> Operand:
    return about.m if moment.part == "load M" else about.n


def _loaded(operand: Operand, phase: int) -> str:
    """Who loads what."""
    element, name = operand.tile.element[phase], operand.name
    guards = int((element < 0).sum())
    if not guards:
        return tr("each thread copies one element of {name} to shared memory", name=name)
    zeros = trn("{n} guard lane puts a zero", "{n} guard lanes put zeros", guards)
    copy = trn(
        "{n} thread copies an element of {name}",
        "{n} copy an element of {name}",
        len(element) - guards,
        name=name,
    )
    return f"{copy}, {zeros}"


def _load(about: Multiplication, operand: Operand, phase: int, who: str) -> tuple[str, str, str]:
    """The followed thread's copy from global to shared memory."""
    row, column = divmod(int(operand.tile.slot[phase, about.watched]), about.sizes.tile)
    target = f"{operand.name}s[{row}][{column}]"
    element = int(operand.tile.element[phase, about.watched])
    if element < 0:
        return f"{target} = 0", f"{who} · {tr('guard lane')}", tr("no element there")
    value = number(operand.of(element))
    return f"{target} = {operand.written(element)}", who, f"{target} = {value}"


def _label(moment: Moment) -> str:
    """What a moment is called on the time line."""
    return {
        "load M": tr("load M"),
        "load N": tr("load N"),
        "multiply": tr("multiply k = {k}", k=moment.k),
        "store": tr("store"),
        "result": tr("result"),
    }.get(moment.part) or tr("barrier")


def _executed(about: Multiplication, moment: Moment) -> tuple[int, str]:
    """The CUDA line, and what its requests cost."""
    tiled, costs = about.tiled, about.costs
    if moment.part in ("load M", "load N"):
        load = _operand(about, moment).tile.load
        return load.line, cost_of(load, costs.of(load, moment.phase), about.noun)
    if moment.part == "multiply":
        said = cost_of(tiled.read, costs.of(tiled.read, moment.phase), "wavefront")
        when = tr(" in this phase") + (tr(", as in the PTX") if about.merged else "")
        return tiled.read.line, said + when
    if moment.part == "store":
        return tiled.store.line, cost_of(tiled.store, costs.of(tiled.store), about.noun)
    if moment.part == "result":
        fewer = ratio(about.totals["naive"].loads, about.totals["tiled"].loads)
        return 0, tr("global loads · {fewer}", fewer=fewer)
    after = tiled.n.load.line if moment.part == "loaded" else tiled.read.line
    return next((n for n in about.barriers if n > after), 0), "__syncthreads()"
