"""Code for matrices that a warp holds: mma, ldmatrix, stmatrix, movmatrix."""

from __future__ import annotations

from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Op
from gpuviz.ptx.compiled.memory import loaded, requests_of
from gpuviz.ptx.compiled.products import product_routine
from gpuviz.ptx.compiled.routines import ask_private
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer, lanes
from gpuviz.ptx.decode.matrices import capability_of, items
from gpuviz.ptx.tensor.fragments import Fragment
from gpuviz.ptx.tensor.mma import product_of
from gpuviz.ptx.text.ir import Operand
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES

_ROWS = 8  # of a matrix, of 16 bytes each


def _registers(e: Emitter, op: Op, operand: Operand, fragment: Fragment) -> list[Value]:
    found = items(operand)
    if len(found) != fragment.registers:
        raise Bailout(f"a matrix in {len(found)} registers")
    kind = f"b{fragment.container}"
    return [e.w.spread(e.strict(e.read(o, kind, op.place))) for o in found]


def _multiply(e: Emitter, op: Op) -> None:
    """mma."""
    mods = op.at.opcode.mods
    try:
        form = product_of(mods, capability_of(e.kernel.program.module))
    except ValueError as reason:
        raise Bailout(f"{op.at.opcode.text} ({reason})") from None
    target, *sources = op.at.operands[:4]
    fragments = form.left, form.right, form.total
    given = [_registers(e, op, o, x) for o, x in zip(sources, fragments, strict=True)]
    name = "mma_" + "_".join(mods).replace("::", "_")
    routine = product_routine(name, *fragments, form.rule)
    arguments = [f"<32 x i{v.bits}> {v.name}" for values in given for v in values]
    found, guard = ask_private(e.w, e.private, routine, *arguments), e.predicate(op)
    bits = form.total.container
    for number, register in enumerate(items(target)):
        piece = e.w.let(f"extractvalue {routine.result} {found}, {number}")
        e.write(register, e.w.vector(piece, bits), f"b{bits}", op, guard)


def _shuffled(w: Writer, a: str, b: str, size: int, order: list[int]) -> str:
    """Elements of two vectors of `size` halves."""
    many = f"<{size} x i16>"
    chosen = f"<{len(order)} x i32> {lanes(order, 32)}"
    return w.let(f"shufflevector {many} {a}, {many} {b}, {chosen}")


def _place(number: int, row: int, half: int) -> int:
    """Among 16-bit elements: first 4 of each lane's row, then the other 4."""
    lane = number * _ROWS + row
    return lane * 4 + half % 4 + half // 4 * 4 * LANES


def _held(number: int, turned: bool) -> list[int]:
    """The elements of a register of each lane."""
    found = []
    for lane in range(LANES):
        for n in range(2):
            row, column = lane // 4, lane % 4 * 2 + n
            found.append(_place(number, column, row) if turned else _place(number, row, column))
    return found


def _load(e: Emitter, op: Op) -> None:
    """ldmatrix."""
    w, into, guard = e.w, targets(op.at), e.predicate(op)
    words = loaded(w, requests_of(e, op, guard, len(into) * _ROWS))
    low, high = (w.let(f"bitcast <32 x i64> {x.name} to <128 x i16>") for x in words)
    for number, target in enumerate(into):
        order = _held(number, "trans" in op.at.opcode.mods)
        made = _shuffled(w, low, high, 4 * LANES, order)
        value = w.vector(w.let(f"bitcast <64 x i16> {made} to <32 x i32>"), 32)
        e.write(target, value, "b32", op, guard)


def _store(e: Emitter, op: Op) -> None:
    """stmatrix."""
    w, guard = e.w, e.predicate(op)
    source = items(op.at.operands[1])
    turned = "trans" in op.at.opcode.mods
    kept, words = ["zeroinitializer"] * 4, []
    for number, operand in enumerate(source):
        value = w.spread(e.strict(e.read(operand, "b32", op.place)))
        kept[number] = w.let(f"bitcast <32 x i32> {value.name} to <64 x i16>")
    both = [_shuffled(w, kept[n], kept[n + 1], 2 * LANES, list(range(4 * LANES))) for n in (0, 2)]
    places = {}
    for number in range(len(source)):
        for at, place in enumerate(_held(number, turned)):
            places[place] = number * 2 * LANES + at
    for half in range(2):
        order = [places.get(half * 4 * LANES + n, 0) for n in range(4 * LANES)]
        made = _shuffled(w, both[0], both[1], 4 * LANES, order)
        words.append(w.let(f"bitcast <128 x i16> {made} to <32 x i64>"))
    for request in requests_of(e, op, guard, len(source) * _ROWS):
        request.store(words)


def _transpose(e: Emitter, op: Op) -> None:
    """movmatrix."""
    w, kind = e.w, "<64 x i16>"
    value = w.spread(e.strict(e.read(op.at.operands[1], "b32", op.place)))
    halves = w.let(f"bitcast <32 x i32> {value.name} to {kind}")
    order = [(lane % 4 * 2 + n) * _ROWS + lane // 4 for lane in range(LANES) for n in range(2)]
    made = _shuffled(w, halves, "poison", 2 * LANES, order)
    found = w.vector(w.let(f"bitcast {kind} {made} to <32 x i32>"), 32)
    e.write(targets(op.at)[0], found, "b32", op, e.predicate(op))


TABLE = {"mma": _multiply, "ldmatrix": _load, "stmatrix": _store, "movmatrix": _transpose}
