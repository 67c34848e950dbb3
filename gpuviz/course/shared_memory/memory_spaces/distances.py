"""How far memory spaces are from a warp: the way to their variables, and about how many cycles."""

from __future__ import annotations

from gpuviz.arch import Architecture
from gpuviz.panels.figures import Provenance
from gpuviz.words.language import tr

# Cycles that an access takes where Accel-Sim's model of Hopper finds it (fitted to measurements).
_HOPPER = {"register": 0, "shared": 29, "l1": 41, "l2": 237, "device": 431}
# The slides on the first GPUs: 400 to 600 cycles for global memory, a few on the chip.
_SLIDES = {"register": 0, "shared": 4, "l1": 4, "device": 500}


def fitted(arch: Architecture) -> bool:
    """Whether the numbers of the model are of a chip built like this one: one L1 for all loads."""
    return arch.cc >= (7, 0)


def way_of(arch: Architecture, key: str) -> tuple[str, ...]:
    """The places on the way from a warp to the variables of a space, these last."""
    if key in ("register", "shared"):
        return (key,)
    l2 = ("l2",) if arch.cc >= (2, 0) else ()
    if key == "constant":
        return "cache", *l2, key
    looked = arch.cc >= (2, 0) or key == "texture"
    return *(("l1",) * looked), *l2, key


def cycles_of(arch: Architecture, key: str) -> int:
    """About how many cycles the first access to a space's variables takes.

    What was stored a moment ago is still in L1 where that caches local memory; constants are in
    their cache once a warp has read them, which is taken for granted, and as near as any memory on
    the chip: no number for that is known here.
    """
    known = _HOPPER if fitted(arch) else _SLIDES
    if key in ("register", "shared"):
        return known[key]
    if key == "constant":
        return known["shared"]
    if key == "local" and in_l1(arch):
        return known["l1"]
    return known["device"]


def in_l1(arch: Architecture) -> bool:
    """Whether L1 caches local memory: on 2.x and 3.x, and from 7.0 on."""
    return fitted(arch) or (2, 0) <= arch.cc < (5, 0)


def far(arch: Architecture, key: str) -> tuple[str, ...]:
    """The distance of a space in words, longest first: a number where somebody has fitted one."""
    if key == "register":
        return ()
    if key == "constant":
        return _few()
    if fitted(arch):
        return _cycles(cycles_of(arch, key))
    if cycles_of(arch, key) < _SLIDES["device"]:
        return _few()
    return tr("400 to 600 cycles"), "400–600"


def cache_far(arch: Architecture, key: str) -> tuple[str, ...]:
    """The distance of a cache ("l1", "l2") in words; nothing where nobody has fitted it."""
    return _cycles(_HOPPER[key]) if fitted(arch) else ()


def _few() -> tuple[str, ...]:
    return tr("a few cycles"), tr("a few")


def _cycles(n: int) -> tuple[str, ...]:
    return tr("{n} cycles", n=n), str(n)


def source(arch: Architecture) -> Provenance:
    """Where the distances come from."""
    if not fitted(arch):
        said = tr("lecture slides: 400 to 600 cycles for global memory, a few on the chip")
        return Provenance((said, tr("slides: 400 to 600 cycles for global memory")))
    return Provenance(
        (
            tr(
                "cycles: Accel-Sim\u2019s model of Hopper, fitted to measurements · lecture "
                "slides: 400 to 600 cycles for global memory, a few on the chip"
            ),
            tr("cycles: Accel-Sim\u2019s model of Hopper · slides: 400 to 600 for global memory"),
            tr("cycles: Accel-Sim\u2019s model of Hopper"),
        )
    )
