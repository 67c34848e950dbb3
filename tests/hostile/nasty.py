"""Values that programs tend to stumble over."""

from __future__ import annotations

from random import Random
from typing import Any

INTEGERS = (
    *(0, 1, -1, 2, 3, 7, 31, 32, 33, 64, 127, 128, 255, 256, 1023, 1024, 1025, 65535, 65536),
    *(2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**40, 2**53 + 1, 2**62, 2**63 - 1, 2**63),
    *(-(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**19, 10**30, 10**400, -(10**400)),
)
NUMBERS = (
    *map(str, INTEGERS),
    *("0x0", "0xFFFFFFFF", "0xFFFFFFFFFFFFFFFF", "0x1" + "0" * 40, "0b1", "017", "08", "1U", "-0"),
    *("0f3F800000", "0fFFFFFFFF", "0f7FC00000", "0d7FF0000000000000", "0f12", "1e400", "1e-400"),
    *("nan", "inf", "-inf", "0.0", "-0.0", "1.", ".5", "1_000", "٣", "²", "1e", "0x", "9" * 5000),
)
CONTROLS = ("\x00", "\x07", "\x08", "\x1b[2J", "\x1b]0;owned\x07", "\x7f", "\x9b31m", "\r", "\v")
LETTERS = (
    "\u202egnp.exe",
    "\u200b",
    "\ufeff",
    "é",
    "漢字",
    "🙂",
    "\ud800",
    "ﬀ",
    "İ",
    "A\u0301" * 9,
)
PATHS = (
    *("..", "../..", "../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self"),
    *(
        "C:\\windows",
        "c:evil.cu",
        "\\\\host\\share\\f",
        "//host/share/f",
        "~",
        "~root/x",
        "~nobody",
    ),
    *("~/secret.npy", "CON", "nul.cu", "-o", "--help", ".", "", "a/" * 500, "x" * 300, "x" * 5000),
    *("file:///etc/passwd", "http://host.invalid/x", "kernels/../../x", "a\nb", "%2e%2e/x"),
)
WORDS = (
    *(
        "",
        " ",
        "\n",
        "\t",
        "'",
        '"',
        "\\",
        "don't",
        "%s%n%99999999d",
        "{0}",
        "{n}",
        "$(id)",
        "`id`",
    ),
    *("<script>", "]]>", "-->", "&amp;", "\\u0000", "null", "true", "__class__", "constructor"),
    *("a" * 1000, "a" * 100_000, "ab " * 20_000, "(" * 2000, "[" * 100_000, "{" * 50_000),
)


def number(random: Random) -> str:
    """A number as text."""
    if random.random() < 0.3:
        return str(random.choice((1, -1)) * random.getrandbits(random.choice((3, 8, 16, 33, 65))))
    return random.choice(NUMBERS)


def word(random: Random) -> str:
    """A text."""
    one = random.choice(random.choice((CONTROLS, LETTERS, PATHS, WORDS, NUMBERS)))
    return one + random.choice(("", "", "x", "/x.cu", " "))


def value(random: Random, depth: int = 0) -> Any:
    """A plain value, as JSON and TOML have them."""
    match random.randrange(9 if depth < 2 else 6):
        case 0:
            return random.choice(INTEGERS)
        case 1:
            return random.choice((0.5, -0.0, 1e308, 5e-324, float("inf"), float("nan")))
        case 2:
            return random.choice((True, False, None))
        case 3 | 4 | 5:
            return word(random)
        case 6:
            return [value(random, depth + 1) for _ in range(random.choice((0, 1, 3, 33)))]
        case 7:
            return {word(random): value(random, depth + 1) for _ in range(random.randrange(4))}
        case _:
            return nested(random.choice((10, 900, 3000)))


def nested(depth: int) -> Any:
    """Lists within lists."""
    made: Any = 0
    for _ in range(depth):
        made = [made]
    return made
