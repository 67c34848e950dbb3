"""What is launched in each cell; for a kernel file, how its launch follows what is varied."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from gpuviz.arguments.expressions import filled, names_in
from gpuviz.base.errors import Error, InputError
from gpuviz.compile import Program, entry_name, own_program
from gpuviz.files import bounded
from gpuviz.files.checksums import source_hash
from gpuviz.launch.job import Job, Whose, triple
from gpuviz.launch.settings import Settings
from gpuviz.launch.texts import Kernel, LaunchTexts
from gpuviz.source.kernel_names import split_at_commas
from gpuviz.sweeps.axis import ARCH, Axis, Cell
from gpuviz.traces.geometry import Triple

_SIZES = ("grid", "block")
_LETTERS = "xyz"
_WHOLE = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, eq=False)
class Subject:
    """What is swept over."""

    says: Mapping[str, str]  # what decides a cell besides its own values, as texts by name
    # The architecture that cells are compiled for and counted by, unless they name theirs.
    arch: str
    # The launches of a cell by role, compiled; may raise any `errors.Error`.
    launches: Callable[[Cell], Mapping[str, Job]]


@dataclass(frozen=True)
class FileLaunch:
    """A launch of a kernel file as texts, in which `{expressions}` of varied names may stand.

    `grid` and `block` are `X[,Y[,Z]]`, `dynamic_shared` bytes, `arguments` as people write them, in
    order, or all by name. What is "" or nothing is as in the file's `settings`.
    """

    file: Path
    entry: str
    grid: str
    block: str
    dynamic_shared: str = ""
    defines: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    settings: Settings = field(default_factory=Settings)

    @property
    def texts(self) -> tuple[str, ...]:
        """Where expressions may stand."""
        return (self.grid, self.block, self.dynamic_shared, *self.defines.values(), *self.arguments)

    @property
    def names(self) -> frozenset[str]:
        """What stands in braces in its texts, and the arguments and sizes of its settings."""
        kept = self.settings.launches.values()
        tables = [table for one in kept for table in (one.arguments, one.data, one.sizes)]
        return frozenset().union(*map(names_in, self.texts), *tables)


def of_file(
    launch: FileLaunch, arch: str, axes: Sequence[Axis], whose: Whose = "stranger"
) -> Subject:
    """The launches of a file. An axis is `arch`, a size (`block.x`), a name in `{expressions}`, an
    argument, or else a macro. `whose` it is decides whether it may run on a GPU unasked.

    Raises
    ------
    InputError : the file cannot be read
    """
    others = _others(launch, axes)
    source = source_hash(bounded.text(launch.file))

    @cache
    def program(target: str, defines: tuple[tuple[str, str], ...]) -> Program:
        return own_program(launch.file, target, dict(defines), options=launch.options)

    @cache
    def arguments() -> frozenset[str]:
        """Those of the others that are arguments of the kernel, or fields."""
        try:
            compiled = program(arch, tuple({**launch.settings.macros, **launch.defines}.items()))
            leaves = Kernel.of(compiled, entry(compiled)).leaves
            return frozenset(others & {one.name for one in leaves})
        except Error:  # it lacks a macro that is varied
            return frozenset()

    def entry(compiled: Program) -> str:
        return entry_name(compiled.kernels, launch.entry or launch.settings.kernel)

    def launches(cell: Cell) -> Mapping[str, Job]:
        made, named = at(launch, cell), launch.names | (arguments() if others else frozenset())
        macros = {name: cell[name] for name in sorted(others - named)}
        defines = {**launch.settings.macros, **made.defines, **macros}
        compiled = program(cell.get(ARCH, arch), tuple(defines.items()))
        varied = {name: cell[name] for name in named & cell.keys()}
        return {"": _job(made, compiled, entry(compiled), varied, cell, whose)}

    return Subject(_says(launch, source), arch, launches)


def _others(launch: FileLaunch, axes: Sequence[Axis]) -> frozenset[str]:
    """What is varied besides sizes, the architecture and what stands in braces: arguments, macros.

    InputError for what can be neither.
    """
    sizes = {f"{name}.{letter}" for name in _SIZES for letter in _LETTERS}
    others = {a.name for a in axes} - launch.names - sizes - {ARCH}
    for name in others:
        if not name.isidentifier():
            raise InputError(
                f"{name!r} cannot be varied: it is no macro, and no {{{name}}} stands in the "
                f"launch; sizes are called {', '.join(sorted(sizes))}"
            )
    return frozenset(others)


def _says(launch: FileLaunch, source: str) -> dict[str, str]:
    """What decides a cell besides its own values, as texts by name."""
    return {
        "file": launch.file.name,
        "entry": launch.entry,
        "grid": launch.grid,
        "block": launch.block,
        "dynamic_shared": launch.dynamic_shared,
        "defines": " ".join(f"{k}={v}" for k, v in sorted(launch.defines.items())),
        "arguments": " ".join(launch.arguments),
        **({"options": " ".join(launch.options)} if launch.options else {}),
        **({"settings": repr(launch.settings)} if launch.settings != Settings() else {}),
        "source": source,
    }


def at(launch: FileLaunch, cell: Cell) -> FileLaunch:
    """The launch with the values of a cell in its texts; InputError where it makes none."""
    numbers = {name: int(value) for name, value in cell.items() if _WHOLE.fullmatch(value)}
    sizes = {what: _sized(getattr(launch, what), what, cell) for what in _SIZES}
    return replace(
        launch,
        grid=filled(sizes["grid"], numbers),
        block=filled(sizes["block"], numbers),
        dynamic_shared=filled(launch.dynamic_shared, numbers),
        defines={name: filled(value, numbers) for name, value in launch.defines.items()},
        arguments=tuple(filled(text, numbers) for text in launch.arguments),
    )


def _sized(text: str, what: str, cell: Cell) -> str:
    """`16,16` with the sizes that a cell names itself; "" where there is nothing to say."""
    if not text and not any(f"{what}.{letter}" in cell for letter in _LETTERS):
        return ""
    parts = (*split_at_commas(text or "1"), "1", "1")[:3]
    return ",".join(cell.get(f"{what}.{x}", part) for x, part in zip(_LETTERS, parts, strict=True))


def _job(
    launch: FileLaunch,
    program: Program,
    entry: str,
    named: Mapping[str, str],
    cell: Cell,
    whose: Whose,
) -> Job:
    kernel, kept = Kernel.of(program, entry), launch.settings.launch_of(program.kernels, entry)
    leaves = {one.name for one in kernel.leaves}
    varied = {name: value for name, value in named.items() if name in leaves}
    sizes = {name: value for name, value in named.items() if name not in leaves}
    said = LaunchTexts(
        launch.grid or _sized(kept.grid, "grid", cell) or "1",
        launch.block or _sized(kept.block, "block", cell) or "1",
        launch.dynamic_shared,
        {**kernel.by_name(launch.arguments), **varied},
        {},
        sizes,
    )
    made = kernel.launch(said.over(kept))
    return Job(program, entry, made.grid, made.block, made.arguments, made.shared, whose)


def size(text: str, what: str) -> Triple:
    """Grid or block (`what`) from its text; InputError where it is none."""
    try:
        return triple(tuple(int(part) for part in text.split(",")), what)
    except ValueError:
        raise InputError(f"{what} {text!r} is not one to three whole numbers") from None
