"""PTX text to tokens. One regular expression; comments and white space are dropped."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuviz.base.errors import FormatError


class Token(NamedTuple):
    """A lexical unit: kind is "word", "number", "string" or "mark"; line counts from 1."""

    kind: str
    text: str
    line: int


_MOST = 1_000_000  # some 150,000 instructions, which take seconds to read
_LONGEST = 100_000  # letters of a word
_PATTERN = re.compile(
    r"""
    (?P<skip>[ \t\r\f]+|//[^\n]*|/\*.*?\*/)
  | (?P<endless>/\*)
  | (?P<newline>\n)
  | (?P<string>"(?:[^"\\]|\\.)*+")
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
    FormatError : a character that no PTX token starts with, or more tokens than can be read soon
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
        elif kind == "endless":
            raise FormatError(f"PTX line {line}: a comment begins here and never ends")
        elif len(piece) > _LONGEST:
            raise FormatError(f"PTX line {line}: {piece} is too long for a word")
        else:
            found.append(Token(kind, piece, line))
        position = hit.end()
        if len(found) > _MOST:
            raise FormatError(
                f"the PTX has more than {_MOST:,} words and signs, more than the emulator reads: "
                "leave out the kernels that are not needed"
            )
    return found
