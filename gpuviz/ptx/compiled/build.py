"""From a kernel to machine code: modules of LLVM IR, compiled once and kept on disk.

An entry of the cache is found by all that the code depends on: the instructions, the shape of a
block, this package, the version of LLVM, and the features of this processor. One that is damaged
counts as absent.
"""

import ctypes
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.files.disk_cache import DiskCache, key
from gpuviz.ptx.compiled import driver, epochs, matrices, memory, requests, routines, warp
from gpuviz.ptx.compiled.converged import ConvergedEmitter
from gpuviz.ptx.compiled.divergent import DivergentEmitter
from gpuviz.ptx.compiled.emitter import register
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.writer import PatternCount

CACHE = DiskCache("machine code")
_LOCK = threading.RLock()  # LLVM is asked by one thread at a time
_RUN = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_ROUTINES = driver, requests, epochs  # they enter themselves when they are loaded
register({**matrices.TABLE, **memory.TABLE, **warp.TABLE})

_ATTRIBUTES = """
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1000000}
!2 = !{!"branch_weights", i32 1000000, i32 1}
"""


@dataclass(eq=False)
class Part:
    """A module: its text, the functions that are wanted, and the patterns they count through."""

    text: str
    names: tuple[str, ...]
    patterns: dict[int, PatternCount] = field(default_factory=dict)


@dataclass(eq=False)
class Code:
    """Machine code in memory: addresses of its functions, and the patterns it counts."""

    addresses: list[int]
    patterns: dict[int, PatternCount]
    _engine: Any


def whole(kernel: Kernel) -> Code:
    """The code for warps of 32 lanes that are together, a function for each region."""
    return _converged(kernel, True)


def some(kernel: Kernel) -> Code:
    """The code for warps of which only some lanes exist or are left, and are together."""
    return _converged(kernel, False)


def divergent(kernel: Kernel) -> Code:
    """The code for warps whose lanes have parted: one function."""
    return _code("divergent " + kernel.key, lambda: _part([DivergentEmitter(kernel)]))


def _converged(kernel: Kernel, all_lanes: bool) -> Code:
    numbers = range(len(kernel.regions))
    name = f"{'whole' if all_lanes else 'some'} {kernel.key}"
    return _code(name, lambda: _part([ConvergedEmitter(kernel, n, all_lanes) for n in numbers]))


def _part(made: Sequence[ConvergedEmitter | DivergentEmitter]) -> Part:
    texts, declared = [one.text() for one in made], {}
    patterns: dict[int, PatternCount] = {}
    for one in made:
        declared.update(one.w.declared)
        patterns.update(one.counted)
    private = {name: routine for one in made for name, routine in one.private.items()}
    for _, routine in sorted(private.items()):
        text, calls = routine.text(private=True)
        texts.append(text)
        declared.update(calls)
    text = "\n".join((*declared.values(), *texts, _ATTRIBUTES))
    return Part(text, tuple(one.name for one in made), patterns)


@cache
def _machine() -> tuple[Any, Any, str]:
    """LLVM, a target for this processor, and what tells it from others."""
    import llvmlite
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=1, codemodel="jitdefault", jit=True
    )
    return llvm, target, f"{llvmlite.__version__} {llvm.llvm_version_info} {name} {features}"


def available() -> bool:
    """Whether LLVM is installed here."""
    try:
        _machine()
    except (ImportError, OSError, RuntimeError):
        return False
    return True


@cache
def _own_source() -> str:
    """A digest of the files that write the code, and of those they read it from."""
    found = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        found.update(file.read_bytes())
    return found.hexdigest()


def _object(part: Part) -> bytes:
    """Machine code; local variables become registers, and no more: the rest is written as it is."""
    llvm, target, _ = _machine()
    module = llvm.parse_assembly(part.text)
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=1))
    passes = llvm.create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_simplify_cfg_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return bytes(target.emit_object(module))


def _kept(name: str, make: Callable[[], Part]) -> tuple[Part, bytes]:
    """A module (without its text) and its machine code, from the disk or made now."""
    name = key(name, _machine()[2], _own_source())
    found = CACHE.load(name)
    if found is not None:
        head, _, code = found.partition(b"\n")
        return _read(*json.loads(head)), code
    part = make()
    code = _object(part)
    counted = {k: (v.pattern, v.first, v.ahead) for k, v in part.patterns.items()}
    CACHE.store(name, json.dumps([part.names, counted]).encode() + b"\n" + code)
    return part, code


def _read(names: list[str], counted: dict[str, Any]) -> Part:
    patterns = {
        int(k): PatternCount(tuple(p), first, ahead) for k, (p, first, ahead) in counted.items()
    }
    return Part("", tuple(names), patterns)


_LOADED: dict[str, Code] = {}


def _code(name: str, make: Callable[[], Part]) -> Code:
    """Machine code ready to be called; kept while the process lives."""
    with _LOCK:
        _library()
        if name not in _LOADED:
            if len(_LOADED) >= 64:
                _LOADED.pop(next(iter(_LOADED)))
            _LOADED[name] = _placed(*_kept(name, make))
        return _LOADED[name]


@cache
def _library() -> Code:
    """The routines that all other code calls, known to LLVM by their names from now on."""
    llvm, _, _ = _machine()
    names = tuple(routines.PREFIX + name for name in routines.ROUTINES)
    found = _placed(*_kept("library", lambda: Part(routines.library() + _ATTRIBUTES, names)))
    for name, address in zip(names, found.addresses, strict=True):
        llvm.add_symbol(name, address)
    return found


def run() -> Callable[[int], int]:
    """The routine that runs the blocks of a worker."""
    with _LOCK:
        return _RUN(_library().addresses[list(routines.ROUTINES).index(driver.NAME)])


def _placed(part: Part, code: bytes) -> Code:
    llvm, _, _ = _machine()
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    found = [int(engine.get_function_address(name)) for name in part.names]
    return Code(found, part.patterns, engine)
