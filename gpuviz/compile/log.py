"""The compiler's log, read: diagnostics of the front end, resources from ptxas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, cast

from gpuviz.compile import elf
from gpuviz.compile.program import CompileError, Diagnostic, Resources
from gpuviz.words.language import tr, trn

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): "
    r"(?:catastrophic )?(?P<severity>error|warning|remark)(?: #[\w-]+)?: (?P<text>.*)$"
)
_HOST = re.compile(  # as GCC and Clang write it, which nvcc calls
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): "
    r"(?:fatal )?(?P<severity>error|warning): (?P<text>.*)$"
)
_TOOL = re.compile(r"^(?P<file>ptxas|nvcc|nvlink|cicc)\b[^:]*: *(?P<text>.*)$")
_INSTANTIATION = re.compile(
    r'instantiation of "(?:.*?[ &*:])?(?P<name>\w+)[<(].*\[with (?P<with>.*)\]"'
)
_CARET = re.compile(r"^\s*\^\s*$")
_INDENT = 2  # the front end indents the source line it shows, and the caret below it, by this
_FUNCTION = re.compile(r"Function properties for '?([\w$]+)'?")
_ENTRY = re.compile(r"Compiling entry function '([\w$]+)'")
_FACTS = {
    "stack_bytes": re.compile(r"(\d+) bytes stack frame"),
    "spill_stores_bytes": re.compile(r"(\d+) bytes spill stores"),
    "spill_loads_bytes": re.compile(r"(\d+) bytes spill loads"),
    "registers": re.compile(r"Used (\d+) registers"),
    "barriers": re.compile(r"used (\d+) barriers"),
    "static_shared_bytes": re.compile(r"(\d+)(?:\+\d+)? bytes smem"),
}

Severity = Literal["error", "warning", "remark"]


def diagnostics(log: str, folder: str = "") -> tuple[Diagnostic, ...]:
    """Every message of a front end's log, with the column its caret points at.

    `folder` is left out of the file names (the made-up folder that the source was compiled in).
    """
    lines = log.splitlines()
    return tuple(
        found
        for number, text in enumerate(lines)
        if (found := _diagnostic(text, lines, number, folder)) is not None
    )


def _diagnostic(text: str, lines: list[str], number: int, folder: str) -> Diagnostic | None:
    if (match := _DIAGNOSTIC.match(text)) is not None:
        severity = cast(Severity, match["severity"])
        name = match["file"].removeprefix(folder)
        column = _column(lines[i] for i in range(number + 1, len(lines)))
        return Diagnostic(name, int(match["line"]), column, severity, match["text"])
    if (match := _HOST.match(text)) is not None:
        severity, name = cast(Severity, match["severity"]), match["file"]
        return Diagnostic(name, int(match["line"]), int(match["column"]), severity, match["text"])
    if (match := _TOOL.match(text)) is not None and re.search(r"\b(fatal|error)\b", text):
        return Diagnostic(match["file"], 0, 0, "error", match["text"])
    return None


def _column(following: Iterable[str]) -> int:
    """Column of the caret line that belongs to a message, 0 without one."""
    for text in following:
        if _CARET.match(text):
            return max(text.index("^") + 1 - _INDENT, 1)
        if not text.strip() or _DIAGNOSTIC.match(text):
            return 0
    return 0


def instantiated(log: str) -> frozenset[tuple[str, str]]:
    """Functions in whose making from a template an error was found, with what they are made with:
    (`tile`, `float, 16`).
    """
    found: set[tuple[str, str]] = set()
    wrong = False
    for line in log.splitlines():
        if (match := _DIAGNOSTIC.match(line)) is not None:
            wrong = match["severity"] == "error"
        elif wrong and (made := _INSTANTIATION.search(line)) is not None:
            values = (one.partition("=")[2].strip() for one in made["with"].split(", "))
            found.add((made["name"], ", ".join(values)))
    return frozenset(found)


def resources(log: str, cubin: bytes = b"") -> dict[str, Resources]:
    """Resources of each kernel, by mangled name, from the lines of `ptxas -v`; with what machine
    code alone tells of constants.
    """
    found: dict[str, Resources] = {}
    current = ""
    for line in log.splitlines():
        if (match := _ENTRY.search(line)) is not None:
            found[match[1]] = Resources()
        elif (match := _FUNCTION.search(line)) is not None:
            current = match[1]
        elif current in found:
            found[current] = _with_facts(found[current], line)
    return {
        kernel: replace(facts, constant_bytes=elf.constant_bytes(cubin, kernel))
        for kernel, facts in found.items()
    }


def _with_facts(known: Resources, line: str) -> Resources:
    for name, pattern in _FACTS.items():
        if (match := pattern.search(line)) is not None:
            known = replace(known, **{name: int(match[1])})
    return known


def lasting(log: str) -> str:
    """The log without what differs from one compilation to the next: times."""
    return "\n".join(line for line in log.strip().splitlines() if "Compile time" not in line)


def failure(name: str, log: str, folder: str = "") -> CompileError:
    """The error for a compilation that did not succeed."""
    found = diagnostics(log, folder)
    errors = [d for d in found if d.severity == "error"]
    if not errors:
        said = tr("{name} does not compile:", name=name)
        return CompileError(f"{said}\n{log.strip()}", found, log)
    shown = "\n".join(f"  {error}" for error in list(dict.fromkeys(map(str, errors)))[:20])
    said = trn(
        "{name} does not compile ({n} error):",
        "{name} does not compile ({n} errors):",
        len(errors),
        name=name,
    )
    return CompileError(f"{said}\n{shown}", found, log)
