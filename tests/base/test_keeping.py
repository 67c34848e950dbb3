"""What is made of an object goes with it."""

from __future__ import annotations

import gc
import pickle
import weakref

from gpuviz.base.keeping import kept_with_first


class Large:
    """Something that takes much memory."""


made: list[tuple[int, ...]] = []


@kept_with_first(2)
def pair(one: Large, a: int, b: int = 0) -> tuple[Large, int]:
    """It refers to what it was made of."""
    made.append((a, b))
    return one, a


def test_it_is_made_once_and_the_newest_are_kept() -> None:
    one, other = Large(), Large()
    made.clear()
    assert pair(one, 1) is pair(one, 1) and pair(other, 1) is not pair(one, 1)
    assert made == [(1, 0), (1, 0)]
    pair(one, 2)
    pair(one, 3)
    pair(one, 3)
    pair(one, 1)
    assert made[2:] == [(2, 0), (3, 0), (1, 0)]


def test_what_is_asked_by_name_is_another_question() -> None:
    one = Large()
    made.clear()
    pair(one, 1, b=2)
    pair(one, 1, b=3)
    assert made == [(1, 2), (1, 3)]


def test_it_goes_with_the_object() -> None:
    one = Large()
    pair(one, 1)
    gone = weakref.ref(one)
    del one
    gc.collect()
    assert gone() is None


def test_it_does_not_travel_with_it() -> None:
    one = Large()
    plain = len(pickle.dumps(Large()))
    pair(one, 1)
    assert len(pickle.dumps(one)) < plain + 100
    arrived = pickle.loads(pickle.dumps(one))
    made.clear()
    assert pair(arrived, 1)[0] is arrived and made == [(1, 0)]
