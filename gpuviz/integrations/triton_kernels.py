"""Triton's kernels: compiled as Triton compiles them for a launch, with or without a GPU."""

import linecache
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.arch import architecture
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.errors import InputError, UnsupportedError
from gpuviz.compile import Program, ptx_program
from gpuviz.integrations.arguments import Arguments, is_array, scalar
from gpuviz.integrations.calls import Call, LaunchRequest, Watcher, launch_of, replaced
from gpuviz.launch.job import triple
from gpuviz.ptx.text.ir import Variable
from gpuviz.ptx.text.parser import parse
from gpuviz.traces.geometry import Triple

_SCRATCH = "scratch"


class _Pointer:
    """Stands for an array where Triton asks what it is specialised on."""

    def __init__(self, dtype: Any, offset: int) -> None:
        self.dtype, self._offset = dtype, offset

    def data_ptr(self) -> int:
        """Where it begins: GPUs' allocations are aligned, views into them may not be."""
        return self._offset


def asked(call: Call) -> LaunchRequest:
    """A launch of a kernel, autotuned or not.

    Raises
    ------
    InputError : an argument or option that the kernel does not take
    UnsupportedError : it needs clusters, or arguments that are not arrays and numbers
    """
    kernel, kwargs, notes = _chosen(call.kernel, call.args, dict(call.kwargs))
    compiled, bound, signature = _compiled(kernel, call.args, kwargs, call.arch)
    grid = call.grid
    if grid is None:
        raise InputError("a launch of a Triton kernel needs a grid: one to three numbers")
    sizes = triple(tuple(map(int, grid(bound) if callable(grid) else grid)), "grid")
    threads = compiled.metadata.num_warps * compiled.metadata.warp_size
    if call.block not in (None, (threads, 1, 1)):
        raise InputError(
            f"a block of this kernel has {threads} threads ({compiled.metadata.num_warps} warps): "
            "leave the block away, and set num_warps"
        )
    facts = compiled.metadata
    if facts.num_ctas > 1:
        raise UnsupportedError(f"{facts.name} runs in clusters of {facts.num_ctas} blocks")
    program = _program(kernel, compiled)
    made = _arguments(facts, parse(program.ptx).by_name[facts.name].params, bound, signature, sizes)
    return launch_of(program, facts.name, (sizes, (threads, 1, 1)), made, facts.shared, notes)


def _program(kernel: Any, compiled: Any) -> Program:
    """What Triton compiled, with Python's lines."""
    file = kernel.fn.__code__.co_filename
    return ptx_program(
        compiled.asm["ptx"],
        compiled.asm["cubin"],
        source="".join(linecache.getlines(file)),
        name=Path(file).name,
    )


def _arguments(
    facts: Any,
    parameters: Sequence[Variable],
    bound: Mapping[str, Any],
    signature: Mapping[str, str],
    grid: Triple,
) -> Arguments:
    """The arguments that are no constants, and the scratch memory that Triton adds."""
    made = Arguments()
    for name, kind in signature.items():
        if kind == "constexpr":
            continue
        value = bound[name]
        if kind.startswith("*") and is_array(value):
            made.array(name, value)
        elif isinstance(value, bool | int | float | np.generic) and len(made.specs) < len(
            parameters
        ):
            made.number(name, scalar(_typed(kind, value), parameters[len(made.specs)], name))
        else:
            raise UnsupportedError(
                f"argument {name} of {facts.name} is a {type(value).__name__} ({kind}): arrays and "
                "numbers can be traced"
            )
    for number in range(len(parameters) - len(made.specs)):
        size = (facts.global_scratch_size, facts.profile_scratch_size)[min(number, 1)]
        if size:
            room = ArrayArgument(np.zeros(size * int(np.prod(grid)), np.uint8))
            made.add(f"{_SCRATCH}{number}", room)
        else:
            made.number(f"{_SCRATCH}{number}", np.uint64(0))
    return made


def _typed(kind: str, value: Any) -> Any:
    """A number of Triton's type: floats are what their kind says, whatever Python has."""
    return float(value) if kind.startswith(("fp", "bf")) else value


def _chosen(
    kernel: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any], tuple[str, ...]]:
    """The function below autotuning and heuristics, the arguments these add, and a note."""
    notes: tuple[str, ...] = ()
    while not hasattr(kernel, "create_binder"):
        given = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
        if hasattr(kernel, "configs"):
            config = getattr(kernel, "best_config", None)
            if config is None:
                config = kernel.configs[0]
                if len(kernel.configs) > 1:
                    notes = (
                        f"not tuned here: the first of {len(kernel.configs)} configurations, "
                        f"{config}",
                    )
            kwargs = {**kwargs, **config.all_kwargs()}
        elif hasattr(kernel, "values"):
            kwargs = {**kwargs, **{name: of(given) for name, of in kernel.values.items()}}
        kernel = kernel.fn
    return kernel, kwargs, notes


def _compiled(
    kernel: Any, args: Sequence[Any], kwargs: Mapping[str, Any], arch: str
) -> tuple[Any, Mapping[str, Any], Mapping[str, str]]:
    """What Triton compiles for these arguments; all arguments by name; their types by name."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile, make_backend
    from triton.runtime.jit import create_function_from_signature

    target = GPUTarget("cuda", int(architecture(arch or _present()).sm[3:]), 32)
    backend = make_backend(target)
    bind = create_function_from_signature(kernel.signature, kernel.params, backend)
    standing = [_standing(value) for value in args]
    named = {name: _standing(value) for name, value in kwargs.items()}
    try:
        bound, specialization, options = bind(*standing, **named)
    except TypeError as error:
        raise InputError(
            f"{kernel.fn.__name__}: {error}; give constants by name in kwargs"
        ) from None
    try:
        options, signature, constants, attributes = kernel._pack_args(
            backend, named, bound, specialization, options
        )
    except KeyError as error:
        raise InputError(f"{kernel.fn.__name__}: {error.args[0]}") from None
    source = ASTSource(kernel, signature, constants, attributes)
    made = compile(source, target=target, options=options.__dict__)
    given = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
    return made, {**bound, **{k: v for k, v in given.items() if k in bound}}, signature


def _standing(value: Any) -> Any:
    """An array as Triton is to see it; anything else as it is."""
    if not is_array(value):
        return value
    if isinstance(value, np.ndarray):
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        return _Pointer(value.dtype, value.ctypes.data - root.ctypes.data)
    if hasattr(value, "storage_offset"):
        return _Pointer(value.dtype, value.storage_offset() * value.element_size())
    described = value.__cuda_array_interface__
    return _Pointer(np.dtype(described["typestr"]), described["data"][0])


def _present() -> str:
    """The architecture of the GPU that Triton uses, or sm_90 where there is none."""
    from triton.runtime import driver

    try:
        found = driver.active.get_current_target()
    except Exception:  # no driver, no GPU, one of another vendor: each raises something else
        return "sm_90"
    return f"sm_{found.arch}" if found.backend == "cuda" else "sm_90"


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Triton's launches. Its own launch hooks hear names and streams but no arguments, so that
    `JITFunction.run` is wrapped; what an autotuner launches to time it is let through.
    """
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.jit import JITFunction

    plain, tuned, bench = JITFunction.run, Autotuner.run, Autotuner._bench
    tuning, gpu = 0, _has_gpu()

    def run(self: Any, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        if tuning or warmup or not watcher.wants(self.fn.__name__, gpu):
            return plain(self, *args, grid=grid, warmup=warmup, **kwargs)
        launch = partial(plain, self, *args, grid=grid, warmup=warmup, **kwargs)
        made = partial(asked, Call(self, grid, None, args, kwargs))
        return watcher.launched(self.fn.__name__, made, launch if gpu else None)

    def run_tuned(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("warmup") or gpu:
            return tuned(self, *args, **kwargs)
        watcher.wants(self.base_fn.__name__, gpu)
        given = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
        made = partial(asked, Call(self, kwargs["grid"], None, args, given))
        return watcher.launched(self.base_fn.__name__, made, None)

    def run_bench(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal tuning
        tuning += 1
        try:
            return bench(self, *args, **kwargs)
        finally:
            tuning -= 1

    with ExitStack() as back:
        back.callback(replaced(JITFunction, "run", run))
        back.callback(replaced(Autotuner, "run", run_tuned))
        back.callback(replaced(Autotuner, "_bench", run_bench))
        yield


def _has_gpu() -> bool:
    from triton.runtime import driver

    try:
        return bool(driver.active.get_current_target().backend == "cuda")
    except Exception:  # as in `_present`
        return False
