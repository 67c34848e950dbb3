"""Textures and surfaces: `tex`, `tld4`, `suld`, `sust`. Their requests are told to nobody: no rule
for what these become is known.
"""

from collections.abc import Callable, Iterator

import numpy as np

from gpuviz.base.arrays import I64, Array, Bool
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.decode.operands import Builder, Reader, Site
from gpuviz.ptx.simt.code import Step
from gpuviz.ptx.simt.group import Group
from gpuviz.ptx.simt.images import Image
from gpuviz.ptx.simt.spaces import GLOBAL
from gpuviz.ptx.text.ir import Addr, Instruction, Operand, Reg, Vec, items
from gpuviz.ptx.text.stream import type_bytes

NAMES = frozenset({"tex", "tld4", "suld", "sust"})
_SHAPES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}
_LACKING = {
    "cube": "a cube map",
    "acube": "layers of cube maps",
    "2dms": "a multisample image",
    "a2dms": "layers of multisample images",
}
_CHANNELS = {"r": 0, "g": 1, "b": 2, "a": 3}
_Lanes = Bool | None


class _Places:
    """The operand `[handle, {coordinates}]`: for each image that lanes name, where in it."""

    def __init__(self, site: Site, operand: Operand, kind: str) -> None:
        shape = next((mod for mod in site.mods if mod in _SHAPES), "")
        if not shape or not isinstance(operand, Vec) or len(operand.items) != 2:
            lacking = (_LACKING[mod] for mod in site.mods if mod in _LACKING)
            raise site.unsupported(next(lacking, f"an image of {', '.join(site.mods[:2])}"))
        handle, listed = operand.items
        if not isinstance(handle, Addr) or not isinstance(handle.base, Reg):
            raise site.unsupported("a texture that is no object")
        given = items(listed)
        self.axes, self.layered = _SHAPES[shape], shape.startswith("a")
        self._handle: Reader = site.reader(handle.base, "u64")
        self._layer = site.reader(given[0], "u32") if self.layered else None
        first = 1 if self.layered else 0
        self._given = [site.reader(one, kind) for one in given[first : first + self.axes]]
        self._dtype = np.dtype(np.float32 if kind == "f32" else np.int32)
        self._at = site.instruction

    def __call__(self, g: Group) -> Iterator[tuple[Image, I64, list[Array], Array]]:
        """For each image: which of the active lanes, their coordinates, their layers.

        Raises
        ------
        KernelFault : a handle is none of an image, or one of another shape
        """
        lanes = active(g)
        handles = picked(g, self._handle(g), lanes)
        given = [picked(g, read(g), lanes).view(self._dtype) for read in self._given]
        layer = picked(g, self._layer(g), lanes) if self._layer else np.zeros(len(handles))
        for handle in np.unique(handles).tolist():
            which = np.flatnonzero(handles == handle)
            image = self._image(g, int(handle), which, lanes)
            yield image, which, [one[which] for one in given], layer[which].astype(np.int64)

    def _image(self, g: Group, handle: int, which: I64, lanes: _Lanes) -> Image:
        spec = g.machine.execution.program.images.get(handle)
        if spec is None:
            remedy = "give the argument an image, as in image f32[64,64]=rand"
            raise fault(g, self._at, f"{handle:#x} is no texture or surface", remedy, which, lanes)
        image = Image.of(spec, g.machine.memory.cells("global", 1), handle - GLOBAL)
        if image.axes != self.axes or ("layered" in spec.modes) != self.layered:
            wanted = f"{self.axes} dimensions" + " in layers" * self.layered
            said = f"an image of {wanted} is wanted, {spec} was given"
            raise fault(g, self._at, said, "give it as many sizes", which, lanes)
        return image


def active(g: Group) -> _Lanes:
    """The lanes of a group in the layout's shape, None when all are."""
    return None if g.mask is None else np.asarray(g.layout.full(g.mask))


def picked(g: Group, value: Array, lanes: _Lanes) -> Array:
    """(N,) a value of the active lanes."""
    full = g.layout.full(value)
    return np.ascontiguousarray(full.reshape(-1) if lanes is None else full[lanes])


def spread(g: Group, values: Array, lanes: _Lanes) -> Array:
    """The inverse of `picked`; other lanes get 0."""
    if lanes is None:
        return values.reshape(g.layout.shape)
    made = np.zeros(g.layout.shape, values.dtype)
    made[lanes] = values
    return made


def fault(
    g: Group, at: Instruction, said: str, remedy: str, which: I64, lanes: _Lanes
) -> KernelFault:
    """An access that cannot be, of the first of some of the active lanes."""
    lane = int(which[0]) if lanes is None else int(np.flatnonzero(lanes.reshape(-1))[which[0]])
    line = g.machine.execution.program.module.line_text(at.ptx_line)
    message = f"{said} at {at.where} ({line}), {g.who(lane)}: {remedy}"
    return g.fault("memory", said, message, at, lane, remedy)


def _sampling(site: Site, take: Callable[[Image, list[Array], Array], Array]) -> Step:
    """A read of a texture: `take` gives (N, channels) from image, coordinates and layers."""
    target, source = site.operands[:2]
    kind, coordinate = site.mods[-2], site.mods[-1]
    if kind not in ("f32", "u32", "s32") or coordinate not in ("f32", "s32"):
        raise site.unsupported(f"values of type {kind} by coordinates of type {coordinate}")
    places, at = _Places(site, source, coordinate), site.instruction
    puts = site.writers(target, (kind,) * 4)
    floats = kind == "f32"

    def sample(g: Group) -> None:
        lanes = active(g)
        count = g.layout.size if lanes is None else int(np.count_nonzero(lanes))
        made = np.zeros((4, count), np.uint32)
        for image, which, coordinates, layer in places(g):
            if image.floats != floats:
                wanted = "floats" if floats else "whole numbers"
                remedy = "say float, or choose another type of element"
                said = f"{wanted} are read of {image.spec}"
                raise fault(g, at, said, remedy, which, lanes)
            found = np.ascontiguousarray(take(image, coordinates, layer).T).view(np.uint32)
            made[: len(found), which] = found
        for put, value in zip(puts, made, strict=False):
            put(g, spread(g, value, lanes))

    return sample


def _texture(site: Site) -> Step:
    """`tex`, also of a level: there is only one."""
    mods = site.mods
    extra = {"level": 1, "grad": 2}.get(mods[0], 0)
    if len(site.operands) != 2 + extra:
        raise site.unsupported("an offset of texels, or a depth to compare with")
    if mods[-1] == "s32":
        return _sampling(
            site, lambda image, at, layer: image.fetched([x.astype(np.int64) for x in at])
        )
    return _sampling(site, lambda image, at, layer: image.sampled(at, layer))


def _gather(site: Site) -> Step:
    """`tld4`: one channel of four texels."""
    channel = _CHANNELS.get(site.mods[0], 0)
    if len(site.operands) != 2:
        raise site.unsupported("an offset of texels, or a depth to compare with")
    return _sampling(
        site,
        lambda image, at, layer: image.gathered(at, layer, min(channel, image.spec.channels - 1)),
    )


class _Bytes:
    """The bytes of a surface that lanes name: `x` counts bytes."""

    def __init__(self, site: Site, operand: Operand, value: Operand) -> None:
        if site.mods[0] != "b":
            raise site.unsupported("a surface whose elements are converted")
        self.kind = next(mod for mod in reversed(site.mods) if mod[0] == "b" and mod[1:].isdigit())
        self.items = items(value)
        self.unit = type_bytes(self.kind)
        self.places = _Places(site, operand, "s32")
        self._beyond = next((m for m in site.mods if m in ("trap", "clamp", "zero")), "trap")
        self._at = site.instruction

    def __call__(self, g: Group) -> Iterator[tuple[Array, I64, I64, Bool]]:
        """For each image: its cells of `unit` bytes, which lanes, the first cell of each, and
        whether that is inside.

        Raises
        ------
        KernelFault : outside, where the instruction traps; or misaligned
        """
        width, lanes = self.unit * len(self.items), active(g)
        for image, which, given, layer in self.places(g):
            row = image.texels.shape[2] * image.spec.channels * image.texels.itemsize
            sizes = (row // width, *image.texels.shape[1::-1])
            x, *rest = (one.astype(np.int64) for one in given)
            if (x % width).any():
                said = f"a misaligned access of {width} bytes to {image.spec}"
                raise fault(g, self._at, said, "x counts bytes", which[x % width != 0], lanes)
            place = [x // width, *rest, *([layer] if self.places.layered else [])]
            inside = np.ones(len(which), bool)
            for one, size in zip(place, sizes, strict=False):
                inside &= (one >= 0) & (one < size)
            if self._beyond == "trap" and not inside.all():
                said = f"an access outside of {image.spec}"
                remedy = "x counts bytes; compare with the size before"
                raise fault(g, self._at, said, remedy, which[~inside], lanes)
            if self._beyond == "clamp":
                place = [np.clip(p, 0, s - 1) for p, s in zip(place, sizes, strict=False)]
                inside = np.ones(len(which), bool)
            zero = np.zeros_like(x)
            column, line, plane = (*place, zero, zero)[:3]
            byte = image.start + (plane * sizes[1] + line) * row + column * width
            yield g.machine.memory.cells("global", self.unit), which, byte // self.unit, inside


def _surface_load(site: Site) -> Step:
    """`suld.b`."""
    target, source = site.operands[:2]
    bytes_of = _Bytes(site, source, target)
    puts = site.writers(target, (bytes_of.kind,) * len(bytes_of.items))

    def load(g: Group) -> None:
        lanes = active(g)
        count = g.layout.size if lanes is None else int(np.count_nonzero(lanes))
        made = np.zeros((len(puts), count), f"u{bytes_of.unit}")
        for cells, which, cell, inside in bytes_of(g):
            for number in range(len(puts)):
                found = cells[np.where(inside, cell + number, 0)]
                made[number, which] = np.where(inside, found, found.dtype.type(0))
        for put, value in zip(puts, made, strict=True):
            put(g, spread(g, value, lanes))

    return load


def _surface_store(site: Site) -> Step:
    """`sust.b`: where lanes hit one place the highest wins."""
    target, value = site.operands[:2]
    bytes_of = _Bytes(site, target, value)
    readers = [site.reader(one, bytes_of.kind) for one in bytes_of.items]

    def store(g: Group) -> None:
        lanes = active(g)
        values = [picked(g, read(g), lanes) for read in readers]
        for cells, which, cell, inside in bytes_of(g):
            for number, one in enumerate(values):
                cells[cell[inside] + number] = one[which][inside]
        g.machine.polling.idle = 0

    return store


STEPS: dict[str, Builder] = {
    "tex": _texture,
    "tld4": _gather,
    "suld": _surface_load,
    "sust": _surface_store,
}
