"""What a kernel does with a texture or surface object that it is given."""

from __future__ import annotations

from typing import Literal

from gpuviz.ptx.text.ir import Addr, Function, Instruction, Reg, Sym, Vec, items
from gpuviz.ptx.text.isa import addresses, kind_of, registers_read, value_of

_SIDES = {1: (4096,), 2: (64, 64), 3: (16, 16, 16)}  # for a first try
_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}
_ELEMENTS = {"f32": "f32", "u32": "u8", "s32": "i32"}
_BITS = {"b8": "u8", "b16": "u16", "b32": "f32", "b64": "f32"}
_LAYERS = 4


def image_read(function: Function, parameter: str, offset: int) -> str:
    """Elements and sizes that an image may have which comes with a parameter, at a byte of it."""
    found = _first_use(function, parameter, offset)
    return "f32[64,64]" if found is None else _image(function, found)


def image_use(
    function: Function, parameter: str, offset: int
) -> Literal["texture", "linear", "surface"]:
    """What an image is to a kernel; a texture of linear memory is read by whole numbers."""
    found = _first_use(function, parameter, offset)
    if found is None or found.opcode.name in ("tex", "tld4"):
        whole = found is not None and found.opcode.mods[-1] == "s32"
        return "linear" if whole else "texture"
    return "surface"


def _first_use(function: Function, parameter: str, offset: int) -> Instruction | None:
    """Of the image itself; of any, where it is not seen which is which."""
    named = _copies(function, parameter, offset)
    every = [at for at in function.body if kind_of(at) == "image"]
    return next((at for at in every if _handle(at) in named), next(iter(every), None))


def _copies(function: Function, parameter: str, offset: int) -> set[Reg]:
    """The registers that hold the handle: loaded, or moved."""
    held: set[Reg] = set()
    for at in function.body:
        if not at.operands or not isinstance(at.operands[0], Reg):
            continue
        source = at.operands[1] if len(at.operands) > 1 else None
        if at.opcode.name == "ld" and "param" in at.opcode.mods and isinstance(source, Addr):
            name = source.base.name if isinstance(source.base, Sym) else ""
            if (name, source.offset) == (parameter, offset):
                held.add(at.operands[0])
        elif at.opcode.name == "mov" and source in held:
            held.add(at.operands[0])
    return held


def _handle(at: Instruction) -> object:
    (place,) = addresses(at)
    base = place.items[0] if isinstance(place, Vec) and place.items else None
    return base.base if isinstance(base, Addr) else None


def _image(function: Function, at: Instruction) -> str:
    mods = at.opcode.mods
    shape = next((mod for mod in mods if mod in _SHAPES), "2d")
    sides = _SIDES[_SHAPES[shape]]
    if shape.startswith("a"):
        sides = (*_SIDES[_SHAPES[shape] - 1], _LAYERS)
    modes = " layered" if shape.startswith("a") else ""
    if at.opcode.name in ("tex", "tld4"):
        kind, count = _ELEMENTS.get(mods[-2], "f32"), _used(function, at)
    else:
        value = value_of(at)
        bits = next((mod for mod in reversed(mods) if mod in _BITS), "b32")
        kind = _BITS[bits]
        count = (len(items(value))) * (2 if bits == "b64" else 1)
    each = f"*{count}" if count > 1 else ""
    return f"{kind}{each}[{','.join(map(str, sides))}]{modes}"


def _used(function: Function, at: Instruction) -> int:
    """How many of the four elements that it gives are read by others: 1, 2 or 4."""
    read = {one for other in function.body if other is not at for one in registers_read(other)}
    last = max((n for n, item in enumerate(items(at.operands[0])) if item in read), default=0)
    return (1, 2, 4, 4)[min(last, 3)]
