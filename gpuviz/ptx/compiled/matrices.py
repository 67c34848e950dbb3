"""Code for matrices that a warp holds: mma, ldmatrix, stmatrix, movmatrix, wmma.

Which element of a whole matrix comes in which piece, and which register is to hold it, is told by
`tensor.wmma`; from one to the other elements are shuffled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Op
from gpuviz.ptx.compiled.memory import loaded, pieces_of, requests_of
from gpuviz.ptx.compiled.products import product_routine
from gpuviz.ptx.compiled.routines import ask_private
from gpuviz.ptx.compiled.writer import Bailout, Value, Writer, lanes
from gpuviz.ptx.decode.locate import space_named
from gpuviz.ptx.decode.matrices import capability_of
from gpuviz.ptx.tensor.fragments import Fragment
from gpuviz.ptx.tensor.mma import product_of
from gpuviz.ptx.tensor.wmma import Matrix, Moves, moved_matrix, moves_of, whole_product
from gpuviz.ptx.text.ir import Operand, items
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES

_ROWS = 8  # of a matrix, of 16 bytes each


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


def _load_whole(e: Emitter, op: Op) -> None:
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


def _store_whole(e: Emitter, op: Op) -> None:
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
    """mma and wmma.mma."""
    mods, sm = op.at.opcode.mods, capability_of(e.kernel.program.module)
    try:
        if op.at.opcode.name == "mma":
            form = product_of(mods, sm)
            fragments, rule, result = (form.left, form.right, form.total), form.rule, form.total
        else:
            whole = whole_product(mods, sm)
            fragments = whole.a.held, whole.b.held, whole.start.held
            rule, result = whole.rule, whole.result.held
    except ValueError as reason:
        raise Bailout(f"{op.at.opcode.text} ({reason})") from None
    target, *sources = op.at.operands[:4]
    given = [_registers(e, op, o, x) for o, x in zip(sources, fragments, strict=True)]
    name = "_".join((op.at.opcode.name, *mods)).replace("::", "_")
    routine = product_routine(name, *fragments, rule, result)
    arguments = [f"<32 x i{v.bits}> {v.name}" for values in given for v in values]
    found, guard = ask_private(e.w, e.private, routine, *arguments), e.predicate(op)
    for number, register in enumerate(items(target)):
        piece = e.w.let(f"extractvalue {routine.result} {found}, {number % result.registers}")
        value = e.w.vector(piece, result.container)
        e.write(register, value, f"b{result.container}", op, guard)


def _whole(e: Emitter, op: Op) -> None:
    """wmma in each of its forms."""
    forms = {"load": _load_whole, "store": _store_whole, "mma": _multiply}
    forms[op.at.opcode.mods[0]](e, op)


# --- rows of 16 bytes -----------------------------------------------------------------------------


def _shuffled_halves(w: Writer, a: str, b: str, size: int, order: list[int]) -> str:
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


def _load_rows(e: Emitter, op: Op) -> None:
    """ldmatrix."""
    w, into, guard = e.w, targets(op.at), e.predicate(op)
    words = loaded(w, requests_of(e, op, guard, len(into) * _ROWS))
    low, high = (w.let(f"bitcast <32 x i64> {x.name} to <128 x i16>") for x in words)
    for number, target in enumerate(into):
        order = _held(number, "trans" in op.at.opcode.mods)
        made = _shuffled_halves(w, low, high, 4 * LANES, order)
        value = w.vector(w.let(f"bitcast <64 x i16> {made} to <32 x i32>"), 32)
        e.write(target, value, "b32", op, guard)


def _store_rows(e: Emitter, op: Op) -> None:
    """stmatrix."""
    w, guard = e.w, e.predicate(op)
    source = items(op.at.operands[1])
    turned = "trans" in op.at.opcode.mods
    kept, words = ["zeroinitializer"] * 4, []
    for number, operand in enumerate(source):
        value = w.spread(e.strict(e.read(operand, "b32", op.place)))
        kept[number] = w.let(f"bitcast <32 x i32> {value.name} to <64 x i16>")
    both = [
        _shuffled_halves(w, kept[n], kept[n + 1], 2 * LANES, list(range(4 * LANES))) for n in (0, 2)
    ]
    places = {}
    for number in range(len(source)):
        for at, place in enumerate(_held(number, turned)):
            places[place] = number * 2 * LANES + at
    for half in range(2):
        order = [places.get(half * 4 * LANES + n, 0) for n in range(4 * LANES)]
        made = _shuffled_halves(w, both[0], both[1], 4 * LANES, order)
        words.append(w.let(f"bitcast <128 x i16> {made} to <32 x i64>"))
    for request in requests_of(e, op, guard, len(source) * _ROWS):
        request.store(words)


def _transpose(e: Emitter, op: Op) -> None:
    """movmatrix."""
    w, kind = e.w, "<64 x i16>"
    value = w.spread(e.strict(e.read(op.at.operands[1], "b32", op.place)))
    halves = w.let(f"bitcast <32 x i32> {value.name} to {kind}")
    order = [(lane % 4 * 2 + n) * _ROWS + lane // 4 for lane in range(LANES) for n in range(2)]
    made = _shuffled_halves(w, halves, "poison", 2 * LANES, order)
    found = w.vector(w.let(f"bitcast {kind} {made} to <32 x i32>"), 32)
    e.write(targets(op.at)[0], found, "b32", op, e.predicate(op))


TABLE = {
    **{"mma": _multiply, "wmma": _whole},
    **{"ldmatrix": _load_rows, "stmatrix": _store_rows, "movmatrix": _transpose},
}
