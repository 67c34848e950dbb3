"""Kernels that CuPy writes from expressions: ElementwiseKernel, ReductionKernel, cupyx.jit.

Each is the text that CuPy writes for these arguments, with the arguments as CuPy passes them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from gpuviz.base.errors import InputError, UnsupportedError
from gpuviz.integrations.arguments import Arguments, is_array
from gpuviz.integrations.calls import Call
from gpuviz.integrations.cupy_arrays import (
    Shape,
    View,
    broadcast,
    carray,
    indexer,
    merged,
    permuted,
    reshaped,
    row_length,
    short,
    spread,
    view,
)
from gpuviz.traces.geometry import Triple

_ARRAY, _INDEXER, _SCALAR = 1, 2, 3  # kinds of CuPy's _ArgInfo (cupy/_core/_kernel.pyx, 14.2)
_WITHOUT_CUB = ("as CuPy launches it without CUB (CUPY_ACCELERATORS): with it another kernel runs",)
_ELEMENTWISE_BLOCK = 128  # threads, as `Function.linear_launch` has it


@dataclass(frozen=True, eq=False)
class GeneratedKernel:
    """A kernel's text with the options it is compiled with, and how it is launched."""

    text: str
    name: str
    sizes: tuple[Triple, Triple]
    made: Arguments
    options: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def elementwise(call: Call) -> GeneratedKernel:
    """An ElementwiseKernel: arrays of one shape, or that broadcast to it, its outputs among
    them; `size` and `block_size` by name.

    Raises
    ------
    InputError : their number or their shapes do not fit
    """
    from cupy._core import _kernel

    kernel = call.kernel
    given = _by_name(kernel, call, size=None, block_size=_ELEMENTWISE_BLOCK)
    parameters = kernel.params[:-1]  # without the indexer
    args = _arguments(kernel, parameters, call.args)
    raw = [one.raw or not isinstance(arg, View) for one, arg in zip(parameters, args, strict=True)]
    plain = [arg for arg, r in zip(args, raw, strict=True) if not r]
    shape = (given["size"],) if given["size"] else broadcast(kernel.name, plain)
    wide = [arg if r else spread(arg, shape) for arg, r in zip(args, raw, strict=True)]
    seen, shape = merged(wide, shape, raw)
    types = _types(parameters, seen)
    text = _kernel._get_elementwise_kernel_code(
        (*_infos(parameters, seen, types), _indexer_info(len(shape))),
        _type_map(parameters, types),
        kernel.params,
        kernel.operation,
        kernel.name,
        kernel.preamble,
        kernel.kwargs.get("loop_prep", ""),
        kernel.kwargs.get("after_loop", ""),
    )
    made = _passed(parameters, seen, types)
    made.add("_ind", indexer(shape))
    size, most = prod(shape), given["block_size"]
    sizes = (-(-size // most), 1, 1), (min(most, size), 1, 1)
    return GeneratedKernel(text, kernel.name, sizes, made, kernel.kwargs.get("options", ()))


def reduction(call: Call) -> GeneratedKernel:
    """A ReductionKernel in the form that CuPy gives it where it does not leave it to CUB; `axis`
    and `keepdims` by name, its outputs among the arguments.

    Raises
    ------
    InputError : an argument that it does not take
    UnsupportedError : its axes or arrays are not such as are traced here
    """
    from cupy._core import _reduction

    kernel = call.kernel
    given = _by_name(kernel, call, axis=None, keepdims=False)
    inputs, parameters = len(kernel.in_params), (*kernel.in_params, *kernel.out_params)
    args = _arguments(kernel, parameters, call.args)
    if any(one.raw for one in parameters):
        raise UnsupportedError(f"{kernel.name}: raw arguments of a reduction are not traced")
    seen_in, in_shape, seen_out, out_shape = _reduced(kernel, args, given["axis"])
    seen = [*seen_in, *seen_out]
    along = max(row_length(arg, out_shape) for arg in seen_in if isinstance(arg, View))
    threads, stride, blocks = _reduction._get_block_specs(
        prod(in_shape), prod(out_shape), along, -1
    )
    types, step = _types(parameters, seen), np.int32(stride)
    text = _reduction._ReductionKernel_get_cached_function_code(
        inputs,
        len(kernel.out_params),
        kernel._params,
        (
            *_infos(parameters, seen, types),
            _indexer_info(len(in_shape)),
            _indexer_info(len(out_shape)),
            _info(_SCALAR, np.int32, step.dtype, 0),
        ),
        _type_map(parameters, {**types, "IndexT": np.dtype(np.int32)}),
        kernel.name,
        threads,
        kernel.reduce_type,
        kernel.identity,
        *(kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr),
        kernel.preamble,
        kernel.options,
    )
    made = _passed(parameters, seen, types)
    made.add("_in_ind", indexer(in_shape))
    made.add("_out_ind", indexer(out_shape))
    made.number("_block_stride", step)
    sizes = (blocks, 1, 1), (threads, 1, 1)
    return GeneratedKernel(text, kernel.name, sizes, made, kernel.options, _WITHOUT_CUB)


def _reduced(
    kernel: Any, args: Sequence[Any], axis: Any
) -> tuple[list[Any], Shape, list[Any], Shape]:
    """Inputs and outputs as the kernel sees them: the axes that are reduced come first."""
    from cupy._core import _reduction

    inputs = len(kernel.in_params)
    shape = broadcast(kernel.name, [arg for arg in args[:inputs] if isinstance(arg, View)])
    reduced, kept = _reduction._get_axis(axis, len(shape))
    out_shape = tuple(shape[n] for n in kept)
    into = [reshaped(kernel.name, arg, out_shape) for arg in args[inputs:]]
    order = (*reduced, *kept)
    wide = [permuted(spread(arg, shape), order) for arg in args[:inputs]]
    return (
        *merged(wide, tuple(shape[n] for n in order), [False] * inputs),
        *merged(into, out_shape, [False] * len(into)),
    )


def jit(call: Call) -> GeneratedKernel:
    """A kernel of cupyx.jit, written in CUDA C as CuPy does for arguments of these types.

    Raises
    ------
    InputError : a size is missing, or CuPy does not take the function or an argument
    """
    from cupyx.jit import _compile, _cuda_typerules, _cuda_types

    kernel, sizes = call.kernel, call.sizes
    args = [view(arg) if is_array(arg) else arg for arg in call.by_position]
    name = kernel._func.__name__
    try:
        kinds = [
            _cuda_types.CArray(arg.dtype, len(arg.shape), arg.contiguous, short(arg))
            if isinstance(arg, View)
            else _cuda_typerules.get_ctype_from_scalar(kernel._mode, arg)
            for arg in args
        ]
        found = _compile.transpile(
            kernel._func, ['extern "C"', "__global__"], kernel._mode, kinds, _cuda_types.void
        )
    except Exception as error:  # whatever the user's function makes of it
        raise InputError(f"cupyx.jit does not compile {name}: {error}") from None
    if found.backend != "nvrtc":
        raise UnsupportedError(f"{name} needs {found.backend}: kernels for NVRTC are traced")
    made = Arguments()
    names = kernel._func.__code__.co_varnames
    for label, arg, kind in zip(names, args, kinds, strict=False):
        if isinstance(arg, View):
            made.add(label, carray(made, label, arg))
        else:
            made.number(label, (np.float32 if kind.dtype.char == "e" else kind.dtype.type)(arg))
    return GeneratedKernel(found.code, found.func_name, sizes, made, found.options)


def completed(call: Call, make: Callable[[Shape, np.dtype[Any]], Any]) -> Call:
    """The same with the outputs that CuPy would make: `make` gives an array of a shape and type."""
    from cupy._core import _reduction

    kernel = call.kernel
    if len(call.args) != len(kernel.in_params):
        return call
    seen = [view(arg) if is_array(arg) else arg for arg in call.args]
    pairs = list(zip(kernel.in_params, seen, strict=True))
    size = call.kwargs.get("size")
    plain = [arg for one, arg in pairs if isinstance(arg, View) and not one.raw]
    shape = (size,) if size else broadcast(kernel.name, plain)
    if hasattr(kernel, "reduce_expr"):
        kept = _reduction._get_axis(call.kwargs.get("axis"), len(shape))[1]
        if call.kwargs.get("keepdims"):
            shape = tuple(n if at in kept else 1 for at, n in enumerate(shape))
        else:
            shape = tuple(shape[n] for n in kept)
    types = _types(kernel.in_params, seen)
    outs = [make(shape, np.dtype(one.dtype or types[one.ctype])) for one in kernel.out_params]
    return replace(call, args=(*call.args, *outs))


def _by_name(kernel: Any, call: Call, **usual: Any) -> dict[str, Any]:
    """What may be given by name; InputError for anything else."""
    if other := call.kwargs.keys() - usual.keys():
        raise InputError(
            f"{kernel.name} takes {' and '.join(usual)} by name, not {', '.join(sorted(other))}"
        )
    return {**usual, **call.kwargs}


def _arguments(kernel: Any, parameters: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """Arrays as views, scalars as they are."""
    if len(args) != len(parameters):
        names = ", ".join(one.name for one in parameters)
        raise InputError(
            f"{kernel.name} takes {len(parameters)} arguments ({names}), its outputs among them; "
            f"{len(args)} were given"
        )
    return [view(arg) if is_array(arg) or isinstance(arg, np.ndarray) else arg for arg in args]


def _types(parameters: Sequence[Any], args: Sequence[Any]) -> dict[str, np.dtype[Any]]:
    """The type that each name of a type stands for: arrays decide before scalars."""
    types: dict[str, np.dtype[Any]] = {}
    pairs = sorted(
        zip(parameters, args, strict=True), key=lambda pair: not isinstance(pair[1], View)
    )
    for one, arg in pairs:
        types.setdefault(one.ctype, np.dtype(one.dtype or getattr(arg, "dtype", type(arg))))
    return types


def _type_map(parameters: Sequence[Any], types: Mapping[str, Any]) -> Any:
    from cupy._core import _kernel

    own = {one.ctype for one in parameters if one.dtype is None and one.ctype} | {"IndexT"}
    return _kernel._TypeMap(tuple((name, types[name].type) for name in types if name in own))


def _info(
    kind: int, type_: Any, dtype: Any, ndim: int, flat: bool = True, short: Any = True
) -> Any:
    from cupy._core import _kernel

    return _kernel._ArgInfo(kind, type_, dtype, ndim, flat, short)


def _infos(
    parameters: Sequence[Any], args: Sequence[Any], types: Mapping[str, np.dtype[Any]]
) -> list[Any]:
    from cupy import ndarray

    return [
        _info(_ARRAY, ndarray, types[one.ctype], len(arg.shape), arg.contiguous, short(arg))
        if isinstance(arg, View)
        else _info(_SCALAR, types[one.ctype].type, types[one.ctype], 0)
        for one, arg in zip(parameters, args, strict=True)
    ]


def _indexer_info(ndim: int) -> Any:
    from cupy._core._carray import Indexer

    return _info(_INDEXER, Indexer, None, ndim, True, False)


def _passed(
    parameters: Sequence[Any], args: Sequence[Any], types: Mapping[str, np.dtype[Any]]
) -> Arguments:
    made = Arguments()
    for one, arg in zip(parameters, args, strict=True):
        if isinstance(arg, View):
            made.add(one.name, carray(made, one.name, arg))
        else:
            made.number(one.name, types[one.ctype].type(arg))
    return made
