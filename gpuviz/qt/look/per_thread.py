"""Caches of Qt's fonts and laid out texts: they may be shared by painters, not by threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
Made = TypeVar("Made")


def per_thread(most: int) -> Callable[[Callable[P, Made]], Callable[P, Made]]:
    """Keep up to `most` results of a function, for each thread its own.

    A QFont changes inside when it is first drawn with, and a QStaticText whenever the painter is
    scaled otherwise: an export paints while the window does.
    """

    def decorate(make: Callable[P, Made]) -> Callable[P, Made]:
        local = threading.local()

        @wraps(make)
        def kept(*args: P.args, **kwargs: P.kwargs) -> Made:
            if not hasattr(local, "cache"):
                local.cache = lru_cache(maxsize=most)(make)
            return cast(Made, local.cache(*args, **kwargs))

        return kept

    return decorate
