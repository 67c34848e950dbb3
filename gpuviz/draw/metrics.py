"""How wide text is, without Qt: advance widths of the shipped fonts, in thousandths of their size.

resources/fonts/widths.json was read from the fonts beside it (Inter 4.0 beta with tabular figures;
JetBrains Mono 2.242 has one width). Kerning is left out, which over-estimates a line of Inter by
about one percent. Letters with accents are as wide as those without.
"""

import json
from functools import cache, lru_cache

from gpuviz.base import resources

CAP_HEIGHT = 0.727  # of the size: capital letters, above the baseline
ASCENT, DESCENT = 0.97, 0.24

_MONO, _UNKNOWN = 600, 700
_BARE = str.maketrans("áéíóúüñÁÉÍÓÚÜÑ¿¡", "aeiouunAEIOUUN?!")


@cache
def _widths(weight: str) -> dict[str, int]:
    """By character, of the regular or the semibold Inter."""
    found: dict[str, dict[str, int]] = json.loads(resources.text("fonts/widths.json"))
    return found[weight]


def text_width(text: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Width in pixels of one line of text."""
    if mono:
        return len(text) * _MONO * size / 1000
    return _advance(text, bold) * size / 1000


@lru_cache(maxsize=1 << 14)  # words are set again and again, at every moment and size
def _advance(text: str, bold: bool) -> int:
    widths = _widths("semibold" if bold else "regular")
    return sum(widths.get(c, _UNKNOWN) for c in text.translate(_BARE))
