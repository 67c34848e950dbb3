"""Numba's kernels (numba-cuda): compiled by Numba to PTX, which needs no GPU."""

import linecache
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError, UnavailableError, UnsupportedError
from gpuviz.compile import ptx_program
from gpuviz.compile.program import CompileError, Program, kernels
from gpuviz.compile.ptxas import assembled
from gpuviz.integrations.arguments import Arguments, is_array
from gpuviz.integrations.calls import (
    BuildOptions,
    Call,
    LaunchRequest,
    Watcher,
    launch_of,
    replaced,
)
from gpuviz.launch.job import triple

_LIBRARY = "sm_90"  # counted for, where nobody says
_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_OPTIONS = ("fastmath", "opt", "launch_bounds")


def asked(call: Call) -> LaunchRequest:
    """A launch of a dispatcher, what `cuda.jit` makes.

    Raises
    ------
    InputError : a size is missing, or an argument that the kernel does not take
    UnsupportedError : arguments that are neither arrays nor numbers
    CompileError : Numba does not compile it for these arguments
    """
    kernel, args = call.kernel, call.args
    if not hasattr(kernel, "py_func"):
        raise InputError(f"{type(kernel).__name__} is none of Numba's kernels: give a cuda.jit")
    names = kernel.py_func.__code__.co_varnames[: kernel.py_func.__code__.co_argcount]
    if call.kwargs or len(args) != len(names):
        raise InputError(
            f"{kernel.py_func.__name__} takes {len(names)} arguments ({', '.join(names)}), by "
            f"position; {len(args)} were given"
        )
    sizes, types = call.sizes, tuple(map(kernel.typeof_pyval, args))
    made = Arguments()
    for name, kind, value in zip(names, types, args, strict=True):
        _add(made, name, kind, value)
    program = _program(kernel, types, architecture(call.arch or _LIBRARY).sm)
    (entry,) = program.kernels
    return launch_of(program, entry, sizes, made, call.building.shared)


def _add(made: Arguments, name: str, kind: Any, value: Any) -> None:
    """An array is seven parameters and two more for each dimension beyond the first."""
    if is_array(value):
        shape = value.shape
        step = np.dtype(value.dtype).itemsize
        strides = value.strides or np.empty(shape, np.int8).strides
        made.number(f"{name}.meminfo", np.uint64(0))
        made.number(f"{name}.parent", np.uint64(0))
        made.number(f"{name}.size", np.int64(int(np.prod(shape))))
        made.number(f"{name}.itemsize", np.int64(step))
        made.array(name, value)
        for what, numbers in (("shape", shape), ("strides", strides)):
            for n, number in enumerate(numbers):
                made.number(f"{name}.{what}[{n}]", np.int64(number))
        return
    try:
        number = np.dtype(str(kind)).type(value)
    except TypeError:
        raise UnsupportedError(
            f"argument {name} is a {kind}: arrays and numbers can be traced"
        ) from None
    made.number(name, np.uint8(number) if number.dtype == np.bool_ else number)


def _program(kernel: Any, types: tuple[Any, ...], arch: str) -> Program:
    """The PTX with Python's lines, and its machine code where there is an assembler."""
    from numba import cuda, void
    from numba.core.errors import NumbaError

    if "numba_cuda" not in cuda.__file__:
        raise UnavailableError(
            "Numba's own CUDA target is too old to be traced: pip install numba-cuda[cu13]"
        )
    function, options = kernel.py_func, kernel.targetoptions
    chosen = {key: options[key] for key in _OPTIONS if options.get(key) is not None}
    target = divmod(int(arch.removeprefix("sm_")), 10)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of lines that are not known, as at a prompt
            ptx, _ = cuda.compile(
                function,
                void(*types),
                device=False,
                lineinfo=True,
                cc=target,
                abi="numba",
                output="ptx",
                **chosen,
            )
    except NumbaError as error:
        said = _COLOURS.sub("", str(error))
        raise CompileError(f"Numba does not compile {function.__name__}: {said}") from None
    except RuntimeError as error:  # a library of CUDA's compiler that is not found
        said = str(error).partition("\n")[0]
        raise UnavailableError(
            f"Numba cannot compile here: {said}; pip install numba-cuda[cu13] brings what it needs"
        ) from None
    (mangled,) = kernels(ptx)
    named = re.sub(rf"(?<!\w){re.escape(mangled)}", function.__name__, ptx)
    file = function.__code__.co_filename
    source = "".join(linecache.getlines(file))
    return assembled(ptx_program(named, source=source, name=Path(file).name), arch)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Numba's launches, all of which go through the dispatcher."""
    from numba import cuda
    from numba.cuda.dispatcher import CUDADispatcher

    plain, present = CUDADispatcher.call, cuda.is_available()
    arch = "sm_{}{}".format(*cuda.get_current_device().compute_capability) if present else ""

    def call(self: Any, args: Sequence[Any], config: Any) -> Any:
        name = self.py_func.__name__
        if not watcher.wants(name, present):
            return plain(self, args, config)
        grid, block = (triple(tuple(s), "size") for s in (config.griddim, config.blockdim))
        asks = Call(self, grid, block, args, {}, BuildOptions(shared=config.sharedmem), arch)
        launch = partial(plain, self, args, config) if present else None
        return watcher.launched(name, partial(asked, asks), launch)

    with ExitStack() as back:
        back.callback(replaced(CUDADispatcher, "call", call))
        yield
