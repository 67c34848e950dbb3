"""How wide text is, without Qt: advance widths of the shipped fonts, in thousandths of their size.

Read from resources/fonts (Inter 4.0 beta with tabular figures, JetBrains Mono 2.242). Kerning is
left out, which over-estimates a line of Inter by about one percent. Letters with accents are as
wide as those without.
"""

from __future__ import annotations

CAP_HEIGHT = 0.727  # of the size: capital letters, above the baseline
ASCENT, DESCENT = 0.97, 0.24

_CHARACTERS = (
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
    "·×–—…°µ≤≥→←▸▾²³Δ½¼"
)
_REGULAR = (
    281, 278, 403, 631, 638, 812, 639, 222, 362, 362, 500, 659, 276, 460, 276, 357, 648, 648, 648,
    648, 648, 648, 648, 648, 648, 648, 276, 276, 659, 659, 659, 507, 936, 676, 651, 727, 719, 598,
    587, 743, 740, 264, 543, 652, 562, 889, 753, 761, 635, 761, 639, 638, 642, 741, 676, 949, 642,
    665, 625, 362, 357, 362, 469, 452, 497, 564, 621, 558, 621, 582, 361, 609, 591, 237, 237, 544,
    237, 869, 585, 597, 609, 609, 372, 523, 364, 581, 557, 812, 540, 557, 541, 362, 327, 362, 659,
    276, 659, 500, 1000, 821, 455, 622, 659, 659, 955, 955, 502, 502, 420, 430, 676, 926, 884,
)  # fmt: skip
_SEMIBOLD = (
    248, 309, 396, 643, 649, 844, 663, 213, 393, 393, 543, 673, 291, 466, 290, 379, 670, 670, 670,
    670, 669, 670, 670, 670, 670, 670, 290, 289, 673, 673, 673, 544, 999, 724, 657, 744, 724, 608,
    586, 755, 744, 275, 561, 677, 566, 906, 741, 775, 643, 776, 651, 649, 660, 734, 724, 1007,
    690, 705, 653, 393, 379, 393, 481, 468, 497, 575, 630, 577, 630, 593, 377, 625, 613, 261, 261,
    569, 261, 898, 610, 608, 625, 625, 397, 549, 380, 608, 576, 837, 562, 576, 562, 393, 358, 393,
    673, 290, 673, 500, 1000, 806, 458, 652, 673, 673, 955, 955, 502, 502, 423, 438, 724, 919,
    881,
)  # fmt: skip
_MONO, _UNKNOWN = 600, 700
_BARE = str.maketrans("áéíóúüñÁÉÍÓÚÜÑ¿¡", "aeiouunAEIOUUN?!")
_WIDTHS = {
    False: dict(zip(_CHARACTERS, _REGULAR, strict=True)),
    True: dict(zip(_CHARACTERS, _SEMIBOLD, strict=True)),
}


def text_width(text: str, size: float, bold: bool = False, mono: bool = False) -> float:
    """Width in pixels of one line of text."""
    if mono:
        return len(text) * _MONO * size / 1000
    widths = _WIDTHS[bold]
    return sum(widths.get(c, _UNKNOWN) for c in text.translate(_BARE)) * size / 1000

