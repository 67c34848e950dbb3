"""Numbers that a sample was asked for are marked, and never called equal to a measured one."""

from __future__ import annotations

from types import SimpleNamespace

from gpuviz.results.count_columns import Column, Sheet
from gpuviz.results.residuals import verdict

KEY = "global_load_sectors"


def sheet(sampled: frozenset[str]) -> tuple[Sheet, Column]:
    """One row, predicted and measured to be the same."""
    row = SimpleNamespace(
        key=KEY,
        label="sectors",
        values=(640.0,),
        percent=False,
        digits=0,
        derived=False,
        modelled=False,
        measured=lambda run, value: value,
    )
    found = SimpleNamespace(values={KEY: 640.0}, sm="sm_90", caption="a GPU", why=lambda key: "")
    column = Column("predicted", "predicted", "model", "", 0)
    made = Sheet((row,), (column,), ("a",), {"a": found}, None, ("sm_90",), sampled)
    return made, column


def test_an_estimate_is_marked_and_not_compared():
    exact, column = sheet(frozenset())
    assert exact.text(exact.rows[0], column) == "640" and exact.residual(exact.rows[0], 0) == 0
    assert verdict(exact, 0, SimpleNamespace(arch="sm_90")).equal
    estimate, column = sheet(frozenset({"a"}))
    assert estimate.text(estimate.rows[0], column) == "≈ 640"
    assert estimate.residual(estimate.rows[0], 0) is None
    assert verdict(estimate, 0, SimpleNamespace(arch="sm_90")) is None
