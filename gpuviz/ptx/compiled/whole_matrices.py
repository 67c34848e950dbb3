"""Code for wmma: matrices that are loaded, multiplied, stored as a whole.

Which element comes in which piece, and which register is to hold it, is told by
`tensor.wmma`; from one to the other elements are shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Op
from gpuviz.ptx.compiled.memory import loaded, pieces_of
from gpuviz.ptx.compiled.products import product_routine
from gpuviz.ptx.compiled.routines import ask_private
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer, lanes
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.matrices import capability_of, items
from gpuviz.ptx.tensor.fragments import Fragment
from gpuviz.ptx.tensor.wmma import Matrix, Moves, moved_matrix, moves_of, whole_product
from gpuviz.ptx.text.ir import Operand
from gpuviz.traces.trace import LANES


@dataclass(frozen=True, eq=False)
class _Places:
    """Where each element of a matrix is, (rows, columns): in which word, and where in it.

    A word is what 32 lanes hold of one register, or of one unit of a piece.
    """

    word: I64
    element: I64

    @classmethod
    def held(cls, fragment: Fragment, bits: int) -> _Places:
        """In registers, whose elements are taken `bits` wide."""
        each = fragment.container // bits
        made = cls(*(np.zeros(fragment.shape, np.int64) for _ in range(2)))
        word = np.arange(fragment.registers)[None, :, None]
        within = np.arange(fragment.row.shape[2])[None, None, :] * fragment.bits // bits
        lane = np.arange(LANES)[:, None, None]
        made.word[fragment.row, fragment.column] = word
        made.element[fragment.row, fragment.column] = lane * each + within
        return made

    @classmethod
    def moved(cls, moves: Moves, bits: int) -> _Places:
        """In the units of pieces."""
        each = 8 * moves.unit // bits
        made = cls(*(np.zeros(moves.matrix.held.shape, np.int64) for _ in range(2)))
        step, lane = max(1, bits // moves.matrix.bits), np.arange(LANES)
        for piece, (line, place) in enumerate(moves.places):
            for n in range(0, moves.elements, step):
                for within in range(step):
                    where = (line, place + n + within)
                    where = where if moves.matrix.by_rows else where[::-1]
                    unit, at = divmod(n // step, each)
                    made.word[where] = piece * moves.count + unit
                    made.element[where] = lane * each + at
        return made


def _bits(matrix: Matrix) -> int:
    """Elements are shuffled at least byte by byte; smaller ones go as whole registers."""
    return matrix.bits if matrix.bits >= 8 else 32


def _shuffled(w: Writer, words: list[Value], bits: int, word: I64, element: I64) -> Value:
    """A word of elements (32 or more), each from a word and a place in it."""
    used, size = sorted(set(word.tolist())), len(element) // LANES * bits
    first: Value = words[used[0]]
    if len(used) == 1 and first.bits == size and np.array_equal(element, np.arange(len(element))):
        return first
    count = first.bits * LANES // bits
    parts = [
        w.let(f"bitcast <32 x i{words[n].bits}> {words[n].name} to <{count} x i{bits}>")
        for n in used
    ]
    while len(parts) > 1:
        if len(parts) % 2:
            parts.append("poison")
        order = f"<{2 * count} x i32> {lanes(list(range(2 * count)), 32)}"
        kind = f"<{count} x i{bits}>"
        parts = [
            w.let(f"shufflevector {kind} {parts[n]}, {kind} {parts[n + 1]}, {order}")
            for n in range(0, len(parts), 2)
        ]
        count *= 2
    each = first.bits * LANES // bits
    at = {n: number * each for number, n in enumerate(used)}
    chosen = [at[n] + m for n, m in zip(word.tolist(), element.tolist(), strict=True)]
    kind, many = f"<{count} x i{bits}>", len(chosen)
    found = w.let(
        f"shufflevector {kind} {parts[0]}, {kind} poison, <{many} x i32> {lanes(chosen, 32)}"
    )
    return w.vector(w.let(f"bitcast <{many} x i{bits}> {found} to <32 x i{size}>"), size)


def _offsets(e: Emitter, op: Op, moves: Moves, stride: Operand | None) -> list[Value]:
    """Bytes from the start of a matrix to each lane's part of each piece."""
    w, matrix = e.w, moves.matrix
    if stride is None:
        along = w.number(matrix.columns if matrix.by_rows else matrix.rows, 64)
    else:
        along = w.cast("zext", e.read(stride, "u32", op.place), 64)
    wide, found = w.spread(along), []
    for line, place in moves.places:
        first = w.op("mul", wide, w.vector(lanes(line.tolist(), 64), 64))
        elements = w.op("add", first, w.vector(lanes(place.tolist(), 64), 64))
        bits = w.op("mul", elements, w.spread(w.number(matrix.bits, 64)))
        found.append(w.op("lshr", bits, w.spread(w.number(3, 64))))
    return found


def _moves(e: Emitter, op: Op) -> Moves:
    mods = op.at.opcode.mods
    matrix = moved_matrix(mods, capability_of(e.kernel.program.module))
    return moves_of(matrix, space_named(mods))


def _load(e: Emitter, op: Op) -> None:
    """wmma.load."""
    target, _, *stride = op.at.operands
    moves, guard = _moves(e, op), e.predicate(op)
    offsets = _offsets(e, op, moves, stride[0] if stride else None)
    words = [w for requests in pieces_of(e, op, guard, offsets) for w in loaded(e.w, requests)]
    held, bits = moves.matrix.held, _bits(moves.matrix)
    places = _Places.moved(moves, bits)
    registers = []
    for number in range(held.registers):
        step = max(1, bits // held.bits)
        row, column = (x[:, number, ::step].reshape(-1) for x in (held.row, held.column))
        word, element = places.word[row, column], places.element[row, column]
        registers.append(_shuffled(e.w, words, bits, word, element))
    for number, operand in enumerate(items(target)):
        value = registers[number % held.registers]
        e.write(operand, value, f"b{held.container}", op, guard)


def _registers(e: Emitter, op: Op, operand: Operand, fragment: Fragment) -> list[Value]:
    """What they hold; there may be spare ones behind them."""
    found, kind = items(operand), f"b{fragment.container}"
    if len(found) < fragment.registers:
        raise Bailout(f"a matrix in {len(found)} registers")
    given = found[: fragment.registers]
    return [e.w.spread(e.strict(e.read(o, kind, op.place))) for o in given]


def _store(e: Emitter, op: Op) -> None:
    """wmma.store."""
    _, source, *stride = op.at.operands
    moves, guard = _moves(e, op), e.predicate(op)
    matrix, bits = moves.matrix, _bits(moves.matrix)
    words = _registers(e, op, source, matrix.held)
    places = _Places.held(matrix.held, bits)
    offsets = _offsets(e, op, moves, stride[0] if stride else None)
    requests = pieces_of(e, op, guard, offsets)
    each = 8 * moves.unit // bits
    for piece, (line, place) in zip(requests, moves.places, strict=True):
        units = []
        for unit in range(moves.count):
            along = place[:, None] + unit * each + np.arange(each)
            where = (np.broadcast_to(line[:, None], along.shape).reshape(-1), along.reshape(-1))
            row, column = where if matrix.by_rows else where[::-1]
            value = _shuffled(
                e.w, words, bits, places.word[row, column], places.element[row, column]
            )
            units.append(e.w.wide(value))
        for request in piece:
            request.store(units)


def _multiply(e: Emitter, op: Op) -> None:
    """wmma.mma."""
    mods = op.at.opcode.mods
    try:
        form = whole_product(mods, capability_of(e.kernel.program.module))
    except ValueError as reason:
        raise Bailout(f"{op.at.opcode.text} ({reason})") from None
    target, *sources = op.at.operands[:4]
    fragments = form.a.held, form.b.held, form.start.held
    given = [_registers(e, op, o, x) for o, x in zip(sources, fragments, strict=True)]
    name = "wmma_" + "_".join(mods).replace("::", "_")
    routine = product_routine(name, *fragments, form.rule, form.result.held)
    arguments = [f"<32 x i{v.bits}> {v.name}" for values in given for v in values]
    found, guard = ask_private(e.w, e.private, routine, *arguments), e.predicate(op)
    bits, count = form.result.held.container, form.result.held.registers
    for number, register in enumerate(items(target)):
        piece = e.w.let(f"extractvalue {routine.result} {found}, {number % count}")
        e.write(register, e.w.vector(piece, bits), f"b{bits}", op, guard)


def whole_matrix(e: Emitter, op: Op) -> None:
    """wmma in each of its forms."""
    {"load": _load, "store": _store, "mma": _multiply}[op.at.opcode.mods[0]](e, op)


TABLE = {"wmma": whole_matrix}
