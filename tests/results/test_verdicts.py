"""What is said of several runs: once with the names of all of which it is true."""

from __future__ import annotations

from types import SimpleNamespace

from gpuviz.results.residuals import all_verdicts
from tests.results.test_sampled import KEY, sheet


def verdicts(measured: dict[str, float]) -> list[str]:
    """What is said of runs that are all predicted to take 640 sectors."""
    made, _ = sheet(frozenset())
    row = made.rows[0]
    row.values = (640.0,) * len(measured)
    row.measured = lambda run, value: value
    found = {
        name: SimpleNamespace(values={KEY: value}, sm="sm_90", caption="a GPU")
        for name, value in measured.items()
    }
    sheet_ = SimpleNamespace(
        rows=(row,),
        runs=tuple(measured),
        measured=found,
        foreign=lambda run: False,
        residual=lambda row, run: measured[tuple(measured)[run]] - 640.0,
    )
    trace = SimpleNamespace(blocks_emulated=1, launch=SimpleNamespace(blocks=1))
    run = SimpleNamespace(arch="sm_90", level="ptx", trace=trace)
    runs = dict.fromkeys(measured, run)
    return [one.text for one in all_verdicts(sheet_, runs, {name: name for name in measured})]


def test_runs_with_the_same_verdict_share_a_line() -> None:
    assert verdicts({"naive": 640.0, "tiled": 640.0}) == ["naive, tiled: a GPU: 1 counter, equal"]
    many = {f"{n} warps": 640.0 for n in (1, 2, 4, 8)}
    assert verdicts(many) == ["all: a GPU: 1 counter, equal"]
    different = verdicts(many | {"8 warps": 641.0})
    assert different[0].startswith("1 warps, 2 warps, 4 warps: ") and len(different) == 2
