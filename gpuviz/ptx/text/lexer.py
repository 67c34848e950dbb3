"""PTX text to tokens. One regular expression; comments and white space are dropped."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuviz.errors import FormatError


class Token(NamedTuple):
    """A lexical unit: kind is "word", "number", "string" or "mark"; line counts from 1."""

    kind: str
    text: str
    line: int


_PATTERN = re.compile(
    r"""
    (?P<skip>[ \t\r\f]+|//[^\n]*|/\*.*?\*/)
  | (?P<newline>\n)
  | (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<number>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|0[xX][0-9a-fA-F]+U?
              |0[bB][01]+U?|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?)
  | (?P<word>[A-Za-z_$%](?:[\w$%.]|::)*|\.\w+(?:::\w+)*)
  | (?P<mark>[{}()\[\]<>,;:=+\-!|@*~&^?/])
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str) -> list[Token]:
    """All tokens of a PTX text, in order.

    Raises
    ------
    FormatError : a character that no PTX token starts with
    """
    found: list[Token] = []
    line, position, end = 1, 0, len(text)
    match = _PATTERN.match
    while position < end:
        hit = match(text, position)
        if hit is None:
            raise FormatError(f"PTX line {line}: unexpected character {text[position]!r}")
        kind, piece = hit.lastgroup or "", hit.group()
        if kind == "newline":
            line += 1
        elif kind == "skip":
            line += piece.count("\n")
        else:
            found.append(Token(kind, piece, line))
        position = hit.end()
    return found
