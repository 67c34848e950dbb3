"""TOML as tomllib reads it, but for keys of so many parts that reading them takes gigabytes:
the time goes by the square of the parts, the memory by the square of the letters.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

_PARTS = 40  # of a key, at most
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
# Such a key, or what may hold something like it and is none: a text, a comment.
_DOTTED = re.compile(
    rf"(?P<key>(?<![\w-])(?:{_PART}){{{_PARTS}}})"
    r"""|'{3}.*?(?:'{3}|\Z)|"{3}(?:\\.|[^\\])*?(?:"{3}|\Z)|'[^'\n]*+'|"(?:\\.|[^"\\\n])*+"|\#[^\n]*+""",
    re.DOTALL,
)


def loads(text: str) -> dict[str, Any]:
    """The values of a text.

    Raises
    ------
    TOMLDecodeError : it is no TOML, or has keys such as `a.a.a.a` of more than 40 parts
    ValueError, RecursionError : it has a number of thousands of digits, lists within such lists
    """
    found = next((found for found in _DOTTED.finditer(text) if found["key"]), None)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise tomllib.TOMLDecodeError(
            f"A name of more than {_PARTS} parts: take some out (at line {line}, column 1)"
        )
    return tomllib.loads(text)
