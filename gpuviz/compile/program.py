"""What a compilation leaves behind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class BuildOptions:
    """How a text was to be compiled: macros (`-DK=V`), folders of headers, template kernels."""

    macros: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Program:
    """One compiled source text.

    Attributes
    ----------
    ptx : PTX text, the same whatever folder it was compiled in
    cubin : machine code for `arch`, b"" when the program came as PTX
    resources : by mangled kernel name; empty when the program came as PTX
    source : the CUDA text, "" when unknown. `.loc` lines refer to it where `.file` says `name`
    arch : what `cubin` was compiled for, or the PTX's own `.target`
    compiler : name and version, "NVRTC 13.5"
    flags : its options that change what is computed, ("-std=c++17", "-ftz=true")
    note : in words, anything the user should know about how it was made
    origin : name of the file that brought it, which nobody held against its source; "" for what
        was compiled here, or ships
    read : the user's own files that were read besides the one compiled: headers by whole names, as
        they were opened; None where the compiler did not say
    asked : how it was compiled, so that another text can be compiled likewise (`compile.again`)
    """

    ptx: str
    cubin: bytes
    log: str
    resources: Mapping[str, Resources]
    warnings: tuple[Diagnostic, ...]
    source: str
    name: str
    arch: str
    compiler: str
    note: str = field(default="")
    origin: str = ""
    read: tuple[str, ...] | None = ()
    flags: tuple[str, ...] = ()
    asked: BuildOptions = BuildOptions()

    @property
    def kernels(self) -> tuple[str, ...]:
        """Mangled names of the kernels, in the order of the PTX text."""
        return kernels(self.ptx)


def kernels(ptx: str) -> tuple[str, ...]:
    """Names of the `.entry` functions of a PTX text, in order."""
    return tuple(dict.fromkeys(_ENTRY.findall(ptx)))
