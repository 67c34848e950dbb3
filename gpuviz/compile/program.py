"""What a compilation leaves behind: PTX that is the same on every machine, and what was said."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from gpuviz.base.errors import Error

_ENTRY = re.compile(r"^[ \t]*(?:\.visible\s+|\.weak\s+)*\.entry\s+([\w$]+)", re.MULTILINE)


@dataclass(frozen=True)
class Resources:
    """What one kernel takes, per thread or per block, as ptxas says.

    `registers`, `spill_*`, `stack_bytes` are per thread; `static_shared_bytes` and `barriers` per
    block. `constant_bytes` counts `__constant__` data and literals of the compiler that the kernel
    can reach, read from the cubin's sections; its parameters are not among them.
    """

    registers: int = 0
    spill_stores_bytes: int = 0
    spill_loads_bytes: int = 0
    stack_bytes: int = 0
    static_shared_bytes: int = 0
    constant_bytes: int = 0
    barriers: int = 0


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler. `line` and `column` count from 1, 0 when not known."""

    file: str
    line: int
    column: int
    severity: Literal["error", "warning", "remark"]
    text: str

    def __str__(self) -> str:
        """`file:line:column: severity: text`, as editors understand it."""
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return f"{place}: {self.severity}: {self.text}"


class CompileError(Error):
    """CUDA C that does not compile."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = (), log: str = ""):
        """Keep the diagnostics and the compiler's whole log beside the message.

        `read` are the user's own headers that were read, as of a `Program`.
        """
        super().__init__(message)
        self.diagnostics = diagnostics
        self.log = log
        self.read: tuple[str, ...] | None = ()


class NoKernel(CompileError):
    """There is no kernel in a text, though nothing is wrong with it."""


class CompilerLost(CompileError):
    """The compiler crashed, or took too much: it would again, so it is not asked another way."""


@dataclass(frozen=True)
class BuildOptions:
    """How a text was to be compiled: macros (`-DK=V`), folders of headers, template kernels."""

    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()


@dataclass(frozen=True)
class Compilation:
    """What is to be compiled: see `compile_cuda`. `macros` are `-DK=V`; `include` are absolute."""

    source: str
    name: str
    arch: str
    macros: tuple[str, ...]
    flags: tuple[str, ...]
    include: tuple[Path, ...]
    instances: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Program:
    """One compiled source text."""

    ptx: str  # PTX text, the same whatever folder it was compiled in
    cubin: bytes  # machine code for `arch`, b"" when the program came as PTX
    log: str
    resources: Mapping[str, Resources]  # by mangled kernel name; empty when the program came as PTX
    warnings: tuple[Diagnostic, ...]
    # The CUDA text, "" when unknown. `.loc` lines refer to it where `.file` says `name`.
    source: str
    name: str
    arch: str  # what `cubin` was compiled for, or the PTX's own `.target`
    compiler: str  # name and version, "NVRTC 13.5"
    note: str = field(default="")  # in words, anything the user should know about how it was made
    # Name of the file that brought it, which nobody held against its source; "" for what was
    # compiled here, or ships.
    origin: str = ""
    # The user's own files that were read besides the one compiled: headers by whole names, as they
    # were opened; None where the compiler did not say.
    read: tuple[str, ...] | None = ()
    # Its options that change what is computed, ("-std=c++17", "-ftz=true").
    flags: tuple[str, ...] = ()
    # How it was compiled, so that another text can be compiled likewise (`compile.again`).
    asked: BuildOptions = BuildOptions()

    @property
    def kernels(self) -> tuple[str, ...]:
        """Mangled names of the kernels, in the order of the PTX text."""
        return kernels(self.ptx)

    def alone(self, kernel: str) -> "Program":
        """This program with one of its kernels."""
        return replace(self, ptx=only(self.ptx, kernel))


def kernels(ptx: str) -> tuple[str, ...]:
    """Names of the `.entry` functions of a PTX text, in order."""
    return tuple(dict.fromkeys(_ENTRY.findall(ptx)))


def only(ptx: str, kernel: str) -> str:
    """A PTX text without its other kernels; what is left keeps its lines."""
    made, out = list[str](), False
    for line in ptx.split("\n"):
        if (match := _ENTRY.match(line)) is not None:
            out = match[1] != kernel
        made.append("" if out else line)
        out = out and line != "}"
    return "\n".join(made)


def marked_lines(said: Exception | Program, file: str = "") -> dict[int, str]:
    """What was said of which line, first things first: of what failed, or of what was left out of a
    program. Errors of other files than this are left out, unless it is "".
    """
    if isinstance(said, CompileError):
        diagnostics = said.diagnostics
    else:
        diagnostics = said.warnings if isinstance(said, Program) else ()
    found: dict[int, str] = {}
    for one in diagnostics:
        here = not file or one.file.rpartition("/")[2] == file
        if here and one.line and one.severity == "error":
            found.setdefault(one.line, one.text)
    return found


_FILE = re.compile(r'^([ \t]*\.file\s+\d+\s+)"([^"]*)"(?:,\s*\d+,\s*\d+)?', re.MULTILINE)

# A number of a file: its own line, or where an instruction is from.
_NUMBER = re.compile(r"((?:^[ \t]*\.(?:file|loc)|\binlined_at)\s+)(\d+)\b", re.MULTILINE)
HEADERS = {".h", ".hpp", ".cuh", ".hxx", ".inl"}

# NVRTC writes the folder it runs in into its output, unless the name is absolute.
FOLDER = "/gpuviz/"

_OCTAL = re.compile(r"(?<!\\)(\\[0-7]{3})+")  # how NVRTC writes letters that are not ASCII


def quotable(name: str) -> str:
    """The name of a file as it can stand between quotes, in CUDA C and in PTX."""
    return "".join(c if c.isprintable() and c not in '"\\' else "_" for c in name)


def normalise(ptx: str, name: str, folders: Iterable[Path] = ()) -> str:
    """PTX whose `.file` paths are `name` for the main source, which is number 1, and short for
    headers: where a function of one comes first it has that number, and `.loc` means it.

    The compiler writes the folder it ran in; a header keeps what follows that of these folders, or
    its `include` folder.
    """
    own = tuple(f"{folder.as_posix()}/" for folder in folders)
    named = _FILE.sub(lambda match: f'{match[1]}"{_short(match[2], name, own)}"', ptx)
    main = re.search(rf'^[ \t]*\.file[ \t]+(\d+)[ \t]+"{re.escape(name)}"$', named, re.MULTILINE)
    if main is None or main[1] == "1":
        return named
    swapped = {main[1]: "1", "1": main[1]}
    return _NUMBER.sub(lambda match: match[1] + swapped.get(match[2], match[2]), named)


def _short(path: str, name: str, own: tuple[str, ...]) -> str:
    path = _OCTAL.sub(lambda escaped: _letters(escaped[0]), path)
    slashed = path.replace("\\\\", "/").replace("\\", "/")
    path_of, own_path = PurePosixPath(slashed), PurePosixPath(name)
    header = path_of.suffix in HEADERS and path_of.suffix != own_path.suffix
    if path_of.stem == own_path.stem and not header:
        return name
    if found := next(filter(slashed.startswith, own), ""):
        return slashed.removeprefix(found)
    return slashed.rpartition("/include/")[2].rpartition("/../")[2] or slashed


def _letters(escaped: str) -> str:
    octal = escaped.split("\\")[1:]
    return bytes(int(digits, 8) & 0xFF for digits in octal).decode(errors="replace")
