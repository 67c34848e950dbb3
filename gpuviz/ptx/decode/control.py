"""Ends of basic blocks: branches, barriers, returns, traps."""

from __future__ import annotations

from gpuviz.arrays import Bool
from gpuviz.errors import KernelFault
from gpuviz.ptx.decode.operands import Reader, reader, unsupported, writer
from gpuviz.ptx.simt.barriers import Arrival
from gpuviz.ptx.simt.code import End, FunctionCode
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import constant
from gpuviz.ptx.text.ir import Instruction, Not, Operand, Reg, Sym


def control_end(
    instruction: Instruction, code: FunctionCode, program: Program, following: int
) -> End:
    """What a control instruction does; `following` is the block that comes after it."""
    name = instruction.opcode.name
    if name == "bra":
        return _branch(instruction, code, following)
    if name == "brx":
        return _indexed_branch(instruction, code, program)
    if name in ("ret", "exit"):
        return _leave(instruction, code, program, following)
    if name in ("bar", "barrier"):
        return _barrier(instruction, code, program, following)
    return _trap(instruction)


def guard_reader(guard: Operand) -> Reader:
    """The predicate under which an instruction is executed."""
    if isinstance(guard, Not):
        index = guard.reg.index
        return lambda g: ~g.regs[index]
    assert isinstance(guard, Reg)
    index = guard.index
    return lambda g: g.regs[index]


def _branch(instruction: Instruction, code: FunctionCode, following: int) -> End:
    label = instruction.operands[0]
    if not isinstance(label, Sym) or label.name not in code.label_block:
        raise unsupported(instruction, f"the branch target {label}")
    target = code.label_block[label.name]
    if instruction.guard is None:
        return lambda g: _jump(g, target)
    predicate = guard_reader(instruction.guard)

    def branch(g: Group) -> None:
        split(g, predicate(g), target, following, instruction)

    return branch


def _jump(g: Group, target: int) -> None:
    backward = g.code.rank[target] <= g.code.rank[g.block]
    g.move(target)
    if backward:
        g.machine.went_back(g)


def split(g: Group, predicate: Bool, target: int, following: int, instruction: Instruction) -> None:
    """Send the lanes where the predicate holds to `target`, the others to `following`."""
    view, mask = g.view, g.mask
    chosen = predicate if mask is None or predicate.size == 1 else predicate & mask
    if predicate.size == 1:
        taken = g.threads if predicate.reshape(-1)[0] else 0
    else:
        taken = view.count(chosen)
    machine = g.machine
    if taken in (0, g.threads):
        machine.count_branch(instruction, g.warps, 0, taken, g.threads - taken)
        if taken:
            _jump(g, target)
        else:
            g.move(following)
        return
    rest = ~predicate if mask is None else mask & ~predicate
    machine.count_branch(instruction, g.warps, 0, taken, g.threads - taken)
    other = g.fork(chosen)
    other.penalty, other.spins = g.penalty, g.spins
    before = g.warps
    g.set_mask(rest)
    machine.count_branch(instruction, 0, other.warps + g.warps - before, 0, 0)
    g.move(following)
    machine.add(other)
    _jump(other, target)
    machine.settle_size(g)
    machine.settle_size(other)


def _indexed_branch(instruction: Instruction, code: FunctionCode, program: Program) -> End:
    selector, table = instruction.operands
    if not isinstance(table, Sym) or table.name not in code.function.tables:
        raise unsupported(instruction, f"the branch table {table}")
    targets = [code.label_block[name] for name in code.function.tables[table.name]]
    read = reader(selector, "u32", instruction, code, program)

    def branch(g: Group) -> None:
        for number, part in g.split_by(read(g)):
            if number >= len(targets):
                raise KernelFault(
                    f"a branch to entry {number} of a table of {len(targets)} ({instruction.where})"
                )
            _jump(part, targets[number])

    return branch


def _leave(instruction: Instruction, code: FunctionCode, program: Program, following: int) -> End:
    def leave(g: Group) -> None:
        if g.stack and instruction.opcode.name == "ret":
            g.machine.return_from(g)
        else:
            g.machine.exit(g)

    if instruction.guard is None:
        return leave
    predicate = guard_reader(instruction.guard)

    def guarded(g: Group) -> None:
        chosen = g.view.full(predicate(g))
        if g.mask is not None:
            chosen = chosen & g.mask
        leaving = g.view.count(chosen)
        if leaving == g.threads:
            leave(g)
            return
        if leaving:
            other = g.fork(chosen)
            g.set_mask(~chosen if g.mask is None else g.mask & ~chosen)
            g.machine.add(other)
            leave(other)
        g.move(following)

    return guarded


def _trap(instruction: Instruction) -> End:
    def trap(g: Group) -> None:
        raise KernelFault(
            f"the kernel executed {instruction.opcode.text} ({instruction.where}, "
            f"{g.machine.who(g, g.first_active())})"
        )

    return trap


def _barrier(instruction: Instruction, code: FunctionCode, program: Program, following: int) -> End:
    mods = [m for m in instruction.opcode.mods if m not in ("cta", "aligned")]
    operands = list(instruction.operands)
    if "cluster" in mods:
        return lambda g: g.move(following)  # a cluster of one block: its own threads are in step
    target = operands.pop(0) if "red" in mods else None
    predicate = operands.pop() if target is not None else None
    number = reader(operands[0], "u32", instruction, code, program)
    count = (
        reader(operands[1], "u32", instruction, code, program)
        if len(operands) > 1
        else (lambda g: constant(0, "u32"))
    )
    kind = {"or": "pred", "and": "pred", "popc": "u32"}.get(mods[1] if len(mods) > 1 else "", "")
    read = None if predicate is None else reader(predicate, "pred", instruction, code, program)
    write = None if target is None else writer(target, kind, instruction)
    waits = "arrive" not in mods

    def barrier(g: Group) -> None:
        value = None if read is None else read(g)
        fold = mods[1] if read is not None else ""
        threads = count(g)
        for which, part in g.split_by(number(g)):
            expected = int(part.view.full(threads).reshape(-1)[part.first_active()])
            part.machine.barriers.arrive(
                Arrival(part, which, expected, instruction, following, waits, value, fold, write)
            )

    return barrier
