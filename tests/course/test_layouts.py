"""Layouts against the examples of the CuTe documentation, and against another implementation."""

from __future__ import annotations

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.course.matrix_products.swizzle.layout import TMA, Layout, Swizzle, compose

# CUTLASS, "CuTe Layouts" and "CuTe Layout Algebra": as printed there.
TABLES = {
    "(4,2):(2,1)": [[0, 1], [2, 3], [4, 5], [6, 7]],
    "(2,4):(12,1)": [[0, 1, 2, 3], [12, 13, 14, 15]],
    "(2,(2,2)):(4,(2,1))": [[0, 2, 1, 3], [4, 6, 5, 7]],
    "(2,4)": [[0, 2, 4, 6], [1, 3, 5, 7]],
}
COALESCED = {"(2,(1,6)):(1,(6,2))": "12:1", "(2,4):(1,4)": "(2,4):(1,4)", "(3,1):(5,9)": "3:5"}
COMPOSED = {
    ("(6,2):(8,2)", "(4,3):(3,1)"): "((2,2),3):((24,2),8)",
    ("20:2", "(5,4):(4,1)"): "(5,4):(8,2)",
    ("(10,2):(16,4)", "(5,4):(1,5)"): "(5,(2,2)):(16,(80,4))",
    ("20:2", "(5,4):(1,5)"): "(5,4):(2,10)",
    ("8:3", "4:0"): "4:0",
}
# What is no layout, and a word of what is said about it.
WRONG = {
    "": "no layout",
    "(4,2": "no layout",
    "4,2": "no layout",
    "(4,2):(1,4)x": "no layout",
    "(4,2):(1)": "structure",
    "(4,0):(1,1)": "at least 1",
    "(4,-2)": "no layout",
    "(1048577,2)": "at most",
    "(((((((((2)))))))))": "no layout",
    "2:99999999": "at most",
    "()": "no layout",
    "1" * 300: "no layout",
}


@pytest.mark.parametrize("text", TABLES)
def test_places_have_the_offsets_that_are_published(text: str) -> None:
    assert Layout.parse(text).table().tolist() == TABLES[text]


@pytest.mark.parametrize("text", COALESCED)
def test_modes_that_follow_each_other_are_one(text: str) -> None:
    made = Layout.parse(text)
    assert str(made.coalesced()) == COALESCED[text]
    assert (made.coalesced().offsets() == made.offsets()).all()


@pytest.mark.parametrize("pair", COMPOSED)
def test_layouts_are_composed_as_published(pair: tuple[str, str]) -> None:
    outer, inner = map(Layout.parse, pair)
    made = compose(outer, inner)
    assert str(made) == COMPOSED[pair]
    every = [_at(outer, n) for n in inner.offsets().tolist()]
    assert made.offsets().tolist() == every


def _at(layout: Layout, index: int) -> int:
    total = 0
    for count, stride in layout.flat[:-1]:
        index, rest = divmod(index, count)
        total += rest * stride
    return total + index * layout.flat[-1][1]


def test_what_does_not_divide_is_no_layout() -> None:
    with pytest.raises(InputError, match="do not divide"):
        compose(Layout.parse("(4,6,8):(2,3,5)"), Layout.parse("6:3"))


def test_it_is_written_as_it_was_read() -> None:
    for text in (*TABLES, *(one for pair in COMPOSED for one in pair)):
        made = Layout.parse(f" {text} ".replace(",", " , "))
        assert Layout.parse(str(made)) == made
        assert (made.size, made.cosize) == (len(made.offsets()), made.offsets().max() + 1)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_named(text: str) -> None:
    with pytest.raises(InputError, match=WRONG[text]):
        Layout.parse(text)


def test_places_that_share_an_offset_are_seen() -> None:
    assert Layout.parse("(4,2):(2,1)").one_to_one
    assert not Layout.parse("(4,2):(1,2)").one_to_one


@pytest.mark.parametrize(("span", "rows"), [(128, 7), (64, 3), (32, 1)])
def test_a_swizzle_of_bytes_is_the_published_pattern(span: int, rows: int) -> None:
    """CUDA C++ Programming Guide: in line r of 128 bytes piece c is at c ^ (r mod 8, 4, 2)."""
    line, piece = np.divmod(np.arange(64), 8)
    assert (TMA[span](np.arange(64) * 16) == line * 128 + (piece ^ line & rows) * 16).all()


@pytest.mark.parametrize("shift", [-3, 3, 4])
def test_a_swizzle_is_its_own_inverse_and_moves_nothing_out(shift: int) -> None:
    every, one = np.arange(1 << 12), Swizzle(3, 3, shift)
    assert (one(one(every)) == every).all() and sorted(one(every).tolist()) == every.tolist()
    assert one.in_bytes(2) == Swizzle(3, 4, shift) and one.in_bytes(2).in_elements(2) == one
    assert (one.in_bytes(2)(every * 2) == one(every) * 2).all()


def test_another_implementation_says_the_same() -> None:
    other = pytest.importorskip("tensor_layouts")
    random = np.random.default_rng(17)
    for _ in range(60):
        shape = tuple(2 ** random.integers(0, 4, size=random.integers(1, 4)))
        stride = tuple(2 ** random.integers(0, 5, size=len(shape)))
        mine = Layout(tuple(map(int, shape)), tuple(map(int, stride)))
        theirs = other.Layout(mine.shape, mine.stride)
        assert other.size(theirs) == mine.size and other.cosize(theirs) == mine.cosize
        assert [theirs(i) for i in range(mine.size)] == mine.offsets().tolist()
        inner = Layout((2, 2), (1, 2))
        if mine.size >= 4:
            made = other.compose(theirs, other.Layout(inner.shape, inner.stride))
            assert [made(i) for i in range(4)] == compose(mine, inner).offsets().tolist()
    for bits, base, shift in ((3, 3, 3), (2, 4, 3), (1, 0, 2)):
        theirs = other.Swizzle(bits, base, shift)
        mine_is = Swizzle(bits, base, shift)(np.arange(512)).tolist()
        assert [theirs(i) for i in range(512)] == mine_is
