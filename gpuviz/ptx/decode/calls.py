"""Calls of device functions, directly or through a pointer, and of CUDA's built-in ones."""

from __future__ import annotations

from gpuviz.arrays import Array
from gpuviz.errors import KernelFault
from gpuviz.ptx.decode.operands import Reader, reader, unsupported
from gpuviz.ptx.decode.params import slot_reader
from gpuviz.ptx.simt.builtins import BUILTINS
from gpuviz.ptx.simt.code import End, FunctionCode, Slot
from gpuviz.ptx.simt.group import Call, Group
from gpuviz.ptx.simt.program import Program
from gpuviz.ptx.simt.values import adapter
from gpuviz.ptx.text.ir import Function, Imm, Instruction, Operand, Reg, Sym, Variable, Vec


def call_end(instruction: Instruction, code: FunctionCode, program: Program, following: int) -> End:
    """What a call does; `following` is the block to go on with after it."""
    results, target, arguments = _parts(instruction)
    if isinstance(target, Reg):
        return _indirect(instruction, code, program, following, results, target, arguments)
    assert isinstance(target, Sym)
    callee = program.module.by_name.get(target.name)
    if callee is not None and callee.defined:
        return _direct(instruction, code, program, following, results, callee, arguments)
    builtin = BUILTINS.get(target.name)
    if builtin is None:
        raise unsupported(instruction, f"the function {target.name}, which has no body here,")
    readers = [_whole(a, code, instruction, program) for a in arguments]
    puts = [_result_slots(r, code) for r in results]

    def call(g: Group) -> None:
        value = builtin(g, *[read(g) for read in readers])
        if puts and value is not None:
            for index, _ in puts[0]:
                g.write(index, value)
        g.move(following)

    return call


def _parts(instruction: Instruction) -> tuple[list[Operand], Operand, list[Operand]]:
    """`call (results), target, (arguments), prototype;` with the lists optional."""
    operands = list(instruction.operands)
    results: list[Operand] = []
    if operands and isinstance(operands[0], Vec):
        first = operands.pop(0)
        assert isinstance(first, Vec)
        results = list(first.items)
    target = operands.pop(0)
    arguments = operands[0].items if operands and isinstance(operands[0], Vec) else ()
    return results, target, list(arguments)


def _whole(
    argument: Operand, code: FunctionCode, instruction: Instruction, program: Program
) -> Reader:
    """All bytes of an argument of a built-in function, at most eight."""
    if isinstance(argument, Reg | Imm):
        kind = argument.type if isinstance(argument, Reg) else "b64"
        return reader(argument, kind, instruction, code, program)
    assert isinstance(argument, Sym)
    ends = [o + n for (name, o, n) in code.slots if name == argument.name]
    size = max(ends, default=4)
    return slot_reader(code, (argument.name, 0, 8 if size > 4 else 4))


def _result_slots(result: Operand, code: FunctionCode) -> list[tuple[int, Slot]]:
    """Registers of the caller that hold the parts of a result."""
    if isinstance(result, Reg):
        return [(result.index, ("", 0, 0))]
    assert isinstance(result, Sym)
    return [(index, slot) for slot, index in code.slots.items() if slot[0] == result.name]


def _argument(
    argument: Operand, slot: Slot, code: FunctionCode, instruction: Instruction, program: Program
) -> Reader:
    """The part of an argument that a slot of the callee wants."""
    _, offset, size = slot
    if isinstance(argument, Sym) and (argument.name, offset, size) in code.slots:
        return slot_reader(code, (argument.name, offset, size))
    if isinstance(argument, Sym):
        return slot_reader(code, (argument.name, offset, size))
    return reader(argument, f"b{8 * size}", instruction, code, program)


def _direct(
    instruction: Instruction,
    code: FunctionCode,
    program: Program,
    following: int,
    results: list[Operand],
    callee: Function,
    arguments: list[Operand],
) -> End:
    plans: list[_Transfer] = []

    def call(g: Group) -> None:
        if not plans:  # decoded at the first call: functions may call each other in circles
            plans.append(
                _transfer(instruction, code, program, results, g.machine.code(callee), arguments)
            )
        plans[0].enter(g, following, instruction)

    return call


class _Transfer:
    """How arguments and results cross one call."""

    def __init__(
        self, target: FunctionCode, into: list[tuple[int, Reader]], back: list[tuple[int, Reader]]
    ) -> None:
        self.target = target
        self.into = into
        self.back = back

    def enter(self, g: Group, following: int, at: Instruction) -> None:
        """Move a group into the callee."""
        values = [read(g) for _, read in self.into]
        caller, site = g.code, g.code.rank[g.block]
        recursive = caller is self.target or any(c.code is self.target for c in g.stack)
        g.stack.append(Call(caller, following, site, g.local_base, None, self._leave))
        g.local_base += caller.local_size
        g.enter(self.target)
        if recursive:
            g.stack[-1].saved = [g.regs[i] for i in range(len(g.regs))]
        g.machine.reserve_local(g, g.local_base + self.target.local_size, at)
        for (index, _), value in zip(self.into, values, strict=True):
            g.write(index, value)
        g.move(0)

    def _leave(self, g: Group, callee: FunctionCode) -> list[tuple[int, Array]]:
        """Results, read while the callee's registers are still current."""
        return [(index, read(g)) for index, read in self.back]


def _transfer(
    instruction: Instruction,
    code: FunctionCode,
    program: Program,
    results: list[Operand],
    target: FunctionCode,
    arguments: list[Operand],
) -> _Transfer:
    into: list[tuple[int, Reader]] = []
    for parameter, argument in zip(target.function.params, arguments, strict=False):
        for slot, index in target.slots.items():
            if slot[0] == parameter.name:
                into.append((index, _argument(argument, slot, code, instruction, program)))
    back: list[tuple[int, Reader]] = []
    for result, returned in zip(results, target.function.returns, strict=False):
        for index, slot in _result_slots(result, code):
            back.append((index, _returned(result, slot, returned, target)))
    return _Transfer(target, into, back)


def _returned(result: Operand, slot: Slot, returned: Variable, target: FunctionCode) -> Reader:
    if not isinstance(result, Reg):
        return slot_reader(target, (returned.name, slot[1], slot[2]))
    read = slot_reader(target, (returned.name, 0, returned.size))
    adapt = adapter(f"b{8 * returned.size}", result.type)
    return read if adapt is None else lambda g: adapt(read(g))


def _indirect(
    instruction: Instruction,
    code: FunctionCode,
    program: Program,
    following: int,
    results: list[Operand],
    target: Reg,
    arguments: list[Operand],
) -> End:
    calls: dict[int, End] = {}
    read = reader(target, "u64", instruction, code, program)

    def end_for(g: Group, address: int) -> End:
        if address not in calls:
            callee = program.function_at(address)
            if callee is None or not callee.defined:
                raise KernelFault(
                    f"a call through the pointer {address:#x}, which is not a "
                    f"function ({instruction.where}, "
                    f"{g.machine.who(g, g.first_active())})"
                )
            calls[address] = _direct(
                instruction, code, program, following, results, callee, arguments
            )
        return calls[address]

    def call(g: Group) -> None:
        for address, part in g.split_by(read(g)):
            end_for(part, address)(part)

    return call
