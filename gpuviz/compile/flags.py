"""Options of a compilation that people may choose; no others reach a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuviz.base.errors import InputError

# What every compilation here has anyway, and frameworks pass.
_ALWAYS = ("-lineinfo", "-generate-line-info")
# What CuPy's RawModule passes, so that numerics agree.
STANDARD, FLUSH = "-std=c++17", "-ftz=true"

_KNOWN = {
    r"-std=c\+\+(11|14|17|20)": "the C++ standard",
    "-use_fast_math": "approximate functions, and subnormal numbers as zero",
    "-(ftz|prec-div|prec-sqrt|fmad)=(true|false)": "how floats are rounded",
    "-maxrregcount=[0-9]{1,3}": "registers of a thread at most",
    "-(G|extra-device-vectorization|dopt=on|restrict)": "how machine code is made",
}


def chosen(given: Iterable[str]) -> tuple[str, ...]:
    """Options as both compilers take them, with the standard ones where nothing else is said.

    InputError for an option that is not among those that may be chosen.
    """
    flags = ("-" + option.strip().lstrip("-") for option in given)
    made = tuple(dict.fromkeys(_checked(flag) for flag in flags if flag not in _ALWAYS))
    said = {option.partition("=")[0] for option in made}
    usual = [one for one in (STANDARD, FLUSH) if one.partition("=")[0] not in said]
    if "-use_fast_math" in made and FLUSH in usual:
        usual.remove(FLUSH)  # which it is one of
    return (*usual, *made)


def _checked(flag: str) -> str:
    if not any(re.fullmatch(pattern, flag) for pattern in _KNOWN):
        known = "  ".join(re.sub(r"[\\()]|\{.*\}", "", pattern) for pattern in _KNOWN)
        raise InputError(f"compiler option {flag!r} is not passed on; these are: {known}")
    return flag
