"""A view made from its record is what the window shows of it."""

from __future__ import annotations

from gpuviz.course import lesson
from gpuviz.story.exhibit import Variant, names_of
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance


def test_sides_are_called_as_in_the_window() -> None:
    one = lesson("coalescing")
    values = one.defaults()
    for changed in ({}, {"stride": 5}):
        asked = Provenance(one.id, {}, "sm_90", compare_values=changed, compare_arch="sm_60")
        view = view_of(asked)
        sides = (
            Variant(one, values, "sm_90", "sass"),
            Variant(one, {**values, **changed}, "sm_60", "sass"),
        )
        assert view.story.title == " | ".join(names_of(sides))
        assert set(view.runs) == {"A copy", "B copy"}
        assert view.provenance.compare_values == {**values, **changed}
