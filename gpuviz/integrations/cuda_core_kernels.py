"""cuda.core's compiled code: an ObjectCode of PTX, or a cubin that holds the PTX it was made of."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from gpuviz.base.errors import UnavailableError, UnsupportedError
from gpuviz.compile import Program, ptx_program
from gpuviz.compile.log import embedded_ptx
from gpuviz.compile.ptxas import assembled
from gpuviz.integrations.arguments import HostArray
from gpuviz.integrations.calls import (
    BuildOptions,
    Call,
    LaunchRequest,
    Watcher,
    of_program,
    replaced,
)
from gpuviz.launch.job import triple


def at(address: int, size: int | None = None) -> HostArray | None:
    """The bytes from an address on, copied: `size` of them, or to the end of what was allocated
    there; None where the driver knows of no memory.

    Raises
    ------
    UnavailableError : it cannot be read
    """
    from cuda.bindings import driver

    wrong, base, whole = driver.cuMemGetAddressRange(address)
    if wrong:
        return None
    left = int(base) + int(whole) - address
    values = np.empty(left if size is None else min(size, left), np.uint8)
    (wrong,) = driver.cuMemcpyDtoH(values.ctypes.data, address, values.nbytes)
    if wrong:
        raise UnavailableError(f"{values.nbytes:,} bytes at {address:#x} cannot be read: {wrong}")
    return HostArray(values, span=(address, address + values.nbytes))


# They launch with cuda.core what is theirs.
_OTHERS = frozenset({"cuda", "numba", "numba_cuda", "cupy", "cupyx", "torch"})


def asked(call: Call) -> LaunchRequest:
    """A launch of a kernel of an ObjectCode; its building names it where there are several.

    Raises
    ------
    InputError : a size is missing, or an argument does not fit
    UnsupportedError : there is no PTX in it
    """
    return of_program(_program(call), call)


def _program(call: Call) -> Program:
    made = call.kernel
    if not hasattr(made, "code_type"):
        raise UnsupportedError(
            f"a {type(made).__name__} of cuda.core does not tell what it was made of: give the "
            "ObjectCode it came from (Program.compile), with name=..."
        )
    code = made.code if isinstance(made.code, bytes) else str(made.code).encode()
    if made.code_type == "ptx":
        program = ptx_program(code.rstrip(b"\0").decode())
        return assembled(program, call.arch or program.arch)
    if ptx := embedded_ptx(code):
        return ptx_program(ptx, code)
    raise UnsupportedError(
        f"this {made.code_type} holds no PTX: compile it with ProgramOptions(lineinfo=True), "
        'or to "ptx"'
    )


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Launches of cuda.core, under whichever name a program has imported `launch`. They need a GPU:
    without one there is no kernel to launch.
    """
    import cuda.core

    plain = cuda.core.launch

    def launch(stream: Any, config: Any, kernel: Any, *args: Any) -> Any:
        name = _name(kernel)
        made = partial(plain, stream, config, kernel, *args)
        if not watcher.wants(name, True):
            return made()
        return watcher.launched(name, lambda: _asked(name, stream, config, kernel, args), made)

    with ExitStack() as back:
        for module, name in _imported(plain):
            back.callback(replaced(module, name, launch))
        yield


def _imported(function: Callable[..., Any]) -> list[tuple[Any, str]]:
    """The modules that have a function, and what they call it."""
    return [
        (module, name)
        for key, module in list(sys.modules.items())
        if key == "cuda.core" or key.partition(".")[0] not in _OTHERS
        for name, value in list(getattr(module, "__dict__", {}).items())
        if value is function
    ]


def _asked(
    name: str, stream: Any, config: Any, kernel: Any, args: tuple[Any, ...]
) -> LaunchRequest:
    if hasattr(stream, "sync"):
        stream.sync()  # what its arguments hold is what was done before
    grid, block = triple(tuple(config.grid), "grid"), triple(tuple(config.block), "block")
    cluster = None if config.cluster is None else triple(tuple(config.cluster), "cluster")
    building = BuildOptions(name, config.shmem_size or 0, cluster=cluster)
    return asked(Call(_code(kernel), grid, block, [*map(_argument, args)], {}, building))


def _argument(value: Any) -> Any:
    """Memory where it is a Buffer or the address of some; else the number it is."""
    if hasattr(value, "handle") and hasattr(value, "size"):
        return at(int(value.handle), int(value.size)) or value
    if isinstance(value, int) and value > 0xFFFF:
        return at(value) or value
    return getattr(value, "value", value)  # of ctypes


def _name(kernel: Any) -> str:
    """As in its source, or mangled."""
    from cuda.bindings import driver

    wrong, name = driver.cuKernelGetName(kernel.handle)
    return "" if wrong else str(name.decode())


def _code(kernel: Any) -> Any:
    """The ObjectCode that a kernel came from, as long as the program still has it."""
    from cuda.bindings import driver
    from cuda.core import ObjectCode

    wrong, library = driver.cuKernelGetLibrary(kernel.handle)
    for one in gc.get_objects():
        if type(one) is ObjectCode and not wrong and int(one.handle) == int(library):
            return one
    return kernel
