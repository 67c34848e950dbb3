"""From a kernel to machine code: modules of LLVM IR, compiled once and kept on disk.

An entry of the cache is found by the text of its module, the versions of gpuviz and llvmlite, and
the features of this processor; one that is damaged counts as absent.
"""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from gpuviz.disk_cache import DiskCache, key
from gpuviz.ptx.compiled import memory, support, warp
from gpuviz.ptx.compiled.converged import Converged
from gpuviz.ptx.compiled.emitting import Emitter, register
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.parted import Parted
from gpuviz.ptx.compiled.writing import Pattern

CACHE = DiskCache("machine code")
_LOCK = threading.RLock()  # LLVM is asked by one thread at a time
register({**memory.TABLE, **warp.TABLE})

_ATTRIBUTES = """
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 1000000}
!2 = !{!"branch_weights", i32 1000000, i32 1}
"""


@dataclass(eq=False)
class Part:
    """A module: its text, the functions that others call, and the patterns it counts through."""

    text: str
    exports: tuple[str, ...]
    patterns: dict[int, Pattern] = field(default_factory=dict)


def together(kernel: Kernel) -> Part:
    """The code for warps whose lanes are together."""
    made = [
        Converged(kernel, number, start, blocks)
        for number, (start, blocks) in enumerate(kernel.regions.items())
    ]
    names = tuple(f"region{one.number}" for one in made)
    return _part([(one, one.text()) for one in made], names)


def apart(kernel: Kernel) -> Part:
    """The code for warps whose lanes have parted."""
    made = Parted(kernel)
    return _part([(made, made.text())], ("parted",))


def _part(made: list[tuple[Emitter, str]], exports: tuple[str, ...]) -> Part:
    text = "\n".join(body for _, body in made)
    atomics = sorted({one for emitter, _ in made for one in emitter.kernel_atomics})
    text += "".join(memory.atomic_function(form, kind) for form, kind in atomics)
    if "@permute(" in text:
        text += warp.PERMUTE
    text += support.needed(text)
    declared: dict[str, str] = {}
    for emitter, _ in made:
        declared.update(emitter.w.declared)
    lines = [*declared.values(), *support.DECLARED.splitlines()]
    lines += [line for line in text.splitlines() if line.startswith("declare ")]
    body = "\n".join(line for line in text.splitlines() if not line.startswith("declare "))
    unique = {line.split("@")[1].split("(")[0]: line for line in lines}
    patterns: dict[int, Pattern] = {}
    for emitter, _ in made:
        patterns.update(emitter.counted_patterns)
    whole = "\n".join(unique.values()) + "\n" + body.replace("noinline {", "noinline #0 {")
    return Part(whole + _ATTRIBUTES, exports, patterns)


def driver() -> Part:
    """The code that runs the blocks of a worker."""
    return Part(support.driver() + _ATTRIBUTES, ("run",))


@cache
def _machine() -> tuple[Any, Any, str]:
    """LLVM, a target for this processor, and what tells it from others."""
    import llvmlite
    from llvmlite import binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=2, codemodel="jitdefault", jit=True
    )
    return llvm, target, f"{llvmlite.__version__} {llvm.llvm_version_info} {name} {features}"


def available() -> bool:
    """Whether LLVM is installed here."""
    try:
        _machine()
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def _object(part: Part) -> bytes:
    """The machine code of a part, from the cache or from LLVM."""
    llvm, target, machine = _machine()
    name = key(hashlib.sha256(part.text.encode()).hexdigest(), machine)
    found = CACHE.load(name)
    if found is not None:
        return found
    module = llvm.parse_assembly(part.text)
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    code = bytes(target.emit_object(module))
    CACHE.store(name, code)
    return code


@dataclass(eq=False)
class Code:
    """Machine code in memory: addresses of its functions by name."""

    addresses: dict[str, int]
    _engine: Any


_LOADED: dict[str, Code] = {}


def code_of(part: Part) -> Code:
    """The machine code of a part, ready to be called; kept while the process lives."""
    name = hashlib.sha256(part.text.encode()).hexdigest()
    with _LOCK:
        if name not in _LOADED:
            llvm, _, _ = _machine()
            target = llvm.Target.from_default_triple().create_target_machine(jit=True)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
            engine.add_object_file(llvm.ObjectFileRef.from_data(_object(part)))
            engine.finalize_object()
            found = {one: int(engine.get_function_address(one)) for one in part.exports}
            if len(_LOADED) >= 64:
                _LOADED.pop(next(iter(_LOADED)))
            _LOADED[name] = Code(found, engine)
        return _LOADED[name]


RUN: Callable[[int], Any] = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
