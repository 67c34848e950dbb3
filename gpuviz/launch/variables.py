"""The `__constant__` and `__device__` data of a program: what there is, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuviz.arguments import (
    DTYPES,
    ArraySpec,
    BufferSpec,
    Field,
    PointerSpec,
    ScalarSpec,
    Spec,
    StructSpec,
    VariableSpec,
)
from gpuviz.compile import Program
from gpuviz.launch.signature import KernelParameter, declared, taken_of, texts_of, types_of
from gpuviz.ptx.simt.program import reachable, symbols
from gpuviz.ptx.text.ir import Variable
from gpuviz.ptx.text.parser import parse
from gpuviz.source.kernel_names import plain_name
from gpuviz.source.parts import descend, text_of

_SHOWN = 64  # values that a text lists
_MARKS = ("__constant__", "__device__", "__managed__")


@dataclass(frozen=True)
class Data:
    """A variable of a module: its name in the PTX, what it takes, and what the source has in it."""

    mangled: str
    taken: KernelParameter
    initial: str

    @property
    def name(self) -> str:
        """As in the source, without namespaces."""
        return self.taken.name

    def holding(self, spec: Spec) -> VariableSpec:
        """The variable with an argument in it; of a pointer, with its address."""
        if isinstance(spec, ArraySpec | ScalarSpec | StructSpec):
            return VariableSpec(self.mangled, spec)
        assert isinstance(spec, BufferSpec | PointerSpec)
        return VariableSpec(self.mangled, StructSpec(8, (Field("to", 0, spec),)))


def data_of(program: Program, entry: str) -> tuple[Data, ...]:
    """The variables that a kernel, or what it calls, uses, in the order of the PTX.

    Those of which the source says no type, such as texts that are printed, are left out.
    """
    module = parse(program.ptx)
    function = module.by_name.get(entry)
    if function is None:
        return ()
    every = {v.name: v for v in module.variables if v.space in ("const", "global")}
    used = {
        name for f in reachable(module, function) for i in f.body for name in symbols(i)
    } & every.keys()
    types, found = types_of(program), []
    kinds = {
        name: kind
        for text in texts_of(program)
        for node in descend(text.tree.root_node, {"declaration"})
        if any(mark in text_of(node) for mark in _MARKS)
        for name, kind in declared(types, node)
    }
    for mangled, variable in every.items():
        name = plain_name(mangled).rpartition("::")[2]
        kind = kinds.get(name)
        if mangled in used and kind is not None and kind.size == variable.size:
            taken = taken_of(name, kind)
            found.append(Data(mangled, taken, _initial(taken, variable)))
    return tuple(found)


def _initial(taken: KernelParameter, variable: Variable) -> str:
    """What the source has in it, as people write arguments; "" where that says little."""
    if not any(variable.initial) and not variable.relocations:
        return "zeros" if taken.count > 1 else "0"
    if taken.kind not in DTYPES or taken.buffer or taken.count > _SHOWN:
        return ""
    content = variable.initial.ljust(variable.size, b"\0")
    values = np.frombuffer(content, DTYPES[taken.kind])
    if taken.kind in ("bf16", "e4m3", "e5m2"):
        return ""
    shown = [format(value, ".9g") if values.dtype.kind == "f" else str(value) for value in values]
    return shown[0] if taken.count == 1 else f"[{', '.join(shown)}]"
