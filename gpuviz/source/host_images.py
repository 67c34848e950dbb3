"""Textures and surfaces as host code describes them: arrays of the device, descriptors, objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuviz.source.host_values import Held, HostArray, Record

# Enumerators, in the order of their values.
_ORDERS = {
    "cudaAddressMode": ("Wrap", "Clamp", "Mirror", "Border"),
    "cudaFilterMode": ("Point", "Linear"),
    "cudaReadMode": ("ElementType", "NormalizedFloat"),
    "cudaResourceType": ("Array", "MipmappedArray", "Linear", "Pitch2D"),
    "cudaChannelFormatKind": ("Signed", "Unsigned", "Float", "None"),
}
ENUMERATED = {
    f"{kind}{name}": value for kind, names in _ORDERS.items() for value, name in enumerate(names)
}
_KINDS = ("i", "u", "f")  # by cudaChannelFormatKind
# What a template of cudaCreateChannelDesc is made with: bits of a channel, kind, by its first word.
_SCALARS = {"char": (8, 0), "uchar": (8, 1), "short": (16, 0), "ushort": (16, 1), "int": (32, 0)}
_SCALARS |= {"uint": (32, 1), "float": (32, 2), "half": (16, 2), "unsigned": (32, 1)}


@dataclass(frozen=True)
class HostImage:
    """A texture or surface object, as arguments are written: `f32[64,64] wrap linear`."""

    text: str


def described(type_: str) -> Record | None:
    """A structure of the runtime that describes an image, all zero; None for another type."""
    made = _DESCRIBED.get(type_)
    return made() if made is not None else None


def _resource() -> Record:
    linear = Record(devPtr=0, desc=_channels(), sizeInBytes=0)
    pitched = Record(devPtr=0, desc=_channels(), width=0, height=0, pitchInBytes=0)
    array, mipmap = Record(array=0), Record(mipmap=0)
    return Record(resType=0, res=Record(array=array, mipmap=mipmap, linear=linear, pitch2D=pitched))


def _channels(bits: Sequence[Held] = (0, 0, 0, 0), kind: Held = 0) -> Record:
    return Record(zip("xyzwf", (*bits, kind), strict=True))


_DESCRIBED: Mapping[str, Callable[[], Record]] = {
    "cudaResourceDesc": _resource,
    "cudaTextureDesc": lambda: Record(
        addressMode=HostArray(3, {0: 0, 1: 0, 2: 0}), filterMode=0, readMode=0, normalizedCoords=0
    ),
    "cudaChannelFormatDesc": _channels,
    "cudaExtent": lambda: Record(width=0, height=0, depth=0),
}


def channels_of(values: Sequence[Held], made_with: str) -> Record | None:
    """What cudaCreateChannelDesc makes, of five numbers or `<float4>`; None for other types."""
    if len(values) == 5:
        return _channels(values[:4], values[4])
    word = "uchar" if made_with.startswith("unsigned char") else made_with.split(" ")[-1]
    bits, kind = _SCALARS.get(word.rstrip("1234"), (0, 0))
    count = int(word[-1]) if word[-1:].isdigit() else 1
    return _channels([bits] * count + [0] * (4 - count), kind) if bits else None


def array_of(channels: Held, sizes: Sequence[Held]) -> Record:
    """What cudaMallocArray, or cudaMalloc3DArray with an extent, gives."""
    if len(sizes) == 1 and isinstance(sizes[0], Record):
        sizes = [*sizes[0].values()]
    return Record(channels=channels, sizes=Record(enumerate(sizes)))  # type: ignore[arg-type]


def image_of(resource: Held, texture: Held = None) -> HostImage | None:
    """The object that is created of a resource, with how it is read; None where that, or its size,
    is not known.
    """
    if not isinstance(resource, Record):
        return None
    places = resource["res"]
    which = ("array", "mipmap", "linear", "pitch2D")[resource["resType"]]
    held = places[which]
    if which == "array":
        held = held["array"] if isinstance(held["array"], Record) else Record(channels=None)
        channels, sizes = held["channels"], [*held.get("sizes", {}).values()]
    elif which == "pitch2D":
        channels, sizes = held["desc"], [held["width"], held["height"]]
    else:
        channels, sizes = held.get("desc"), []
    if not isinstance(channels, Record) or not channels["x"]:
        return None
    count = sum(bool(channels[name]) for name in "xyzw")
    if which == "linear":
        sizes = [held["sizeInBytes"] // (channels["x"] * count // 8)]
    sizes = [one for one in sizes if one != 0]
    if not sizes or not all(isinstance(one, int) and one > 0 for one in sizes):
        return None
    element = f"{_KINDS[channels['f']]}{channels['x']}{f'*{count}' if count > 1 else ''}"
    head = f"{element}[{','.join(map(str, sizes))}]"
    return HostImage(" ".join((head, *_modes(texture, which == "linear"))))


def _modes(texture: Any, linear: bool) -> tuple[str, ...]:
    """How a texture is read. Wrapped and mirrored are only coordinates from 0 to 1, and linear
    memory has neither edges nor a filter.
    """
    if not isinstance(texture, Record):
        return ()
    normalised = bool(texture["normalizedCoords"])
    modes = texture["addressMode"]
    beyond = modes.cells.get(0) if isinstance(modes, HostArray) else None
    name = ("wrap", "clamp", "mirror", "border")[beyond if isinstance(beyond, int) else 1]
    if name in ("wrap", "mirror") and not normalised:
        name = "clamp"
    said = {
        name: not linear and name != "clamp",
        "linear": not linear and texture["filterMode"] == 1,
        "normalized": normalised,
        "float": texture["readMode"] == 1,
    }
    return tuple(word for word, so in said.items() if so)
