"""What is launched in each cell; for a kernel file, how its launch follows what is varied."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from gpuviz import arguments
from gpuviz.compile import Program, entry_name, own_program
from gpuviz.compile.compiler import read_text
from gpuviz.compile.source_hash import source_hash
from gpuviz.errors import InputError
from gpuviz.expressions import filled, names_in
from gpuviz.runners.consent import Whose
from gpuviz.runners.job import Job, Triple, triple
from gpuviz.sweeps.axis import ARCH, Axis, Cell

_SIZES = ("grid", "block")
_LETTERS = "xyz"
_WHOLE = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, eq=False)
class Subject:
    """What is swept over.

    Attributes
    ----------
    says : what decides a cell besides its own values, as texts by name
    arch : the architecture that cells are compiled for and counted by, unless they name theirs
    launches : the launches of a cell by role, compiled; may raise any `errors.Error`
    """

    says: Mapping[str, str]
    arch: str
    launches: Callable[[Cell], Mapping[str, Job]]


@dataclass(frozen=True)
class FileLaunch:
    """A launch of a kernel file as texts, in which `{expressions}` of varied names may stand.

    `grid` and `block` are `X[,Y[,Z]]`, `dynamic_shared` bytes, `arguments` SPECs.
    """

    file: Path
    entry: str
    grid: str
    block: str
    dynamic_shared: str = "0"
    defines: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Where expressions may stand."""
        return (self.grid, self.block, self.dynamic_shared, *self.defines.values(), *self.arguments)


def of_file(
    launch: FileLaunch, arch: str, axes: Sequence[Axis], whose: Whose = "stranger"
) -> Subject:
    """The launches of a file. An axis is `arch`, a size (`block.x`), a name in `{expressions}`, or
    else a macro. `whose` it is decides whether it may run on a GPU unasked.

    Raises
    ------
    InputError : the file cannot be read
    """
    used = frozenset().union(*map(names_in, launch.texts))
    sizes = {f"{name}.{letter}" for name in _SIZES for letter in _LETTERS}
    macros = {a.name for a in axes} - used - sizes - {ARCH}
    for name in macros:
        if not name.isidentifier():
            raise InputError(
                f"{name!r} cannot be varied: it is no macro, and no {{{name}}} stands in the "
                f"launch; sizes are called {', '.join(sorted(sizes))}"
            )
    source = source_hash(read_text(launch.file))

    @cache
    def program(target: str, defines: tuple[tuple[str, str], ...]) -> Program:
        return own_program(launch.file, target, dict(defines), options=launch.options)

    def launches(cell: Cell) -> Mapping[str, Job]:
        made = at(launch, cell)
        defines = {**made.defines, **{name: cell[name] for name in sorted(macros)}}
        compiled = program(cell.get(ARCH, arch), tuple(defines.items()))
        return {"": _job(made, compiled, whose)}

    said = {
        "file": launch.file.name,
        "entry": launch.entry,
        "grid": launch.grid,
        "block": launch.block,
        "dynamic_shared": launch.dynamic_shared,
        "defines": " ".join(f"{k}={v}" for k, v in sorted(launch.defines.items())),
        "arguments": " ".join(launch.arguments),
        **({"options": " ".join(launch.options)} if launch.options else {}),
        "source": source,
    }
    return Subject(said, arch, launches)


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
    """`16,16` with the sizes that a cell names itself."""
    parts = (text.split(",") + ["1", "1"])[:3]
    return ",".join(cell.get(f"{what}.{x}", part) for x, part in zip(_LETTERS, parts, strict=True))


def _job(launch: FileLaunch, program: Program, whose: Whose) -> Job:
    if not launch.dynamic_shared.strip().isdecimal():
        raise InputError(f"{launch.dynamic_shared!r} is no number of bytes of shared memory")
    return Job(
        program,
        entry_name(program.kernels, launch.entry),
        size(launch.grid, "grid"),
        size(launch.block, "block"),
        tuple(map(arguments.parse, launch.arguments)),
        int(launch.dynamic_shared),
        whose,
    )


def size(text: str, what: str) -> Triple:
    """Grid or block (`what`) from its text; InputError where it is none."""
    try:
        return triple(tuple(int(part) for part in text.split(",")), what)
    except ValueError:
        raise InputError(f"{what} {text!r} is not one to three whole numbers") from None
