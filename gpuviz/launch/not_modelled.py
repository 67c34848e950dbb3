"""What a kernel does that is in none of its counts."""

from __future__ import annotations

from gpuviz.ptx.simt.program import reachable
from gpuviz.ptx.text.ir import Instruction, Module
from gpuviz.ptx.text.isa import kind_of


def not_modelled(module: Module, entry: str) -> str:
    """What counts do not tell of a kernel, "" where they tell all."""
    every = [at for f in reachable(module, module.by_name[entry]) for at in f.body]
    images = [at for at in every if kind_of(at) == "image"]
    maps = [at for at in every if at.opcode.name == "tensormap"]
    return "; ".join((*_of_images(images), *_of_maps(maps)))


def _of_images(found: list[Instruction]) -> list[str]:
    if not found:
        return []
    words = [
        f"requests of textures and surfaces (lines {_lines(found)}) are not modelled: they are in "
        "none of the counts"
    ]
    if levels := [at for at in found if at.opcode.mods[0] in ("level", "grad")]:
        words.append(
            f"levels of mipmaps (lines {_lines(levels)}) are not emulated: an image has one, "
            "which is read in place of any other"
        )
    return words


def _of_maps(found: list[Instruction]) -> list[str]:
    """Machine code changes a field by a load and a store in shared memory, and copies a map by a
    load there and an atomic exchange in global memory: seen in what ptxas 13.0 makes for sm_90.
    """
    if not found:
        return []
    return [
        f"tensor maps that the kernel makes itself (lines {_lines(found)}): its loads and stores "
        "in shared memory and its atomics in global memory for them are in none of the counts"
    ]


def _lines(found: list[Instruction]) -> str:
    return ", ".join(map(str, sorted({at.line for at in found} - {0}))) or "?"
