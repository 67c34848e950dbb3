"""Loads, stores and atomics of sm_90 on the memories of a state."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuviz.sass.listing import SassInstruction
from tools.sass_trial.operands import (
    Target,
    UnknownError,
    Values,
    bracket,
    constant,
    source,
    target,
)

BASE = 0x7F0000000000
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_KNOWN = {
    *_WIDTHS,
    "E",
    "CONSTANT",
    "STRONG",
    "GPU",
    "SYS",
    "32",
    "S32",
    "U32",
    "F32",
    "WEAK",
    "LU",
}
Step = Callable[[Any, Values], None]


def _width(mods: tuple[str, ...]) -> int:
    return next((_WIDTHS[m] for m in mods if m in _WIDTHS), 4)


def _check(at: SassInstruction, mods: tuple[str, ...], *more: str) -> None:
    if set(mods) - _KNOWN - set(more):
        raise UnknownError(at.opcode)


def _memory(s: Any, space: str, address: Values, lanes: Values, width: int) -> tuple[Any, Any]:
    """The bytes that lanes (K,) reach, as a flat array and (K,) indices in it."""
    where = np.broadcast_to(address, lanes.shape)[lanes].astype(np.int64)
    if space == "global":
        flat, at = s.arena, where - BASE
    elif space == "shared":
        flat = s.shared.reshape(-1)
        block = np.broadcast_to(s.block, lanes.shape)[lanes]
        at = where + block * s.shared.shape[1]
    else:
        flat = s.local.reshape(-1)
        thread = np.arange(lanes.size).reshape(lanes.shape)[lanes]
        at = where + thread * s.local.shape[2]
    if len(at) and (at.min() < 0 or at.max() + width > len(flat) or (at % min(width, 16)).any()):
        raise IndexError(f"{space}: an address outside, or not a multiple of {width}")
    return flat, at


def _load(space: str) -> Callable[..., Step]:
    def make(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
        _check(at, mods)
        place, address, width = target(operands[0]), bracket(operands[1]), _width(mods)
        signed = "S8" in mods or "S16" in mods
        size = min(width, 4)

        def step(s: Any, lanes: Values) -> None:
            where = address(s)
            s.hear(at, space, where, lanes)
            flat, index = _memory(s, space, where, lanes, width)
            view = flat.view(f"{'i' if signed else 'u'}{size}")
            for i in range(max(1, width // 4)):
                found = view[index // size + i].astype(np.int64).astype(np.uint32)
                if place.index != 255:
                    s.files["R"][place.index + i][lanes] = found

        return step

    return make


def _store(space: str) -> Callable[..., Step]:
    def make(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
        _check(at, mods)
        address, width, size = bracket(operands[0]), _width(mods), min(_width(mods), 4)
        first = target(operands[1])

        def step(s: Any, lanes: Values) -> None:
            where = address(s)
            s.hear(at, space, where, lanes)
            flat, index = _memory(s, space, where, lanes, width)
            view = flat.view(f"u{size}")
            for i in range(max(1, width // 4)):
                part = Target(first.file, min(first.index + i, 255 if first.file == "R" else 63))
                value = np.broadcast_to(s.files[part.file][part.index], lanes.shape)[lanes]
                view[index // size + i] = value.astype(view.dtype)

        return step

    return make


_ATOMIC: dict[str, Any] = {
    "ADD": np.add,
    "MAX": np.maximum,
    "MIN": np.minimum,
    "OR": np.bitwise_or,
    "AND": np.bitwise_and,
    "XOR": np.bitwise_xor,
}


def _reduction(space: str, op: str) -> Callable[..., Step]:
    """RED, and ATOM whose result is thrown away (RZ) or a sequence of lanes (others)."""

    def make(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
        if "POPC" in mods:
            return _count(at, operands)
        name = next((m for m in mods if m in _ATOMIC), "")
        _check(at, mods, *_ATOMIC)
        if not name or "F32" in mods:
            raise UnknownError(at.opcode)
        if op == "atomic" and operands.pop(0) != "RZ":
            raise UnknownError(f"{at.opcode} with a result")
        address, kind = bracket(operands[0]), "l" if "64" in mods else "i"
        read, size = source(operands[1], kind), 8 if kind == "l" else 4
        signed = "S32" in mods or "S64" in mods

        def step(s: Any, lanes: Values) -> None:
            where = address(s)
            s.hear(at, space, where, lanes)
            flat, index = _memory(s, space, where, lanes, size)
            form = np.dtype(f"{'i' if signed else 'u'}{size}")
            value = np.broadcast_to(read(s), lanes.shape)[lanes].view(form)
            _ATOMIC[name].at(flat.view(form), index // size, value)

        return step

    return make


def _count(at: SassInstruction, operands: list[str]) -> Step:
    """ATOMS.POPC.INC: adds one for each lane."""
    address = bracket(operands[-1])
    if operands[0] != "RZ":
        raise UnknownError(at.opcode)

    def step(s: Any, lanes: Values) -> None:
        where = address(s)
        s.hear(at, "shared", where, lanes)
        flat, index = _memory(s, "shared", where, lanes, 4)
        np.add.at(flat.view(np.uint32), index // 4, np.uint32(1))

    return step


def _constant(at: SassInstruction, mods: tuple[str, ...], operands: list[str]) -> Step:
    _check(at, mods)
    found = re.match(r"c\[0x([0-9a-f]+)\]\[(.*)\]$", operands[1])
    if found is None:
        raise UnknownError(at.text)
    width, place = _width(mods), target(operands[0])
    bank = int(found[1], 16)
    read = constant(bank, found[2], width)
    signed = "S8" in mods or "S16" in mods
    looked_up = "R" in found[2].replace("UR", "") and bank == 3

    def step(s: Any, lanes: Values) -> None:
        value = read(s)
        if looked_up:
            s.hear(at, "constant", bracket(f"[{found[2]}]")(s), lanes)
        if signed:
            value = value.view(f"i{width}").astype(np.int32).view(np.uint32)
        if width == 8:
            s.write_wide(place, value, lanes)
        else:
            s.write(place, value.astype(np.uint32), lanes)

    return step


MAKERS: dict[str, Callable[..., Step]] = {
    "LDG": _load("global"),
    "LDS": _load("shared"),
    "LDL": _load("local"),
    "STG": _store("global"),
    "STS": _store("shared"),
    "STL": _store("local"),
    "LDC": _constant,
    "ULDC": _constant,
    "REDG": _reduction("global", "reduction"),
    "RED": _reduction("global", "reduction"),
    "ATOMS": _reduction("shared", "atomic"),
    "ATOMG": _reduction("global", "atomic"),
}
