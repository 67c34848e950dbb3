"""Ends of basic blocks: branches, barriers, returns, traps."""

from collections.abc import Callable

from gpuviz.base.arrays import Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.operands import Site
from gpuviz.ptx.simt.barriers import Arrival
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.values import constant
from gpuviz.ptx.text.ir import Sym
from gpuviz.traces.observe import Place

EndBuilder = Callable[[Site], Step]


def _branch(site: Site) -> Step:
    label, at, following = site.operands[0], site.instruction, site.following
    if not isinstance(label, Sym) or label.name not in site.code.label_block:
        raise site.unsupported(f"the branch target {label}")
    target = site.code.label_block[label.name]
    if at.guard is None:
        return lambda g: _jump(g, target)
    predicate, place = site.guard(), Place.of(at)

    def branch(g: Group) -> None:
        _split(g, predicate(g), target, following, place)

    return branch


def _jump(g: Group, target: int) -> None:
    backward = g.code.rank[target] <= g.code.rank[g.block]
    g.move(target)
    if backward:
        g.machine.polling.went_back(g)


def _split(g: Group, predicate: Bool, target: int, following: int, at: Place) -> None:
    """Send the lanes where the predicate holds to `target`, the others to `following`."""
    mask, machine, warps, threads = g.mask, g.machine, g.warps, g.threads
    chosen = predicate if mask is None or predicate.size == 1 else predicate & mask
    if predicate.size == 1:
        taken = threads if predicate.reshape(-1)[0] else 0
    else:
        taken = g.layout.count(chosen)
    if taken in (0, threads):
        for hear in machine.told.branch:
            hear(at, warps, 0, taken, threads - taken)
        if taken:
            _jump(g, target)
        else:
            g.move(following)
        return
    other = g.fork(chosen)
    other.penalty, other.spins = g.penalty, g.spins
    g.set_mask(~predicate if mask is None else mask & ~predicate)
    for hear in machine.told.branch:
        hear(at, warps, other.warps + g.warps - warps, taken, threads - taken)
    g.move(following)
    machine.add(other)
    _jump(other, target)
    machine.settle_size(g)
    machine.settle_size(other)


def _indexed_branch(site: Site) -> Step:
    selector, table = site.operands
    tables, where = site.code.function.tables, site.instruction.where
    if not isinstance(table, Sym) or table.name not in tables:
        raise site.unsupported(f"the branch table {table}")
    targets = [site.code.label_block[name] for name in tables[table.name]]
    read = site.reader(selector, "u32")

    def branch(g: Group) -> None:
        for number, part in g.split_by(read(g)):
            if number >= len(targets):
                raise KernelFault(
                    f"a branch to entry {number} of a table of {len(targets)} ({where})"
                )
            _jump(part, targets[number])

    return branch


def leave(g: Group) -> None:
    """Back to the caller; in the kernel itself the lanes end."""
    if g.stack:
        g.return_from_call()
    else:
        g.machine.exit(g)


def _trap(site: Site) -> Step:
    at = site.instruction

    def trap(g: Group) -> None:
        lane = g.first_active()
        said = f"the kernel executed {at.opcode.text} ({at.where}, {g.who(lane)})"
        raise g.fault("launch", at.opcode.name, said, at, lane, "")

    return trap


def _barrier(site: Site) -> Step:
    mods = [m for m in site.mods if m not in ("cta", "aligned")]
    operands, following = list(site.operands), site.following
    if "cluster" in mods:
        return _cluster_barrier(site)
    target = operands.pop(0) if "red" in mods else None
    predicate = operands.pop() if target is not None else None
    number = site.reader(operands[0], "u32")
    count = site.reader(operands[1], "u32") if len(operands) > 1 else (lambda g: constant(0, "u32"))
    kind = {"or": "pred", "and": "pred", "popc": "u32"}.get(mods[1] if len(mods) > 1 else "", "")
    read = None if predicate is None else site.reader(predicate, "pred")
    write = None if target is None else site.writer(target, kind)
    waits, at = "arrive" not in mods, site.instruction

    def barrier(g: Group) -> None:
        value = None if read is None else read(g)
        fold = mods[1] if read is not None else ""
        threads = count(g)
        for which, some in g.split_by(number(g)):
            for expected, part in some.split_by(threads):
                part.machine.barriers.arrive(
                    Arrival(part, which, expected, at, following, waits, value, fold, write)
                )

    return barrier


def _cluster_barrier(site: Site) -> Step:
    at, following = site.instruction, site.following
    if "arrive" in site.mods:
        return lambda g: g.machine.cluster.arrive(g, at, following)
    return lambda g: g.machine.cluster.wait(g, at, following)


ENDS: dict[str, EndBuilder] = {
    "bra": _branch,
    "brx": _indexed_branch,
    "ret": lambda site: leave,
    "exit": lambda site: lambda g: g.machine.exit(g),
    "trap": _trap,
    "brkpt": _trap,
    "bar": _barrier,
    "barrier": _barrier,
}
