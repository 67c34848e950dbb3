"""Does a source text hold host code, which NVRTC cannot compile?"""

from __future__ import annotations

import re

_NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_HOST = re.compile(
    r"<<<|\b(?:int|void|auto)\s+main\s*\(|\bstd\s*::\s*(?:cout|cerr|vector|string|chrono)\b"
    r"|(?<!__device__ )__host__(?!\s+(?:__forceinline__\s+|inline\s+|static\s+)*__device__)"
    r"|\bcuda(?:Malloc|Free|Mem[a-z]\w*|Event|Stream|Get|Set|Launch|Func|Device[A-Z])\w*\s*\("
    r"|\b(?:malloc|calloc|srand|rand|fprintf|fopen|exit|atoi|scanf)\s*\("
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_FUNCTION = re.compile(r"__global__|__device__")


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
    for match in _HOST.finditer(plain):
        if match[0] == "<<<" or not _in_device_function(plain, match.start()):
            return plain.count("\n", 0, match.start()) + 1, match[0].rstrip("( ")
    return None


def _in_device_function(plain: str, position: int) -> bool:
    """Whether the top-level braces around a position hold or follow __global__ or __device__."""
    depth, head = 0, 0
    for match in re.finditer(r"[{};]", plain[:position]):
        depth += {"{": 1, "}": -1, ";": 0}[match[0]]
        if depth == 0:
            head = match.end()
    return depth > 0 and _FUNCTION.search(plain, head, position) is not None


def includes(source: str) -> list[str]:
    """Names of the headers a text includes."""
    return _INCLUDE.findall(source)
