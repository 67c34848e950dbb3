"""Contents changed here and there: bytes, and texts by their words and lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.hostile import nasty

_TOKENS = re.compile(r"[A-Za-z_$%.][\w$%.]*|\d[\w.]*|\s+|.", re.DOTALL)
_LARGEST = 1 << 20  # letters: larger ones are slow to make, and no worse
_RUN = 200_000
_RUNS = (
    "\n",
    " ",
    "\t ",
    "/*",
    "//\n",
    '"',
    "'",
    "#\n",
    "\\\n",
    "(",
    "{",
    "_",
    "9",
    ".",
    "a,",
    "=",
)
Tokens = list[str]


def changed_bytes(random: Random, content: bytes, most: int = 6) -> bytes:
    """Bits flipped, parts taken out, doubled, overwritten, the end cut off."""
    made = bytearray(content)
    for _ in range(random.randint(1, most)):
        at = random.randrange(len(made) + 1)
        length = min(random.choice((1, 2, 4, 8, 64, 1000)), len(made) - at)
        match random.randrange(7):
            case 0 if length:
                made[at] ^= 1 << random.randrange(8)
            case 1:
                del made[at : at + length]
            case 2:
                made[at:at] = made[at : at + length] * random.choice((1, 2, 50))
            case 3:
                number = random.choice(nasty.INTEGERS) & (2**64 - 1)
                made[at : at + 8] = number.to_bytes(8, random.choice(("little", "big")))
            case 4:
                made[at : at + length] = random.randbytes(length)
            case 5:
                made[at:at] = nasty.word(random)[:1000].encode(errors="surrogatepass")
            case _ if random.random() < 0.3:
                del made[at:]
    return bytes(made)


def changed_text(random: Random, text: str, words: Sequence[str] = (), most: int = 5) -> str:
    """Tokens and lines taken out, doubled, exchanged, repeated, replaced by `words` or worse."""
    for _ in range(random.randint(1, most)):
        change = random.choices((_tokens, _lines), (4, 1))[0]
        text = change(random, text, words)[:_LARGEST]
    return text


def encoded(text: str) -> bytes:
    """Whatever is in it."""
    return text.encode(errors="surrogatepass")


def _tokens(random: Random, text: str, words: Sequence[str]) -> str:
    found = _TOKENS.findall(text) or [""]
    random.choice(_TOKEN_CHANGES)(random, found, random.randrange(len(found)), words)
    return "".join(found)


def _lines(random: Random, text: str, words: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at:at] = [lines[other]] * random.choice((2, 20, 500))
        case _:
            del lines[min(at, other) : max(at, other)]
    return "".join(lines)


def _taken_out(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    del tokens[at]


def _doubled(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    times = random.choice((2, 2, 2, 100, 20_000))
    tokens[at] *= min(times, _LARGEST // max(len(tokens[at]), 1))


def _exchanged(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    other = random.randrange(len(tokens))
    tokens[at], tokens[other] = tokens[other], tokens[at]


def _copied(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    tokens[at] = random.choice(tokens)


def _replaced(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    tokens[at] = random.choice(words) if words else nasty.word(random)


def _renumbered(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    numbers = [place for place, token in enumerate(tokens) if token[:1].isdigit()]
    tokens[random.choice(numbers) if numbers else at] = nasty.number(random)


def _inserted(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    tokens.insert(at, nasty.word(random))


def _stretched(random: Random, tokens: Tokens, at: int, words: Sequence[str]) -> None:
    """A run of what readers skip, or look for the end of."""
    times = random.choice((300, 20_000, 150_000))
    tokens.insert(at, (random.choice(_RUNS) * times)[:_RUN])


_TOKEN_CHANGES: tuple[Callable[[Random, Tokens, int, Sequence[str]], None], ...] = (
    *(_taken_out, _doubled, _exchanged, _copied, _copied),
    *(_replaced, _replaced, _renumbered, _renumbered, _inserted, _stretched),
)
