"""cuda.core's compiled code: an ObjectCode of PTX, or a cubin that holds the PTX it was made of."""

from __future__ import annotations

from gpuviz.compile import Program, ptx_program
from gpuviz.compile.elf import embedded_ptx
from gpuviz.compile.ptxas import assembled
from gpuviz.errors import UnsupportedError
from gpuviz.integrations.asked import Asked, Call, of_program


def asked(call: Call) -> Asked:
    """A launch of a kernel of an ObjectCode; its building names it where there are several.

    Raises
    ------
    InputError : a size is missing, or an argument does not fit
    UnsupportedError : there is no PTX in it
    """
    return of_program(_program(call), call)


def _program(call: Call) -> Program:
    made = call.kernel
    if not hasattr(made, "code_type"):
        raise UnsupportedError(
            f"a {type(made).__name__} of cuda.core does not tell what it was made of: give the "
            "ObjectCode it came from (Program.compile), with name=..."
        )
    code = made.code if isinstance(made.code, bytes) else str(made.code).encode()
    if made.code_type == "ptx":
        program = ptx_program(code.rstrip(b"\0").decode())
        return assembled(program, call.arch or program.arch)
    if ptx := embedded_ptx(code):
        return ptx_program(ptx, code)
    raise UnsupportedError(
        f"this {made.code_type} holds no PTX: compile it with ProgramOptions(lineinfo=True), "
        'or to "ptx"'
    )
