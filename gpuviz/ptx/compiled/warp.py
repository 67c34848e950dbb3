"""Code for instructions in which the lanes of a warp exchange values; as `simt.warp_ops`."""

from functools import partial

import numpy as np

from gpuviz.ptx.arithmetic.kinds import is_signed
from gpuviz.ptx.compiled.emitter import Emitter
from gpuviz.ptx.compiled.graph import Op, constant
from gpuviz.ptx.compiled.integers import apply
from gpuviz.ptx.compiled.memory_map import FAULT
from gpuviz.ptx.compiled.routines import ask
from gpuviz.ptx.compiled.writer import Bailout, Value, lanes
from gpuviz.ptx.simt import warp_ops
from gpuviz.ptx.text.ir import Operand
from gpuviz.ptx.text.isa import targets
from gpuviz.traces.trace import LANES


def _vector(e: Emitter, operand: Operand, kind: str, op: Op) -> Value:
    return e.w.spread(e.strict(e.read(operand, kind, op.place)))


def _shuffle(e: Emitter, op: Op) -> None:
    w, at = e.w, op.at
    mode = next(m for m in at.opcode.mods if m in ("up", "down", "bfly", "idx"))
    value = _vector(e, at.operands[1], "b32", op)
    b, c = constant(at.operands[2]), constant(at.operands[3])
    if b is not None and c is not None:
        found = warp_ops.source_of(mode, np.array([b]), np.array([c]))
        places, kind = lanes(found[0].tolist(), 32), "<32 x i32>"
        moved = w.let(f"shufflevector {kind} {value.name}, {kind} poison, {kind} {places}")
        inside = w.vector(lanes([int(x) for x in found[1]], 1), 1)
    else:
        given = (_vector(e, o, "b32", op) for o in at.operands[2:4])
        source, inside = apply(w, partial(warp_ops.source_of, mode), *given)
        moved = ask(w, "permute", f"<32 x i32> {value.name}", f"<32 x i32> {source.name}")
    guard = e.predicate(op)
    for target, one, kind in zip(
        targets(at), (w.vector(moved, 32), inside), ("b32", "pred"), strict=False
    ):
        e.write(target, one, kind, op, guard)


def _party(e: Emitter, op: Op, member: Operand | None) -> str:
    """The lanes that exchange values; different member masks in one warp are left alone."""
    w, on = e.w, e.lanes_on
    guard = e.predicate(op)
    if guard is not None:
        held = w.mask(guard)
        on = held if on == "-1" else w.let(f"and i32 {held}, {on}")
    if member is None or constant(member) is not None:
        return on
    value = e.read(member, "u32", op.place)
    if value.same:
        return on
    wide = w.spread(value)
    first = w.let(f"call i32 @llvm.cttz.i32(i32 {on}, i1 false)")
    chosen = w.let(f"extractelement <32 x i32> {wide.name}, i32 {first}")
    differs = w.mask(w.compare("ne", wide, w.scalar(chosen, 32)))
    wrong = w.let(f"and i32 {differs}, {on}")
    e.refuse(w.scalar(w.let(f"icmp ne i32 {wrong}, 0"), 1), FAULT, op.at.pc)
    return on


def _member(op: Op) -> Operand | None:
    return op.at.operands[-1] if "sync" in op.at.opcode.mods else None


def _vote(e: Emitter, op: Op) -> None:
    w, mods = e.w, op.at.opcode.mods
    mode = next(m for m in mods if m in ("all", "any", "uni", "ballot"))
    on = _party(e, op, _member(op))
    yes = w.let(f"and i32 {w.mask(e.read(op.at.operands[1], 'pred', op.place))}, {on}")
    target, guard = targets(op.at)[0], e.predicate(op)
    if mode == "ballot":
        e.write(target, w.scalar(yes, 32), "b32", op, guard)
        return
    everyone, nobody = w.let(f"icmp eq i32 {yes}, {on}"), w.let(f"icmp eq i32 {yes}, 0")
    found = {
        "all": lambda: everyone,
        "any": lambda: w.let(f"xor i1 {nobody}, true"),
        "uni": lambda: w.let(f"or i1 {everyone}, {nobody}"),
    }[mode]()
    e.write(target, w.scalar(found, 1), "pred", op, guard)


def _match(e: Emitter, op: Op) -> None:
    w, mods = e.w, op.at.opcode.mods
    on, guard = _party(e, op, _member(op)), e.predicate(op)
    value = _vector(e, op.at.operands[1], mods[-1], op)
    kind = f"<32 x i{value.bits}>"
    if "any" in mods:
        result = "zeroinitializer"
        for lane in range(LANES):
            own = w.scalar(w.let(f"extractelement {kind} {value.name}, i64 {lane}"), value.bits)
            equal = w.let(f"and i32 {w.mask(w.compare('eq', value, own))}, {on}")
            result = w.let(f"insertelement <32 x i32> {result}, i32 {equal}, i64 {lane}")
        e.write(targets(op.at)[0], w.vector(result, 32), "b32", op, guard)
        return
    first = w.let(f"call i32 @llvm.cttz.i32(i32 {on}, i1 false)")
    safe = w.let(f"and i32 {first}, 31")
    leader = w.scalar(w.let(f"extractelement {kind} {value.name}, i32 {safe}"), value.bits)
    differs = w.let(f"and i32 {w.mask(w.compare('ne', value, leader))}, {on}")
    agree = w.scalar(w.let(f"icmp eq i32 {differs}, 0"), 1)
    mask = w.select(agree, w.scalar(on, 32), w.number(0, 32))
    for target, one, name in zip(targets(op.at), (mask, agree), ("b32", "pred"), strict=False):
        e.write(target, one, name, op, guard)


def _reduce(e: Emitter, op: Op) -> None:
    w = e.w
    name, *flags, kind = (m for m in op.at.opcode.mods if m != "sync")
    if flags or kind[0] == "f":
        raise Bailout(op.at.opcode.text)
    on, guard = _party(e, op, _member(op)), e.predicate(op)
    value = _vector(e, op.at.operands[1], kind, op)
    signed = is_signed(kind)
    neutral = {
        "add": 0,
        "or": 0,
        "xor": 0,
        "and": -1,
        "min": (1 << 31) - 1 if signed else -1,
        "max": 1 << 31 if signed else 0,
    }[name]
    held = w.vector(w.let(f"bitcast i32 {on} to <32 x i1>"), 1)
    chosen = w.select(held, value, w.number(neutral, 32))
    letter = ("s" if signed else "u") if name in ("min", "max") else ""
    found = w.call("i32", f"llvm.vector.reduce.{letter}{name}.v32i32", f"<32 x i32> {chosen.name}")
    e.write(targets(op.at)[0], w.scalar(found, 32), kind, op, guard)


def _active(e: Emitter, op: Op) -> None:
    on = e.lanes_on
    value = e.w.number(-1, 32) if on == "-1" else e.w.scalar(on, 32)
    e.write(targets(op.at)[0], value, "b32", op, e.predicate(op))


def _elect(e: Emitter, op: Op) -> None:
    w, guard = e.w, e.predicate(op)
    on = _party(e, op, _member(op))
    first = w.scalar(w.let(f"call i32 @llvm.cttz.i32(i32 {on}, i1 false)"), 32)
    lane = w.vector(lanes(list(range(LANES)), 32), 32)
    chosen = w.compare("eq", lane, first)
    for target, one, kind in zip(targets(op.at), (first, chosen), ("b32", "pred"), strict=False):
        e.write(target, one, kind, op, guard)


TABLE = {
    "shfl": _shuffle,
    "vote": _vote,
    "match": _match,
    "redux": _reduce,
    "activemask": _active,
    "elect": _elect,
}
