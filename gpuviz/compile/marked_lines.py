"""The lines of a source that a compiler complains about."""

from __future__ import annotations

from gpuviz.compile.program import CompileError, Program


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
