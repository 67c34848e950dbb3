"""The compiler's log, read: diagnostics of the front end, resources from ptxas; the few facts of
a cubin that it does not tell: sizes of ELF sections.
"""

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, cast

from gpuviz.compile.program import CompileError, Diagnostic, Resources
from gpuviz.words.language import tr, trn

_MAGIC = b"\x7fELF\x02\x01"  # 64-bit, little endian
_SIZED, _REGISTERS = 4, 0x2F
_PTX = ".nv_debug_ptx_txt"
_RESERVED = 1024
_CONSTANT = re.compile(r"\.nv\.constant([1-9]\d*)(?:\.(.+))?$")  # bank 0 holds the parameters


@dataclass(frozen=True)
class _Section:
    name: str
    start: int
    size: int
    info: int


def sections(cubin: bytes) -> tuple[tuple[str, int], ...]:
    """Name and size in bytes of every section; none for what is not a 64-bit ELF file."""
    return tuple((one.name, one.size) for one in _sections(cubin))


def _sections(cubin: bytes) -> tuple[_Section, ...]:
    if not cubin.startswith(_MAGIC):
        return ()
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    entry_size, count, name_section = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQII", cubin, table + i * entry_size) for i in range(count)]
    names = headers[name_section][4]
    return tuple(_Section(_text(cubin, names + h[0]), h[4], h[5], h[7]) for h in headers)


def _text(cubin: bytes, start: int) -> str:
    return cubin[start : cubin.index(b"\0", start)].decode()


def constant_bytes(cubin: bytes, kernel: str) -> int:
    """Bytes of constant memory a kernel can reach, its parameters left out."""
    matches = ((_CONSTANT.match(name), size) for name, size in sections(cubin))
    return sum(size for match, size in matches if match and match[2] in (None, kernel))


def cubin_resources(cubin: bytes, kernel: str) -> Resources:
    """What a kernel takes, as far as its sections tell: nothing of spills and the stack.

    Registers are in `.nv.info` (attribute 0x2f, by the symbol of the kernel's code). Of shared
    memory what the system reserves (from sm_80 on) is not the kernel's. Neither is documented:
    held against the logs of NVRTC in the tests.
    """
    found = {one.name: one for one in _sections(cubin)}
    code, facts = found.get(f".text.{kernel}"), found.get(".nv.info")
    shared = found.get(f".nv.shared.{kernel}")
    reserved = _RESERVED if ".nv.shared.reserved.0" in found else 0
    info = cubin[facts.start : facts.start + facts.size] if facts else b""
    return Resources(
        _registers(info).get(code.info & 0xFFFFFF, 0) if code else 0,
        static_shared_bytes=max(shared.size - reserved, 0) if shared else 0,
        constant_bytes=constant_bytes(cubin, kernel),
    )


def _registers(info: bytes) -> dict[int, int]:
    """Registers by symbol. An attribute is a form, a number, and two bytes or their count."""
    found, at = {}, 0
    while at + 4 <= len(info):
        form, number, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if number == _REGISTERS:
                symbol, count = struct.unpack_from("<II", info, at)
                found[symbol] = count
            at += size
    return found


def embedded_ptx(cubin: bytes) -> str:
    """The PTX that machine code with line information was made of; "" where it holds none.

    The assembler keeps its lines, each ended by a zero, without `.loc` and comments: they are the
    lines that the disassembler names.
    """
    try:
        found = next((one for one in _sections(cubin) if one.name == _PTX), None)
    except (ValueError, IndexError, struct.error):
        return ""
    text = cubin[found.start : found.start + found.size] if found else b""
    return text.replace(b"\0", b"\n").decode(errors="replace")


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
        kernel: replace(facts, constant_bytes=constant_bytes(cubin, kernel))
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
