"""Does a source text hold host code, which NVRTC cannot compile?"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL
)
_HOST = re.compile(
    r"<<<|\b(?:int|void|auto)\s+main\s*\(|\bstd\s*::\s*(?:cout|cerr|vector|string|chrono)\b"
    r"|(?<!__device__ )__host__(?!\s+(?:__forceinline__\s+|inline\s+|static\s+)*__device__)"
    r"|\bcuda(?:Malloc|Free|Mem[a-z]\w*|Event|Stream|Get|Set|Launch|Func|Device[A-Z])\w*\s*\("
    r"|\b(?:malloc|calloc|srand|rand|fprintf|fopen|exit|atoi|scanf)\s*\("
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_STRUCTURE = re.compile(r"[{};]|(?P<function>__global__|__device__)")
_NOWHERE = (sys.maxsize, sys.maxsize)


def code(source: str) -> str:
    """The text with comments, literals and directives blanked, line numbers kept."""

    def lines(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    return _DIRECTIVE.sub(lines, _NOT_CODE.sub(lines, source))


def host_line(source: str) -> tuple[int, str] | None:
    """Line and text of the first host code, or None.

    A source that asks for `__CUDACC_RTC__` itself knows NVRTC, and is taken at its word. Calls of
    malloc and its like count only outside of device functions.
    """
    if "__CUDACC_RTC__" in source:
        return None
    plain = code(source)
    spans = iter(_device_functions(plain))
    start, end = next(spans, _NOWHERE)
    for match in _HOST.finditer(plain):
        while end <= match.start():
            start, end = next(spans, _NOWHERE)
        if match[0] == "<<<" or match.start() < start:
            return plain.count("\n", 0, match.start()) + 1, match[0].rstrip("( ")
    return None


def _device_functions(plain: str) -> Iterator[tuple[int, int]]:
    """Start and end of what follows __global__ or __device__ in top-level braces, in order."""
    depth, opened, function = 0, 0, -1
    for match in _STRUCTURE.finditer(plain):
        if match.lastgroup == "function":
            function = match.end() if function < 0 else function
            continue
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if match[0] == "{" and depth == 1:
            opened = match.end()
        if depth == 0:
            if match[0] == "}" and function >= 0:
                yield max(opened, function), match.end()
            function = -1
    if depth > 0 and function >= 0:
        yield max(opened, function), len(plain)
