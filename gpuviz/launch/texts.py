"""A launch as its user wrote it, in texts, and the launch that these come to; what there is of
`__constant__` and `__device__` data, and what is in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

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
from gpuviz.arguments.expressions import evaluate
from gpuviz.base.errors import InputError
from gpuviz.compile import Program, demangled
from gpuviz.launch.argument_texts import Reader, Scope, flattened
from gpuviz.launch.proposals import SIDE, are_of_matrices, guess, side_of
from gpuviz.launch.signature import (
    KernelParameter,
    declared,
    taken_by,
    taken_of,
    texts_of,
    types_of,
)
from gpuviz.ptx.simt.program import reachable, symbols
from gpuviz.ptx.text.ir import Function, Module, Variable
from gpuviz.ptx.text.parser import parse
from gpuviz.source.kernel_names import plain_name, split_at_commas
from gpuviz.source.parts import descend, parsed, text_of
from gpuviz.traces.geometry import Triple

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
    used = _used(module, function) & every.keys()
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


def _used(module: Module, function: Function) -> set[str]:
    """The names that a kernel, or what it calls, uses."""
    return {name for f in reachable(module, function) for i in f.body for name in symbols(i)}


def _shape(used: set[str], bound: int, registers: int) -> LaunchTexts:
    """Grid and block that fit a kernel: as many threads as it is bound to or has registers for,
    in as many dimensions as it looks at; "" where any do.
    """
    most = min(bound or 1024, _REGISTERS // registers // 32 * 32 if registers else 1024)
    if "%tid.y" in used and most >= int(BLOCK):
        return LaunchTexts(GRID_2D, BLOCK_2D)
    return LaunchTexts(block=str(most) if bound or most < int(BLOCK) else "")


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


Texts = Mapping[str, str]
GRID, BLOCK = "16", "256"  # where nothing else is said
GRID_2D, BLOCK_2D = "4,4", "16,16"  # of a kernel that looks at both
_REGISTERS = 65536  # of a block


@dataclass(frozen=True)
class LaunchTexts:
    """What a user says of a launch; "" or nothing where nothing is said."""

    # grid, block: one to three expressions, separated by commas.
    grid: str = ""
    block: str = ""
    shared: str = ""  # bytes of dynamic shared memory
    # By the names of parameters and fields (`p.n`), see `gpuviz.launch.argument_texts`.
    arguments: Texts = field(default_factory=dict)
    # What `__constant__` and `__device__` variables hold, by their names.
    data: Texts = field(default_factory=dict)
    # Names of the user's own that the others use, as expressions.
    sizes: Texts = field(default_factory=dict)

    def over(self, others: LaunchTexts) -> LaunchTexts:
        """These, and what others say besides."""
        return LaunchTexts(
            self.grid or others.grid,
            self.block or others.block,
            self.shared or others.shared,
            {**others.arguments, **self.arguments},
            {**others.data, **self.data},
            {**others.sizes, **self.sizes},
        )


@dataclass(frozen=True)
class ResolvedLaunch:
    """The launch that texts come to. `proposed` are the arguments that nobody said."""

    grid: Triple
    block: Triple
    shared: int
    arguments: tuple[Spec, ...]
    proposed: Texts


@dataclass(frozen=True)
class Kernel:
    """A kernel with what it takes: to be asked again and again while its launch is written."""

    taken: tuple[KernelParameter, ...]
    data: tuple[Data, ...]
    constant: Callable[[str], int | None] = field(compare=False)
    shape: LaunchTexts = LaunchTexts()  # what the kernel itself says of its block, and grid
    dynamic: bool = False  # whether it has shared memory that a launch says the size of
    side: int = SIDE  # of matrices that nobody says the sizes of

    @classmethod
    def of(cls, program: Program, entry: str) -> Kernel:
        """A kernel of a program; FormatError when it has none of this name."""
        types = types_of(program)
        names = types.known.names.keys() | types.known.scope.macros.keys()

        @cache
        def constant(name: str) -> int | None:
            return types.value(parsed(name)) if name in names else None

        module = parse(program.ptx)
        used = _used(module, module.by_name[entry])
        dynamic = {v.name for v in module.variables if v.space == "shared" and v.extern}
        resources, threads = program.resources.get(entry), module.by_name[entry].max_threads
        return cls(
            taken_by(program, entry),
            data_of(program, entry),
            constant,
            _shape(used, threads, resources.registers if resources else 0),
            bool(dynamic & used),
            side_of(demangled(entry)),
        )

    @property
    def known(self) -> bool:
        """Whether it is one: `NONE` stands for one that is not there yet."""
        return self is not NONE

    def reading(self, texts: LaunchTexts, folder: Path | None = None) -> LaunchReader:
        """The texts of a launch, to be read one by one; InputError for names there are not."""
        return LaunchReader(self, texts, folder or Path())

    @property
    def leaves(self) -> tuple[KernelParameter, ...]:
        """Its parameters, and the fields of those that are structures."""
        return tuple(leaf for one in self.taken for leaf in one.leaves)

    def by_name(self, texts: Sequence[str]) -> dict[str, str]:
        """Arguments given as `NAME=TEXT`, or in order those that are not.

        Raises
        ------
        InputError : there are some in order, but not as many as are left
        """
        known = {one.name for one in (*self.taken, *self.leaves)}
        parts = [(text, *text.partition("=")) for text in texts]
        named = {name.strip(): value for _, name, _, value in parts if name.strip() in known}
        plain = [text for text, name, _, _ in parts if name.strip() not in known]
        for text, name, sign, _ in parts:
            word = name.strip()
            if sign and word.isidentifier() and word not in known and word not in DTYPES:
                there = ", ".join(dict.fromkeys(one.name for one in (*self.taken, *self.leaves)))
                raise InputError(f"--arg {text!r}: the kernel has no {word} (there are: {there})")
        left = [one.name for one in self.taken if one.name not in named]
        if plain and len(plain) != len(left):
            takes = [f"{one.name} {one.kind}{'[]' if one.buffer else ''}" for one in self.taken]
            raise InputError(
                f"the kernel takes {len(takes)} arguments ({', '.join(takes)}), {len(texts)} were "
                "given"
            )
        return named | dict(zip(left, plain, strict=False))

    def unsaid(self, texts: LaunchTexts, stated: LaunchTexts = LaunchTexts()) -> frozenset[int]:
        """The numbers of the parameters that are buffers, or have some, if texts say none of
        these: where they say one, an index that leaves it may well lead into another. What the
        host code `stated` is no proposal either.
        """
        leaves = [leaf for leaf in self.leaves if leaf.buffer]
        if any(leaf.name in texts.arguments for leaf in leaves) or any(
            one.name in texts.arguments for one in self.taken if one.fields
        ):
            return frozenset()
        return frozenset(
            n
            for n, one in enumerate(self.taken)
            if any(leaf.buffer and leaf.name not in stated.arguments for leaf in one.leaves)
        )

    def launch(self, texts: LaunchTexts, folder: Path | None = None) -> ResolvedLaunch:
        """The launch that texts come to; what is not said is proposed.

        Raises
        ------
        InputError : a text comes to nothing; names what it is for
        """
        return self.reading(texts, folder).made


NONE = Kernel((), (), lambda name: None)


class LaunchReader:
    """The texts of a launch, read one by one: each may be wrong for itself.

    Raises
    ------
    InputError : there is no such argument or variable; and from all that it reads
    """

    def __init__(self, kernel: Kernel, texts: LaunchTexts, folder: Path) -> None:
        """Relative names of files are seen from a folder."""
        self._kernel, self._texts = kernel, texts
        data = [one.taken for one in kernel.data]
        given = flattened(kernel.taken, texts.arguments, "the kernel takes")
        self._held = flattened(data, texts.data, "variables that it uses:")
        self._scope = self._scope_of(given)
        threads = self._threads()
        matrices = are_of_matrices(one.name for one in kernel.leaves if not one.buffer)
        self.proposed = {
            one.name: guess(one, threads, kernel.side, matrices, "//" in texts.grid)
            for one in kernel.leaves
            if one.name not in given
        }
        self._given = {**self.proposed, **given}
        self._scope = self._scope_of(self._given)
        leaves = (*kernel.leaves, *(leaf for one in data for leaf in one.leaves))
        lengths = {one.name: max(threads, kernel.side**2) * one.lanes for one in leaves}
        self._reader = Reader(kernel.taken, self._scope, lengths, folder)

    @property
    def grid(self) -> Triple:
        """Blocks."""
        return sizes_of(self._texts.grid or GRID, "grid", self._scope)

    @property
    def block(self) -> Triple:
        """Threads of a block."""
        return sizes_of(self._texts.block or BLOCK, "block", self._scope)

    @property
    def shared(self) -> int:
        """Bytes of dynamic shared memory."""
        try:
            return evaluate(self._texts.shared or "0", self._scope)
        except InputError as error:
            raise InputError(f"dynamic shared memory: {error}") from None

    def leaf(self, taken: KernelParameter) -> Spec:
        """One parameter that is no structure, one field, or one of a variable."""
        every = {**self._given, **self._held}
        return self._reader.spec(taken, {taken.name: every.get(taken.name, "")})

    @property
    def made(self) -> ResolvedLaunch:
        """All of them."""
        arguments = [self._reader.spec(one, self._given) for one in self._kernel.taken]
        for one in self._kernel.data:
            leaves = one.taken.leaves
            if any(leaf.name in self._held for leaf in leaves):
                zero = {leaf.name: "zeros" if leaf.count > 1 else "0" for leaf in leaves}
                arguments.append(one.holding(self._reader.spec(one.taken, {**zero, **self._held})))
        return ResolvedLaunch(self.grid, self.block, self.shared, tuple(arguments), self.proposed)

    def _threads(self) -> int:
        """Threads of the launch as far as what is said tells; proposals are made for as many."""
        try:
            return math.prod(self.grid) * math.prod(self.block)
        except InputError:
            return int(GRID) * int(BLOCK)

    def _scope_of(self, arguments: Texts) -> Scope:
        texts = self._texts
        numbers = {
            leaf.name: arguments[leaf.name]
            for leaf in self._kernel.leaves
            if leaf.name in arguments and not leaf.buffer and leaf.count == 1
        }
        shapes: dict[str, str] = {}
        for what, text in (("grid", texts.grid or GRID), ("block", texts.block or BLOCK)):
            x, y, z = (*split_at_commas(text.replace("×", ",")), "1", "1", "1")[:3]
            shapes |= {f"{what}.x": x, f"{what}.y": y, f"{what}.z": z}
        shapes["threads"] = " * ".join(shapes)
        return Scope({**shapes, **numbers, **texts.sizes}, self._kernel.constant)


def sizes_of(text: str, what: str, scope: Scope) -> Triple:
    """Grid or block from a text such as `ceil(n / 16), 4`.

    Raises
    ------
    InputError : it is no one to three whole numbers from 1 up
    """
    parts = split_at_commas(text.replace("×", ","))
    if not 1 <= len(parts) <= 3:
        raise InputError(f"{what} {text!r}: give one to three numbers, as in 16 or 16,16")
    try:
        x, y, z = (*(evaluate(part, scope) for part in parts), 1, 1)[:3]
    except InputError as error:
        raise InputError(f"{what}: {error}, as in 16 or 16,16 or ceil(n / 256)") from None
    if min(x, y, z) < 1:
        raise InputError(f"{what} {text!r} comes to {x},{y},{z}: each has to be 1 or more")
    return x, y, z
