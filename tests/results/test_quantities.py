from __future__ import annotations

import pytest

from gpuviz.memory.counts import Count
from gpuviz.results.highlighting import spans
from gpuviz.results.quantities import multiple, rows_of
from gpuviz.words.fuzzy import score
from gpuviz.words.language import grouped


def totals(**counts: int) -> dict[str, int]:
    return dict.fromkeys(Count, 0) | counts


def test_only_accesses_that_somebody_makes_get_rows() -> None:
    none, some = (
        totals(),
        totals(shared_load_requests=4, shared_load_wavefronts=9, shared_load_wavefronts_ideal=4),
    )
    assert rows_of([none]) == []
    rows = {r.label: r.values for r in rows_of([none, some])}
    assert rows == {
        "Shared memory": (),
        "load requests": (None, 4),
        "load wavefronts": (None, 9),
        "load conflicts": (None, 5),
    }


def test_bytes_used_are_a_share_of_the_sectors_moved() -> None:
    asked = totals(global_load_requests=1, global_load_sectors=8, global_load_bytes=128)
    used = next(r for r in rows_of([asked]) if r.label == "load asked / moved")
    assert used.values == (0.5,)
    assert not any("bytes" in r.label for r in rows_of([asked], sectors=False))


def test_thousands_are_parted_by_thin_spaces() -> None:
    assert grouped(1234567) == "1\u202f234\u202f567"
    assert grouped(12) == "12"


@pytest.mark.parametrize(
    ("typed", "text", "fits"),
    [
        ("thd", "Theme: dark", True),
        ("dark theme", "Theme: dark View", True),
        ("hopper", "CC 9.0 Hopper", True),
        ("xyz", "Theme: dark", False),
        ("", "Quit", True),
    ],
)
def test_fuzzy_finding(typed: str, text: str, fits: bool) -> None:
    assert (score(typed, text) is not None) == fits


def test_beginnings_of_words_come_first() -> None:
    assert (score("pla", "Play or pause") or 0) > (score("pla", "Display") or 0)


def test_spans_lie_where_the_tokens_are() -> None:
    text = "int x = 42;\n// done"
    (first, second) = spans(text, "cuda")
    assert ("42", "compute") in [(text[s : s + n], color) for s, n, color, _ in first]
    assert second == [(0, 7, "faint", False)]


@pytest.mark.parametrize(
    "value, said", [(0.5, "0.5×"), (1, "1×"), (1234.4, "1234×"), (float("inf"), "–"), (None, "–")]
)
def test_how_many_times_as_much_is_said_without_powers_of_ten(
    value: float | None, said: str
) -> None:
    """Lines that cost a thousand times as much in B were told as `1.23e+03×`."""
    assert multiple(value) == said
