"""What a function makes of an object is kept with that object, and goes when it goes."""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_PLACE = "_made"


class _Made(dict[Any, Any]):
    """Results by function and further arguments; they stay here when their object is pickled."""

    def __reduce__(self) -> Any:
        return _Made, ()


def kept_with_first(most: int = 4) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the newest results of a function with its first argument, so many for each.

    In the place of an `lru_cache` where that is a trace, a run or a story: it would hold these
    themselves, hundreds of megabytes, until others have taken their places.
    """

    def of(make: Callable[P, R]) -> Callable[P, R]:
        @wraps(make)
        def known(*args: P.args, **named: P.kwargs) -> R:
            place = vars(args[0]).setdefault(_PLACE, _Made())
            made: dict[Any, R] = place.setdefault(make, {})
            asked = args[1:], tuple(sorted(named.items()))
            if asked in made:
                return made[asked]
            found = made[asked] = make(*args, **named)
            for oldest in list(made)[:-most]:
                made.pop(oldest, None)
            return found

        return known

    return of
