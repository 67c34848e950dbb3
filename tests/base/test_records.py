"""Records there and back; what does not fit is told by its place, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from msgspec import Meta

from gpuviz.base import records
from gpuviz.base.arrays import F64
from gpuviz.base.errors import FormatError


@dataclass(frozen=True)
class Why:
    reason: str


@dataclass(frozen=True, eq=False)
class Timing:
    median: float
    grid: tuple[int, int, int] = (1, 1, 1)
    mode: Literal["warm", "flushed"] = "warm"
    counters: Mapping[str, float | Why] = field(default_factory=dict)
    values: Mapping[str, int | str | bool] = field(default_factory=dict)
    share: Annotated[float, Meta(ge=0, le=1)] = 0.0
    map: F64 | None = None
    code: bytes = b""


@dataclass(frozen=True, eq=False)
class File:
    recordings: tuple[Timing, ...] = ()
    named: Mapping[str, Timing] = field(default_factory=dict)


def refused(**changes: Any) -> str:
    """What is said of a file whose second timing is changed so; the same in a list as by name."""
    good = {"median": 1}
    bad = {**good, **changes}
    listed = {"recordings": [good, bad, bad]}
    named = {"recordings": [good], "named": {"a": good, "b": good, "c": bad, "d": bad}}
    with pytest.raises(FormatError) as caught:
        records.record(listed, File, "a.gpurec")
    said = str(caught.value)
    with pytest.raises(FormatError) as caught:
        records.record(named, File, "a.gpurec")
    assert str(caught.value) == said.replace("recordings/1", "named/c")
    assert said.startswith("a.gpurec: recordings/1/")
    return said.removeprefix("a.gpurec: recordings/1/")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"median": "x"}, 'median: expected a number, got "x"'),
        ({"median": True}, "median: expected a number, got true"),
        ({"median": 10**400}, "median: number out of range, got 1000"),
        ({"grid": [1, "2", 3]}, 'grid/1: expected a whole number, got "2"'),
        ({"grid": [1, 2]}, "grid: expected a list of length 3, got [1, 2]"),
        ({"grid": {}}, "grid: expected a list, got {}"),
        ({"mode": "cold"}, 'mode: "cold" is not one of those there are'),
        ({"mode": 1}, "mode: expected a text, got 1"),
        ({"counters": {"x": 1, "y": "z"}}, 'counters/y: expected a number or a table, got "z"'),
        ({"counters": {"x": 1, "y": {}}}, 'counters/y: "reason" is missing'),
        ({"counters": {"x": {"reason": 5}}}, "counters/x/reason: expected a text, got 5"),
        ({"counters": []}, "counters: expected a table, got []"),
        ({"counters": {3: 1}}, "counters: expected a text as every name"),
        (
            {"values": {"a": 1, "b": None, "c": None}},
            "values/b: expected a whole number or a text or true or false, got null",
        ),
        ({"share": 1.5}, "share: expected a number <= 1.0, got 1.5"),
        ({"share": math.nan}, "share: expected a number >= 0.0, got NaN"),
        ({"map": [[1], [2, 3]]}, "map: expected lists of numbers, all of one length, got [[1], [2"),
        ({"map": "x"}, 'map: expected lists of numbers, all of one length, got "x"'),
        ({"code": "!"}, 'code: invalid base64 encoded string, got "!"'),
    ],
)
def test_what_does_not_fit_is_told_by_its_place(changes: dict[str, Any], said: str) -> None:
    assert refused(**changes).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "f: not JSON: "),
        (b"\xff{}", "f: not JSON: "),
        ("[" * 100_000, "f: not JSON: "),
        ("[]", "f: expected a table, got []"),
        ("null", "f: expected a table, got null"),
        ('{"recordings": [{}]}', 'f: recordings/0: "median" is missing'),
    ],
)
def test_texts_that_are_no_file_of_records(text: str | bytes, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        records.read(text, File, "f")
    assert str(caught.value).startswith(said)


def test_long_values_are_not_repeated_whole() -> None:
    assert len(refused(median="x" * 10_000)) < 200


def test_records_come_back_from_their_text() -> None:
    made = Timing(
        math.inf,
        (4, 2, 1),
        "flushed",
        {"a": 2.5, "b": Why("denied")},
        {"x": 1, "y": "1", "z": True},
        0.5,
        np.array([[1.0, 2.0]]),
        b"\0\xff",
    )
    (found,) = records.read(records.text(File((made,))), File, "f").recordings
    assert found.map is not None and found.map.tolist() == [[1.0, 2.0]]
    assert found.map.dtype == np.float64 and not found.map.flags.writeable
    for name in vars(made).keys() - {"map"}:
        assert getattr(found, name) == getattr(made, name), name
    assert [type(value) for value in found.values.values()] == [int, str, bool]


def test_what_a_newer_file_has_more_is_left_out() -> None:
    found = records.read('{"recordings": [{"median": 1, "later": []}], "more": 1}', File, "f")
    assert found.recordings[0].median == 1.0


def test_numpy_numbers_are_numbers_and_other_things_are_refused() -> None:
    assert records.plain({"a": np.int64(3), "b": np.float32(0.5)}) == {"a": 3, "b": 0.5}
    with pytest.raises(TypeError, match="cannot be in a file of records"):
        records.plain({"a": object()})


def test_every_field_is_read_by_itself() -> None:
    given = {"median": 2, "grid": [1, 2, "3"], "mode": 4, "stranger": 1, "share": 0.5}
    good, wrong = records.fields(given, Timing)
    assert good == {"median": 2.0, "share": 0.5}
    assert wrong["grid"] == 'grid/2: expected a whole number, got "3"'
    assert wrong["mode"] == "mode: expected a text, got 4"
    assert wrong["stranger"].startswith("stranger is not known here; known are: median, grid, ")


@pytest.mark.parametrize("number", ["1" * 5000, "18446744073709551616", "-9223372036854775809"])
def test_numbers_of_more_than_64_bits_count_nothing(number: str) -> None:
    with pytest.raises(FormatError, match="it: rows: expected a whole number"):
        records.read(f'{{"rows": {number}}}', _Deep, "it")
    assert records.parsed("[18446744073709551615, -9223372036854775808]", "it")[0] == 2**64 - 1


@pytest.mark.parametrize("text", ['{"rows": 1e400}', "[" * 900 + "]" * 900, "[" * 99999])
def test_what_is_beyond_any_number_or_nesting_is_told(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        records.read(text, _Deep, "it")
    assert len(str(caught.value)) < 300


def test_half_a_character_is_no_text() -> None:
    plain = {"recordings": [{"median": 1.0, "mode": "\ud800"}]}
    with pytest.raises(FormatError, match="it: .*surrogates not allowed"):
        records.record(plain, File, "it")


@dataclass(frozen=True)
class _Deep:
    rows: int = 0
