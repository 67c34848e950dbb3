"""CuPy's kernels: RawKernel, RawModule and ElementwiseKernel, compiled here from their own text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.arguments.specs import Field, ScalarSpec, StructSpec
from gpuviz.compile import Program, compile_arch, compile_cuda, entry_name
from gpuviz.errors import InputError, UnsupportedError
from gpuviz.given import Given
from gpuviz.integrations.arguments import Arguments
from gpuviz.integrations.asked import Asked, Building, Call, launch_of, of_program
from gpuviz.integrations.host_arrays import is_array
from gpuviz.integrations.watching import Watcher, replaced
from gpuviz.runners.job import triple

_ARCH = "sm_90"  # counted for, where nobody says and there is no GPU
_ARRAY, _INDEXER, _SCALAR = 1, 2, 3  # kinds of CuPy's _ArgInfo (cupy/_core/_kernel.pyx, 14.2)
_PLAIN = Building()
_ELEMENTWISE_BLOCK = 128  # threads, as `Function.linear_launch` has it


def asked(call: Call) -> Asked:
    """A launch of a kernel that has its text.

    Raises
    ------
    InputError : a size or a name is missing, or an argument does not fit
    UnsupportedError : another kind of kernel
    CompileError : its text does not compile
    """
    kernel = call.kernel
    if hasattr(kernel, "operation") and hasattr(kernel, "in_params"):
        return _elementwise(kernel, call.by_position, call.arch)
    if getattr(kernel, "code", None) is None:
        raise UnsupportedError(
            f"{type(kernel).__name__} has no text to compile: give a RawKernel, an "
            "ElementwiseKernel, or the RawModule itself with name=..."
        )
    building = replace(call.building, name=call.building.name or getattr(kernel, "name", ""))
    program = _program(kernel.code, call.arch, kernel.options, building)
    return of_program(program, replace(call, building=building))


def _program(
    text: str, arch: str, options: Sequence[str] = (), building: Building = _PLAIN
) -> Program:
    """The text compiled with CuPy's options: macros and folders of headers told apart."""
    defines: dict[str, object] = {}
    folders, rest = [], []
    for option in options:
        if option.startswith("-D"):
            name, _, value = option[2:].partition("=")
            defines[name] = value
        elif option.startswith("-I"):
            folders.append(Path(option[2:]))
        else:
            rest.append(option)
    target = compile_arch(architecture(arch or _ARCH).sm)
    built = replace(building, defines=defines, include=tuple(folders), options=tuple(rest))
    return compile_cuda(text, arch=target, **built.wishes)


def _elementwise(kernel: Any, args: Sequence[Any], arch: str) -> Asked:
    """The kernel as CuPy writes it for contiguous arrays of one shape, which it treats as flat."""
    from cupy import ndarray
    from cupy._core import _kernel
    from cupy._core._carray import Indexer

    parameters = kernel.params[:-1]  # without the indexer
    if len(args) != len(parameters):
        names = ", ".join(one.name for one in parameters)
        raise InputError(
            f"{kernel.name} takes {len(parameters)} arguments ({names}), its outputs among them; "
            f"{len(args)} were given"
        )
    types: dict[str, np.dtype[Any]] = {}
    infos = []
    sizes = {
        value.size
        for one, value in zip(parameters, args, strict=True)
        if is_array(value) and not one.raw
    }
    if len(sizes) != 1:
        raise UnsupportedError(f"{kernel.name}: arrays of one shape can be traced")
    (size,) = sizes
    pairs = list(zip(parameters, args, strict=True))
    for one, value in sorted(pairs, key=lambda pair: not is_array(pair[1])):  # arrays decide
        types.setdefault(one.ctype, np.dtype(one.dtype or getattr(value, "dtype", type(value))))
    for one, value in pairs:
        dtype = types[one.ctype]
        kind = (_ARRAY, ndarray, dtype, 1) if is_array(value) else (_SCALAR, dtype.type, dtype, 0)
        infos.append(_kernel._ArgInfo(*kind, True, True))
    infos.append(_kernel._ArgInfo(_INDEXER, Indexer, None, 1, None, False))
    own = {one.ctype for one in kernel.params if one.dtype is None and one.ctype}
    named = _kernel._TypeMap(tuple((name, types[name]) for name in types if name in own))
    text = _kernel._get_elementwise_kernel_code(
        tuple(infos),
        named,
        kernel.params,
        kernel.operation,
        kernel.name,
        kernel.preamble,
        kernel.kwargs.get("loop_prep", ""),
        kernel.kwargs.get("after_loop", ""),
    )
    made = Arguments()
    for (one, value), info in zip(pairs, infos, strict=False):
        if is_array(value):
            made.add(one.name, _carray(made, one.name, value))
        else:
            made.number(one.name, np.dtype(info.dtype).type(value))
    made.add("_ind", _struct(size, size, 0))
    include = f"-I{Path(_kernel.__file__).parent / 'include'}"
    program = _program(f"{_HEADERS}{text}", arch, (include, *kernel.kwargs.get("options", ())))
    threads = min(_ELEMENTWISE_BLOCK, size)
    grid, block = (-(-size // _ELEMENTWISE_BLOCK), 1, 1), (threads, 1, 1)
    return launch_of(program, entry_name(program.kernels, kernel.name), (grid, block), made)


_HEADERS = "#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\n#include <cupy/atomics.cuh>\n"


def _carray(made: Arguments, name: str, value: Any) -> StructSpec:
    """CuPy's CArray of one dimension: pointer, size, shape, strides."""
    given = made.kept(f"{name}.data", value)
    whole = _struct(value.size, value.size, np.dtype(value.dtype).itemsize)
    moved = (Field(one.name, one.offset + 8, one.spec) for one in whole.fields)
    return StructSpec(32, (Field("data", 0, Given(given.values)), *moved))


def _struct(*numbers: int) -> StructSpec:
    """Numbers of 64 bits one after another."""
    names = ("size", "shape", "stride")
    pairs = zip(names, numbers, strict=True)
    return StructSpec(
        24, tuple(Field(name, 8 * n, ScalarSpec("i64", v)) for n, (name, v) in enumerate(pairs))
    )


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Launches of the RawKernels that are made meanwhile: CuPy's classes cannot be changed, so that
    the name leads to a class of ours as long as it lasts. Those made before are not seen.
    """
    import cupy

    plain, present = cupy.RawKernel, cupy.cuda.is_available()
    arch = f"sm_{cupy.cuda.Device().compute_capability}" if present else ""
    watched = True

    class RawKernel(plain):  # type: ignore[misc, valid-type]
        def __call__(self, grid: Any, block: Any, args: Any, **more: Any) -> Any:
            launch = partial(plain.__call__, self, grid, block, args, **more)
            if not (watched and watcher.wants(self.name, present)):
                return launch()
            sizes = triple(tuple(grid), "grid"), triple(tuple(block), "block")
            asks = Call(self, *sizes, args, {}, Building(shared=more.get("shared_mem", 0)), arch)
            return watcher.launched(self.name, partial(asked, asks), launch if present else None)

    with ExitStack() as back:
        back.callback(replaced(cupy, "RawKernel", RawKernel))
        try:
            yield
        finally:
            watched = False
