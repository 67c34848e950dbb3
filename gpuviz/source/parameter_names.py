"""The names a kernel's parameters have in its source, for messages and captions."""

from __future__ import annotations

import re

from gpuviz.source.kernel_names import demangled

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def source_parameters(source: str, entry: str, count: int) -> tuple[str, ...]:
    """Names of `count` parameters of a kernel, or () when the source does not show them plainly."""
    plain = demangled(entry).split("(")[0].split("<")[0].split("::")[-1].split(" ")[-1]
    text = _COMMENT.sub(" ", source)
    for match in re.finditer(rf"\b{re.escape(plain)}\s*\(", text):
        names = _names(_inside(text, match.end()))
        if len(names) == count:
            return names
    return ()


def _inside(text: str, start: int) -> str:
    """The text up to the parenthesis that closes the one before `start`."""
    depth = 1
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[start:end]
    return ""


def _names(parameters: str) -> tuple[str, ...]:
    """The last word of each comma-separated declaration; () if one has none."""
    found = []
    for part in split_at_commas(parameters):
        words = re.findall(r"[A-Za-z_]\w*", part.split("=")[0].split("[")[0])
        if len(words) < 2:
            return ()
        found.append(words[-1])
    return tuple(found)


def split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [p for p in parts if p.strip()]
