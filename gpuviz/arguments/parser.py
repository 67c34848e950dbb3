"""Texts to arguments; what is wrong with one is said with the text and the remedy."""

import math
import re

import numpy as np

from gpuviz.arguments.dtypes import DTYPES, FLOATS
from gpuviz.arguments.specs import (
    FILLS,
    MODES,
    ArraySpec,
    BufferSpec,
    Elsewhere,
    Field,
    ImageSpec,
    Inline,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
)
from gpuviz.arguments.tensor_maps import is_tensor_map, parse_tensor_map
from gpuviz.base.errors import InputError
from gpuviz.words.language import tr

_SPEC = re.compile(r"\s*(\w+)\s*(?:\[\s*([\w+-]*)\s*\]\s*(?:\+(\d{1,18})\s*)?)?=(.*)$", re.DOTALL)
_ARRAY = re.compile(r"\s*(\w+)\s*\*\s*(\w+)\s*=(.*)$", re.DOTALL)
_POINTER = re.compile(r"\s*&(\d{1,4})\+(\d{1,18})\s*$")
_STRUCT = re.compile(r"\s*\{\s*(\d{1,9})\s*((?:;[^;]*)*)\}\s*$", re.DOTALL)
_FIELD = re.compile(r"\s*([\w.\[\]]+)@(\d{1,9}) (.+)$", re.DOTALL)
_IMAGE = re.compile(r"\s*image\s+(\w+)(?:\*(\d))?\[([\d, ]+)\]([a-z ]*)=(.*)$", re.DOTALL)
_VARIABLE = re.compile(r"\s*([A-Za-z_$][\w$]*):=(.*)$", re.DOTALL)
_SEEDED = re.compile(r"(?:rand|shuffle)\(\d{1,18}\)")
_LISTED = 4096  # values written one by one, at most
_FORM = (
    "TYPE[COUNT]=zeros|ones|arange|rand|few|shuffle|unset|VALUE|@file.npy or TYPE=VALUE, "
    "as in f32[64]=rand, f32[64]=2 or i32=7"
)


def parse(text: str) -> Spec:
    """The argument that a text describes; InputError says what is wrong with it."""
    if text.lstrip().startswith("{"):
        return _struct(text)
    if found := _VARIABLE.match(text):
        inner = parse(found[2])
        if isinstance(inner, ArraySpec | ScalarSpec | StructSpec):
            return VariableSpec(found[1], inner)
        raise InputError(f"Argument {text!r}: a variable holds TYPE*COUNT=FILL or TYPE=VALUE.")
    if is_tensor_map(text):
        tensor = parse_tensor_map(text)
        if tensor.to is None:
            _fill(text, tensor.dtype, tensor.fill, tensor.count)
        return tensor
    return _plain(text)


def _plain(text: str) -> Inline | Elsewhere:
    if text.lstrip().startswith("image "):
        return _image(text)
    if found := _POINTER.match(text):
        return PointerSpec(int(found[1]), int(found[2]))
    if found := _ARRAY.match(text):
        dtype, inline = _known(text, found[1]), _count(text, found[2])
        return ArraySpec(dtype, inline, _fill(text, dtype, found[3].strip(), inline))
    match = _SPEC.match(text)
    if match is None:
        raise InputError(
            tr(
                "Argument {argument} is not understood: write {form}.",
                argument=repr(text),
                form=_FORM,
            )
        )
    dtype, count, value = _known(text, match[1]), match[2], match[4].strip()
    if count is None:
        return _scalar(text, dtype, value)
    number = _count(text, count)
    return BufferSpec(dtype, number, _fill(text, dtype, value, number), int(match[3] or 0))


def _image(text: str) -> ImageSpec:
    match = _IMAGE.match(text)
    if match is None:
        form = "image TYPE*CHANNELS[WIDTH,HEIGHT] MODES=FILL, as in image u8*4[64,64] wrap=rand"
        raise InputError(f"Argument {text!r} is no texture or surface: write {form}.")
    dtype, channels = _known(text, match[1]), int(match[2] or 1)
    shape = tuple(_count(text, size.strip()) for size in match[3].split(","))
    modes = match[4].split()
    if wrong := [mode for mode in modes if mode not in MODES]:
        raise InputError(f"Argument {text!r}: {wrong[0]!r} is none of {', '.join(MODES)}.")
    if channels not in (1, 2, 4) or len(shape) > 3:
        raise InputError(f"Argument {text!r}: give 1, 2 or 4 channels, and one to three sizes.")
    if "linear" in modes and dtype not in ("f16", "f32") and "float" not in modes:
        raise InputError(f"Argument {text!r}: linear filtering is of floats: say float, too.")
    ordered = tuple(mode for mode in MODES if mode in modes)
    fill = _fill(text, dtype, match[5].strip(), math.prod(shape) * channels)
    return ImageSpec(dtype, channels, shape, fill, ordered)


def _known(text: str, dtype: str) -> str:
    if dtype not in DTYPES:
        raise InputError(
            tr(
                "Argument {argument}: type {type} is none of {all}.",
                argument=repr(text),
                type=repr(dtype),
                all=", ".join(DTYPES),
            )
        )
    return dtype


def _struct(text: str) -> StructSpec:
    match = _STRUCT.match(text)
    parts = match[2].split(";")[1:] if match else []
    found = [_FIELD.match(part) for part in parts]
    if match is None or not all(found):
        form = "{SIZE; NAME@BYTE ARGUMENT; ...}, as in {16; n@0 i32=4; data@8 f32[64]=rand}"
        raise InputError(f"Argument {text!r} is no structure: write {form}.")
    size = int(match[1])
    fields = tuple(Field(one[1], int(one[2]), _plain(one[3])) for one in found if one)
    for field in fields:
        end = field.offset + (field.spec.size if isinstance(field.spec, Inline) else 8)
        if end > size:
            raise InputError(
                f"Argument {text!r}: {field.name} ends at byte {end}, the structure at {size}."
            )
    return StructSpec(size, fields)


def _count(text: str, count: str) -> int:
    if not count.isascii() or not count.isdecimal() or int(count) == 0:
        raise InputError(
            tr(
                "Argument {argument}: the count {count} is not a whole number above 0.",
                argument=repr(text),
                count=repr(count),
            )
        )
    return int(count)


def _fill(text: str, dtype: str, value: str, count: int) -> str:
    if value in FILLS or _SEEDED.fullmatch(value) or (value.startswith("@") and len(value) > 1):
        return value
    try:
        if value.startswith("[") and value.endswith("]"):
            listed = value[1:-1].split(",")
            if len(listed) != count:
                raise InputError(
                    tr(
                        "Argument {argument}: {n} values for {count} elements.",
                        argument=text,
                        n=len(listed),
                        count=count,
                    )
                )
            if len(listed) > _LISTED:
                raise InputError(f"Argument {text[:60]}…: more than {_LISTED} values: use a file.")
            return "[" + ",".join(str(number(text, dtype, one.strip())) for one in listed) + "]"
        return str(number(text, dtype, value))
    except ValueError:
        raise InputError(
            tr(
                "Argument {argument}: a buffer is filled with {fills}, a {kind} or @file.npy, not "
                "with {value}.",
                argument=repr(text),
                fills=", ".join(FILLS),
                kind=_kind(dtype),
                value=repr(value),
            )
        ) from None


def _scalar(text: str, dtype: str, value: str) -> ScalarSpec:
    if value in FILLS or value.startswith("@"):
        raise InputError(
            tr(
                "Argument {argument} lacks a count: write {form}.",
                argument=repr(text),
                form=f"{dtype}[COUNT]={value}",
            )
        )
    try:
        return ScalarSpec(dtype, number(text, dtype, value))
    except ValueError:
        raise InputError(
            tr(
                "Argument {argument}: the value {value} is not a {kind}.",
                argument=repr(text),
                value=repr(value),
                kind=_kind(dtype),
            )
        ) from None


def _kind(dtype: str) -> str:
    """What a value of the type is called."""
    return tr("number") if dtype in FLOATS else tr("whole number")


def number(text: str, dtype: str, value: str) -> int | float:
    """A value of the type; ValueError when it is no number at all; `text` is for messages."""
    return float(value) if dtype in FLOATS else _integer(text, dtype, value)


def _integer(text: str, dtype: str, value: str) -> int:
    number, limits = int(value, 0), np.iinfo(np.dtype(DTYPES[dtype]))
    if not limits.min <= number <= limits.max:
        raise InputError(
            tr(
                "Argument {argument}: {n} does not fit {type} ({low} to {high}).",
                argument=repr(text),
                n=number,
                type=dtype,
                low=limits.min,
                high=limits.max,
            )
        )
    return number
