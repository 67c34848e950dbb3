"""cuda.core's compiled code: an ObjectCode of PTX, or a cubin that holds the PTX it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuviz.compile import entry_name, ptx_program
from gpuviz.compile.elf import embedded_ptx
from gpuviz.compile.ptxas import assembled
from gpuviz.errors import InputError, UnsupportedError
from gpuviz.integrations.asked import Asked, Building, collected
from gpuviz.ptx.text.parser import parse
from gpuviz.runners.job import Job, Triple


def asked(
    kernel: Any,
    grid: Triple | None,
    block: Triple | None,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    building: Building,
    arch: str,
) -> Asked:
    """A launch of a kernel of an ObjectCode; `building` names it where there are several.

    Raises
    ------
    InputError : a size is missing, or an argument does not fit
    UnsupportedError : there is no PTX in it
    """
    if kwargs or grid is None or block is None or callable(grid):
        raise InputError("a launch of an ObjectCode needs a grid, a block and args by position")
    if not hasattr(kernel, "code_type"):
        raise UnsupportedError(
            f"a {type(kernel).__name__} of cuda.core does not tell what it was made of: give the "
            "ObjectCode it came from (Program.compile), with name=..."
        )
    code = kernel.code if isinstance(kernel.code, bytes) else str(kernel.code).encode()
    if kernel.code_type == "ptx":
        program = ptx_program(code.rstrip(b"\0").decode())
        program = assembled(program, arch or program.arch)
    elif ptx := embedded_ptx(code):
        program = ptx_program(ptx, code)
    else:
        raise UnsupportedError(
            f"this {kernel.code_type} holds no PTX: compile it with ProgramOptions(lineinfo=True), "
            'or to "ptx"'
        )
    entry = entry_name(program.kernels, building.name)
    made = collected(args, (), parse(program.ptx).by_name[entry].params)
    specs, names = tuple(made.specs), tuple(made.names)
    job = Job(program, entry, grid, block, specs, building.shared, "named", names=names)
    return Asked(job, made.arrays, made.notes)
