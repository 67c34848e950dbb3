"""From a kernel to machine code: modules of LLVM IR, compiled once and kept on disk.

An entry of the cache is found by all that the code depends on: the instructions, the shape of a
block, this package, the version of LLVM, and the features of this processor. One that is damaged
counts as absent.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.disk_cache import DiskCache, key
from gpuviz.ptx.compiled import memory, support, warp
from gpuviz.ptx.compiled.converged import Converged
from gpuviz.ptx.compiled.emitting import Emitter, register
from gpuviz.ptx.compiled.kernel import Kernel
from gpuviz.ptx.compiled.parted import Parted
from gpuviz.ptx.compiled.writing import Counted

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
    """A module: its text, and the patterns that its functions count through."""

    text: str
    patterns: dict[int, Counted] = field(default_factory=dict)


@dataclass(eq=False)
class Code:
    """Machine code in memory: addresses of its functions by name, and the patterns it counts."""

    addresses: dict[str, int]
    patterns: dict[int, Counted]
    _engine: Any


def together(kernel: Kernel) -> Code:
    """The code for warps whose lanes are together."""
    names = [f"region{number}" for number in range(len(kernel.regions))]
    return _code("together " + kernel.key, names, lambda: _together(kernel))


def apart(kernel: Kernel) -> Code:
    """The code for warps whose lanes have parted."""
    return _code("apart " + kernel.key, ["parted"], lambda: _apart(kernel))


def driver() -> Code:
    """The code that runs the blocks of a worker."""
    return _code("driver", ["run"], lambda: Part(support.driver() + _ATTRIBUTES))


def _together(kernel: Kernel) -> Part:
    made = [
        Converged(kernel, number, start, blocks)
        for number, (start, blocks) in enumerate(kernel.regions.items())
    ]
    return _part([(one, one.text()) for one in made])


def _apart(kernel: Kernel) -> Part:
    made = Parted(kernel)
    return _part([(made, made.text())])


def _part(made: list[tuple[Emitter, str]]) -> Part:
    text = "\n".join(body for _, body in made)
    atomics = sorted({one for emitter, _ in made for one in emitter.kernel_atomics})
    text += "".join(memory.atomic_function(form, kind) for form, kind in atomics)
    if "@permute(" in text:
        text += warp.PERMUTE
    text = support.named(text)
    declared: dict[str, str] = {}
    for emitter, _ in made:
        declared.update(emitter.w.declared)
    lines = [*declared.values(), *support.DECLARED.splitlines(), *support.declared(text)]
    lines += [line for line in text.splitlines() if line.startswith("declare ")]
    body = "\n".join(line for line in text.splitlines() if not line.startswith("declare "))
    unique = {line.split("@")[1].split("(")[0]: line for line in lines}
    patterns: dict[int, Counted] = {}
    for emitter, _ in made:
        patterns.update(emitter.counted)
    whole = "\n".join(unique.values()) + "\n" + body.replace("noinline {", "noinline #0 {")
    return Part(whole + _ATTRIBUTES, patterns)


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
    """A digest of the files that write the code."""
    found = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
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


def _kept(name: str, make: Callable[[], Part]) -> tuple[dict[int, Counted], bytes]:
    """Patterns and machine code, from the disk or made now."""
    name = key(name, _machine()[2], _own_source())
    found = CACHE.load(name)
    if found is not None:
        head, _, code = found.partition(b"\n")
        return _read(json.loads(head)), code
    part = make()
    code = _object(part)
    kept = {k: (v.pattern, v.first, v.ahead) for k, v in part.patterns.items()}
    CACHE.store(name, json.dumps(kept).encode() + b"\n" + code)
    return part.patterns, code


def _read(head: dict[str, Any]) -> dict[int, Counted]:
    return {int(k): Counted(tuple(p), first, ahead) for k, (p, first, ahead) in head.items()}


_LOADED: dict[str, Code] = {}


def _code(name: str, exports: list[str], make: Callable[[], Part]) -> Code:
    """Machine code ready to be called; kept while the process lives."""
    with _LOCK:
        _library()
        if name not in _LOADED:
            if len(_LOADED) >= 64:
                _LOADED.pop(next(iter(_LOADED)))
            _LOADED[name] = _placed(*_kept(name, make), exports)
        return _LOADED[name]


@cache
def _library() -> Code:
    """The functions that all other code calls, known to LLVM by their names from now on."""
    llvm, _, _ = _machine()
    names = [support.PREFIX + name for name in support.NAMES]
    kept = _kept("library", lambda: Part(support.library() + _ATTRIBUTES))
    found = _placed(*kept, names)
    for name, address in found.addresses.items():
        llvm.add_symbol(name, address)
    return found


def _placed(patterns: dict[int, Counted], code: bytes, exports: list[str]) -> Code:
    llvm, _, _ = _machine()
    target = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    found = {one: int(engine.get_function_address(one)) for one in exports}
    return Code(found, patterns, engine)


RUN: Callable[[int], Any] = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
