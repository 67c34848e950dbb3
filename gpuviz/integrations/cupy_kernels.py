"""CuPy's kernels: those with a text, and those that CuPy writes; all are compiled here."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.base.errors import UnsupportedError
from gpuviz.compile import Program, compile_arch, compile_cuda, entry_name
from gpuviz.integrations import cupy_codegen as written
from gpuviz.integrations.calls import (
    BuildOptions,
    Call,
    LaunchRequest,
    Watcher,
    launch_of,
    of_program,
    replaced,
)
from gpuviz.launch.job import triple

_ARCH = "sm_90"  # counted for, where nobody says and there is no GPU
_PLAIN = BuildOptions()
# What CuPy puts before the texts that it writes.
_FOLDERS = ("", *(f"cupy/_cccl/{name}" for name in ("libcudacxx", "thrust", "cub")))
_HEADERS = "#include <cupy/complex.cuh>\n#include <cupy/carray.cuh>\n#include <cupy/atomics.cuh>\n"


def asked(call: Call) -> LaunchRequest:
    """A launch of a RawKernel, a kernel of a RawModule, or one that CuPy writes.

    Raises
    ------
    InputError : a size or a name is missing, or an argument does not fit
    UnsupportedError : another kind of kernel, or a form of it that is not traced
    CompileError : its text does not compile
    """
    kernel = call.kernel
    writes = _writes(kernel)
    if writes is not None:
        return _of_written(writes(call), call)
    if getattr(kernel, "code", None) is None:
        raise UnsupportedError(
            f"{type(kernel).__name__} has no text to compile: give a RawKernel, an "
            "ElementwiseKernel, a ReductionKernel, a kernel of cupyx.jit, or the RawModule itself "
            "with name=..."
        )
    building = replace(call.building, name=call.building.name or getattr(kernel, "name", ""))
    program = _program(kernel.code, call.arch, kernel.options, building)
    return of_program(program, replace(call, building=building))


def _writes(kernel: Any) -> Callable[[Call], written.GeneratedKernel] | None:
    """What writes the text of a kernel that is made of expressions or of Python."""
    if hasattr(kernel, "reduce_expr"):
        return written.reduction
    if hasattr(kernel, "operation") and hasattr(kernel, "in_params"):
        return written.elementwise
    return written.jit if type(kernel).__name__ == "_JitRawKernel" else None


def _of_written(made: written.GeneratedKernel, call: Call) -> LaunchRequest:
    from cupy._core import _kernel

    own = Path(_kernel.__file__).parent / "include"
    folders = [f"-I{own / folder}" for folder in _FOLDERS if (own / folder).is_dir()]
    program = _program(f"{_HEADERS}{made.text}", call.arch, (*folders, *made.options))
    entry = entry_name(program.kernels, made.name)
    return launch_of(program, entry, made.sizes, made.made, call.building.shared, made.notes)


def _program(
    text: str, arch: str, options: Sequence[str] = (), building: BuildOptions = _PLAIN
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


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Launches of the kernels that are made meanwhile, and all of cupyx.jit: CuPy's classes cannot
    be changed, so that their names lead to classes of ours as long as it lasts. Kernels made before
    are not seen, nor are the functions that CuPy itself brings.
    """
    import cupy
    from cupyx.jit._interface import _JitRawKernel

    watch = _Watch(watcher)
    with ExitStack() as back:
        for name, made in (
            ("RawKernel", partial(watch.sized, name=lambda kernel: kernel.name)),
            ("ElementwiseKernel", watch.flat),
            ("ReductionKernel", watch.flat),
        ):
            plain = getattr(cupy, name)
            ours = type(name, (plain,), {"__call__": made(plain.__call__)})
            back.callback(replaced(cupy, name, ours))
        jitted = watch.sized(_JitRawKernel.__call__, lambda kernel: kernel._func.__name__)
        back.callback(replaced(_JitRawKernel, "__call__", jitted))
        try:
            yield
        finally:
            watch.on = False


class _Watch:
    """What kernels call in place of what CuPy has, as long as it is on."""

    def __init__(self, watcher: Watcher) -> None:
        import cupy

        self.on, self._watcher = True, watcher
        self._present = cupy.cuda.is_available()
        self._arch = f"sm_{cupy.cuda.Device().compute_capability}" if self._present else ""
        self._new = cupy.empty if self._present else np.zeros

    def _wants(self, name: str) -> bool:
        return self.on and self._watcher.wants(name, self._present)

    def _launched(self, call: Call, name: str, launch: Callable[[], Any]) -> Any:
        return self._watcher.launched(name, partial(asked, call), launch if self._present else None)

    def sized(self, plain: Callable[..., Any], name: Callable[[Any], str]) -> Callable[..., Any]:
        """What is called with a grid, a block and arguments."""

        def call(kernel: Any, grid: Any, block: Any, args: Any, **more: Any) -> Any:
            launch = partial(plain, kernel, grid, block, args, **more)
            if not self._wants(name(kernel)):
                return launch()
            sizes = triple(tuple(grid), "grid"), triple(tuple(block), "block")
            building = BuildOptions(shared=more.get("shared_mem", 0))
            whole = Call(kernel, *sizes, args, {}, building, self._arch)
            return self._launched(whole, name(kernel), launch)

        return call

    def flat(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """What is called with arrays; outputs that are not given are made here."""

        def call(kernel: Any, *args: Any, **more: Any) -> Any:
            if not self._wants(kernel.name):
                return plain(kernel, *args, **more)
            if (out := more.pop("out", None)) is not None:
                args = (*args, out)
            told = {key: value for key, value in more.items() if key != "stream"}
            given = Call(kernel, None, None, args, told, arch=self._arch)
            whole = written.completed(given, self._new)
            outs = whole.args[len(kernel.in_params) :]
            self._launched(whole, kernel.name, partial(plain, kernel, *whole.args, **more))
            return outs[0] if len(outs) == 1 else tuple(outs)

        return call
