"""PTX text as tokens (comments and white space are dropped), a cursor over them, literals."""

import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from gpuviz.base.errors import FormatError

_T = TypeVar("_T")


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
                "name the one that is wanted (--entry NAME), or leave out those that are not"
            )
    return found


_END = Token("end", "", 0)
_BITS = 64  # of a literal
_BYTES = {
    "pred": 1,
    **{f"{letter}{bits}": bits // 8 for letter in "busf" for bits in (8, 16, 32, 64, 128)},
    "bf16": 2,
    "tf32": 4,
    "f16x2": 4,
    "bf16x2": 4,
    **dict.fromkeys(("texref", "samplerref", "surfref"), 8),
}


class Stream:
    """Looks one or two tokens ahead; every complaint names the PTX line."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0

    @property
    def done(self) -> bool:
        """True after the last token."""
        return self._at >= len(self._tokens)

    @property
    def line(self) -> int:
        """PTX line of the next token (of the last one at the end)."""
        if not self._tokens:
            return 1
        return self._tokens[min(self._at, len(self._tokens) - 1)].line

    def _token(self, ahead: int = 0) -> Token:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else _END

    def peek(self, ahead: int = 0) -> str:
        """Text of a coming token, "" past the end."""
        return self._token(ahead).text

    def peek_kind(self) -> str:
        """Kind of the next token."""
        return self._token().kind

    def next(self) -> str:
        """Take one token."""
        if self.done:
            raise FormatError(f"PTX line {self.line}: the text ends in the middle of a statement")
        self._at += 1
        return self._tokens[self._at - 1].text

    def accept(self, text: str) -> bool:
        """Take the next token if it is `text`."""
        if self._token().text != text or self.done:
            return False
        self._at += 1
        return True

    def expect(self, text: str) -> None:
        """Take the next token, which must be `text`."""
        if not self.accept(text):
            raise FormatError(f"PTX line {self.line}: expected {text!r}, found {self.peek()!r}")

    def signed(self) -> str:
        """A number with its sign, as text."""
        sign = "-" if self.accept("-") else ""
        return sign + self.next()

    def several(self, one: Callable[[], _T]) -> list[_T]:
        """One, and more after commas."""
        found = [one()]
        while self.accept(","):
            found.append(one())
        return found

    def skip_past(self, text: str) -> None:
        """Drop tokens up to `text`, and that."""
        while not self.accept(text):
            self.next()

    def skip_to(self, text: str) -> None:
        """Drop tokens up to (not including) `text`."""
        while self.peek() != text:
            self.next()

    def skip_block(self) -> None:
        """Drop a braced block."""
        self.expect("{")
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "{") - (word == "}")


def number_value(text: str) -> int:
    """An integer literal of at most 64 bits: decimal, 0x, 0b, octal, with sign and U suffix."""
    negative = text.startswith("-")
    digits = text.lstrip("-").rstrip("U")
    try:
        octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
        value = int(digits, 8) if octal else int(digits, 0)
    except ValueError:
        raise FormatError(f"expected an integer in the PTX, found {text!r}") from None
    if value.bit_length() > _BITS:
        raise FormatError(f"the number {text} in the PTX has more than {_BITS} bits")
    return -value if negative else value


def type_bytes(kind: str) -> int:
    """Size in bytes of a PTX fundamental type; FormatError for what is none."""
    if kind not in _BYTES:
        raise FormatError(f"the PTX has values of a type .{kind}, which is not known")
    return _BYTES[kind]
