"""Kernel arguments as text: `f32[64]=rand` is a buffer, `i32=7` a scalar.

    TYPE[COUNT]=FILL   a buffer: zeros, ones, arange, rand, rand(SEED), few, shuffle,
                       shuffle(SEED), unset, a VALUE for all, [a, b, ...], @file.npy,
                       @file.bin, @image.png
    TYPE=VALUE         a scalar
    TYPE*COUNT=FILL    an array by value: of a structure, or of __constant__ memory
    image TYPE*CHANNELS[WIDTH,HEIGHT,DEPTH] MODES=FILL   a texture or surface object
    {SIZE; NAME@BYTE ARGUMENT; ...}   a structure by value: what lies at which byte
    &NUMBER+BYTES      a pointer into the buffer of another argument, counted from 0
    tensormap(TYPE[ROWS,COLUMNS]=FILL, box=ROWSxCOLUMNS, swizzle=128)   a CUtensorMap: a tensor,
                       and the boxes of it that are copied (see `tensor_maps`)
    NAME:=ARGUMENT     what a __constant__ or __device__ variable holds; after those of the kernel

A buffer that is `unset` is as cudaMalloc gives it: what is read before it is written is nobody's
value. The same texts are used in lessons, in files of launches and between processes; people write
shorter ones (`gpuviz.launch`), which become these.
"""

from gpuviz.arguments.dtypes import DTYPES, FLOATS, size_of
from gpuviz.arguments.filling import (
    ByValue,
    Pointer,
    Recipe,
    check_room,
    described,
    materialise,
    passed,
    variables,
)
from gpuviz.arguments.parser import parse
from gpuviz.arguments.specs import (
    FILLS,
    MODES,
    UNSET,
    ArraySpec,
    BufferSpec,
    Field,
    ImageSpec,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
    buffers_of,
    renamed,
)
from gpuviz.arguments.tensor_maps import TensorMap, TensorMapSpec, no_number

__all__ = [
    "DTYPES",
    "FILLS",
    "FLOATS",
    "MODES",
    "UNSET",
    "ArraySpec",
    "BufferSpec",
    "Field",
    "ImageSpec",
    "ByValue",
    "Pointer",
    "PointerSpec",
    "Recipe",
    "ScalarSpec",
    "Spec",
    "StructSpec",
    "TensorMap",
    "TensorMapSpec",
    "VariableSpec",
    "buffers_of",
    "check_room",
    "described",
    "materialise",
    "no_number",
    "parse",
    "passed",
    "renamed",
    "size_of",
    "variables",
]
