"""printf of the device: a format and the buffer that vprintf gets, made text.

The buffer holds the arguments one after the other, each aligned to its own size: int 4 bytes, long
and pointers 8, every floating-point argument a double (C's promotion has happened already).
Source: CUDA C++ Programming Guide, "Formatted Output", and the PTX that NVRTC makes of printf.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from gpuviz.base.errors import KernelFault

_CONVERSION = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L)?(?P<letter>[diouxXcsSpeEfFgGaA%])"
)
PRINT_LIMIT = 1 << 20  # characters that are kept
CALLS, CALLS_A_THREAD = 1 << 17, 16  # from which on a kernel that fills it seems to print for ever
_DIGITS = 10  # of a width that are looked at
_LONG = (b"l", b"ll", b"j", b"z", b"t")
_BITS = {b"hh": 8, b"h": 16}


class PrintfOutput:
    """What a kernel has printed: the beginning, up to a limit, and how often it went on.

    A GPU passes on what it prints while it runs: a loop without end prints for ever there (seen on
    an H200 with CUDA 13.0, whose buffer has 8.25 MiB).
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = self._calls = self._more = 0

    @property
    def full(self) -> bool:
        """Whether nothing more is kept."""
        return self._size >= PRINT_LIMIT

    def add(self, text: str) -> None:
        """Keep what one thread prints."""
        self._calls += 1
        self._parts.append(text[: PRINT_LIMIT - self._size])
        self._size += len(text)

    def leave_out(self, calls: int, threads: int) -> None:
        """Count calls of `printf` that are not kept any more, in a launch of so many threads.

        Raises
        ------
        KernelFault : there is no end of them
        """
        self._calls += calls
        self._more += calls
        if self._calls > max(CALLS, CALLS_A_THREAD * threads):
            raise KernelFault(
                f"the kernel has called printf {self._calls:,} times, and its loop may never end: "
                "print less, or in fewer threads"
            )

    @property
    def text(self) -> str:
        """What is kept, with a word about what is not."""
        kept = "".join(self._parts)
        if not self.full:
            return kept
        more = f" and {self._more:,} more calls of printf" if self._more else ""
        return f"{kept}\n[cut: the first {PRINT_LIMIT:,} characters are kept{more}]\n"


@dataclass(slots=True)
class _Arguments:
    """The buffer and how far it has been read."""

    data: bytes
    position: int = 0

    def take(self, code: str) -> int | float:
        size = struct.calcsize(code)
        start = -(-self.position // size) * size
        if start + size > len(self.data):
            raise KernelFault(
                f"printf needs an argument at byte {start}, but got {len(self.data)} bytes of them;"
                " give it one for each conversion of its format"
            )
        self.position = start + size
        value: int | float = struct.unpack_from("<" + code, self.data, start)[0]
        return value

    def take_int(self, code: str) -> int:
        return int(self.take(code))


def render(format: bytes, arguments: bytes, string_at: Callable[[int], bytes] | None = None) -> str:
    """The text that printf would print; `string_at` fetches what a %s argument points to.

    Raises KernelFault when the arguments end before the format does, or when one is to take more
    room than all that is kept. What goes beyond that in all is left out.
    """
    source = _Arguments(arguments)
    pieces, end, size = [], 0, 0
    for found in _CONVERSION.finditer(format):
        made = _text(format[end : found.start()]) + _converted(found, source, string_at)
        pieces.append(made)
        end, size = found.end(), size + len(made)
        if size > PRINT_LIMIT:
            break
    return "".join([*pieces, _text(format[end:])])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _converted(
    found: re.Match[bytes], source: _Arguments, string_at: Callable[[int], bytes] | None
) -> str:
    letter = found["letter"].decode()
    if letter == "%":
        return "%"
    flags, width = found["flags"].decode(), _number(found["width"], source)
    precision = _number(found["precision"], source)
    if width is not None and width < 0:
        flags, width = flags + "-", -width
    body = _body(letter, flags, precision, found["length"] or b"", source, string_at)
    zeros = "0" in flags and "-" not in flags and _pads_with_zeros(letter, precision, body)
    return _padded(body, width or 0, flags, zeros)


def _number(text: bytes | None, source: _Arguments) -> int | None:
    if text is None:
        return None
    said = text[:_DIGITS] if text != b"*" else b"%d" % source.take_int("i")
    number = int(said or b"0")
    if number >= PRINT_LIMIT:
        raise KernelFault(
            f"printf is asked for {said.decode()} characters at once, more than the "
            f"{PRINT_LIMIT:,} that are kept"
        )
    return max(number, -PRINT_LIMIT)


def _body(
    letter: str,
    flags: str,
    precision: int | None,
    length: bytes,
    source: _Arguments,
    string_at: Callable[[int], bytes] | None,
) -> str:
    if letter in "diouxX":
        return _integer(letter, flags, precision, _integer_argument(letter, length, source))
    if letter in "eEfFgGaA":
        return _floating(letter, flags, precision, float(source.take("d")))
    if letter == "c":
        return chr(source.take_int("i") & 0xFF)
    address = source.take_int("Q")
    if letter == "p":
        return f"{address:#x}" if address else "(nil)"
    return _string(address, string_at)[:precision]


def _string(address: int, string_at: Callable[[int], bytes] | None) -> str:
    if not address:
        return "(null)"
    return _text(string_at(address)) if string_at else f"<string at {address:#x}>"


def _integer_argument(letter: str, length: bytes, source: _Arguments) -> int:
    signed = letter in "di"
    value = source.take_int(("q" if signed else "Q") if length in _LONG else "iI"[not signed])
    if length in _BITS:
        value &= (1 << _BITS[length]) - 1
        if signed and value >> (_BITS[length] - 1):
            value -= 1 << _BITS[length]
    return value


def _integer(letter: str, flags: str, precision: int | None, value: int) -> str:
    digits = format(abs(value), {"i": "d", "u": "d"}.get(letter, letter))
    if precision is not None:
        digits = digits.rjust(precision, "0") if value or precision else ""
    if "#" in flags and value:
        digits = {"x": "0x", "X": "0X", "o": "0"}.get(letter, "") + digits
    if letter not in "di":
        return digits
    return ("-" if value < 0 else "+" if "+" in flags else " " if " " in flags else "") + digits


def _floating(letter: str, flags: str, precision: int | None, value: float) -> str:
    signs = "".join(flag for flag in flags if flag in "+ #")
    if letter in "aA":
        text = re.sub(r"\.?0*p", "p", value.hex())
        return text.upper() if letter == "A" else text
    return f"%{signs}.{6 if precision is None else precision}{letter}" % value


def _pads_with_zeros(letter: str, precision: int | None, body: str) -> bool:
    if letter in "diouxX":
        return precision is None
    return letter in "eEfFgGaA" and body.lstrip("+- ")[:1].isdigit()


def _padded(body: str, width: int, flags: str, zeros: bool) -> str:
    if "-" in flags:
        return body.ljust(width)
    if not zeros:
        return body.rjust(width)
    head = re.match(r"[+\- ]?(0[xX])?", body)
    prefix = head[0] if head else ""
    return prefix + body[len(prefix) :].rjust(width - len(prefix), "0")
