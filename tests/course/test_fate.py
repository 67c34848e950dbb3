"""What becomes of bytes that a request moves and does not use."""

from __future__ import annotations

import pytest

from gpuviz.arch import architecture
from gpuviz.course import lesson
from gpuviz.memory.request import requests_of
from gpuviz.story.lesson import Value
from gpuviz.story.requests.fate import Fate, fate_of
from tests.course.performed import performed


def fate(name: str, role: str, sm: str = "sm_90", **values: Value) -> Fate | None:
    """Of the first load of warp 0 that leaves something over."""
    trace = performed(lesson(name), values, sm).runs[role].trace
    arch = architecture(sm)
    loads = [r for r in requests_of(trace, arch, 0, 0) if not r.is_store]
    return fate_of(trace, arch, loads[0])


def test_of_every_second_float_nobody_wants_the_others() -> None:
    assert fate("coalescing", "copy", stride=2, pattern="strided") == Fate(128, 0, True)


def test_the_ends_of_a_misaligned_row_are_the_neighbours_who_find_them() -> None:
    """Floats 1 to 32: of five sectors, float 0 is nobody's, and 33 to 39 the next warp's."""
    found = fate("coalescing", "copy", stride=1, offset=1, pattern="strided")
    assert found == Fate(32, 28, True)
    assert found.said().startswith("Other requests of its block use 28 bytes of the rest")


@pytest.mark.parametrize("layout", ["packed", "aligned"])
def test_gaps_between_members_are_the_next_loads(layout: str) -> None:
    found = fate("alignment", layout, layout=layout)
    assert found is not None and found.kept and found.wanted > 0


def test_a_step_down_a_column_serves_the_next_ones() -> None:
    found = fate("matrix-layout", "row", each="row")
    assert found == Fate(32 * 28, 32 * 28, True)


def test_nothing_is_said_where_loads_go_past_l1() -> None:
    assert fate("coalescing", "copy", "sm_61", stride=2, pattern="strided") is None


def test_what_l1_has_lost_is_said_so() -> None:
    assert "lost" in Fate(32, 28, False).said() and Fate(0, 0, True).said() == ""
