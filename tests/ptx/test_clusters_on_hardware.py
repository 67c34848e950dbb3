"""What an H200 made of clusters, and whether the emulator tells the same.

tests/data/cluster_multicast_h200.json: kernels in which each block of a cluster fetches half of
every tile for both, right ones and ones with a fault each, of which some show only where one block
is slow (DELAY); and probes of addresses, ranks, and what copies and arrivals do elsewhere.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.arguments import parse, passed
from gpuviz.base import resources
from gpuviz.base.errors import KernelFault
from gpuviz.ptx.emulator import Options
from gpuviz.traces.trace import Finding
from tests.ptx.launching import KERNELS, launch

DATA = Path(__file__).parents[1] / "data"
RECORDED: dict[str, Any] = json.loads((DATA / "cluster_multicast_h200.json").read_text())
FAULTS = {
    "OWN_ONLY",
    "NO_SYNC",
    "EARLY_EXIT",
    "NO_MAPA",
    "OWN_MASK",
    "NO_EMPTY",
    "EARLY",
    "HALF_EXPECTED",
    "UNMASKED",
    "NO_FENCE",  # cluster.arrive.relaxed orders nothing
}
QUICK = ("right", "own only", "no sync", "early exit")
CHECKED = Options(checks=("memory", "race", "init", "sync"), thorough=True)
TILES, WIDE, CLUSTERS = 24, 256, 4
SHARED = 4 * 2 * (128 * 64 + 64 * 256) + 1024


def source(row: dict[str, Any]) -> str:
    """One text, its macros first."""
    text = (KERNELS / f"{row['kernel']}.cu").read_text()
    for name, folder in (("cluster_sums", KERNELS), ("ladder_wgmma", resources.path("kernels"))):
        line = f'#include "{name}.cu"\n'
        if line in text:
            text = text.replace(line, (folder / f"{name}.cu").read_text())
    return "".join(f"#define {k} {v}\n" for k, v in row["defines"].items()) + text


def factors(side: int) -> list[np.ndarray]:
    random = np.random.default_rng(5)
    return [random.integers(-4, 5, (side, side)).astype("f2") for _ in range(2)]


def boxes(values: np.ndarray) -> Any:
    side = len(values)
    (one,) = passed([parse(f"tensormap(f16[{side},{side}]=zeros, box=64x64, swizzle=128)")])
    held = one.pointers[0].to.values  # type: ignore[union-attr]
    held.flags.writeable = True
    held.reshape(side, side)[...] = values
    return one


def emulated(row: dict[str, Any]) -> tuple[bool, tuple[Any, ...]]:
    """Whether the result is right, and what was found; a fault that ends the launch is one."""
    given = np.random.default_rng(5).integers(0, 9, (CLUSTERS, TILES, WIDE)).astype("f4")
    if side := row.get("side", 0):
        m, n = factors(side)
        right: np.ndarray = m.astype("f8") @ n.astype("f8")
        arguments = [boxes(m), boxes(n), np.full((side, side), np.nan, "f4"), side]
    elif row["entry"] == "gone":
        right = np.repeat(given.reshape(-1)[None, :32], CLUSTERS, 0)
        arguments = [given, np.full((CLUSTERS, 32), np.nan, "f4"), 0]
    else:
        tiles = (given * np.arange(1, TILES + 1)[:, None]).sum(1)
        right = np.repeat(tiles, 2, 0) + (np.arange(2 * CLUSTERS) % 2)[:, None]
        arguments = [given, np.full((2 * CLUSTERS, WIDE), np.nan, "f4"), TILES]
    more: dict[str, Any] = {"arch": "sm_90a", "shared": SHARED if side else 0, "options": CHECKED}
    try:
        run = launch(source(row), row["entry"], row["grid"], row["threads"], *arguments, **more)
    except KernelFault as fault:
        return False, (fault, *fault.others)
    made = run.outputs["arg2" if side else "arg1"].reshape(right.shape)
    return bool((made == right).all()), run.trace.findings


def rows() -> list[Any]:
    """The launches; those that take long, or say the same, are slow tests."""
    return [
        pytest.param(
            row,
            id=f"{row['entry']} {row['name']}",
            marks=() if row["entry"] == "sums" and row["name"] in QUICK else pytest.mark.slow,
        )
        for row in RECORDED["launches"]
    ]


@pytest.mark.parametrize("row", rows())
def test_what_goes_wrong_on_the_hardware_is_told(row: dict[str, Any]) -> None:
    """A fault may do no harm there; what does harm there has a fault."""
    right, found = emulated(row)
    faulty = bool(FAULTS & set(row["defines"])) or row["entry"] == "gone"
    if row.get("wrong") or "ended" in row:
        assert faulty
    if faulty:
        assert found and (not right or all(one.check == "race" for one in found))  # type: ignore[union-attr]
    else:
        assert right and not found


def told(name: str) -> Finding:
    row = next(r for r in RECORDED["launches"] if (r["entry"], r["name"]) == ("sums", name))
    finding = emulated(row)[1][-1]
    assert isinstance(finding, Finding)
    return finding


def test_findings_name_both_blocks() -> None:
    stage = told("own only")
    assert stage.block != stage.other_block and "shared memory of block" in stage.message
    assert "mbarrier at which all who read the stage arrive" in stage.remedy
    begun = told("no sync")
    assert "after the mbarriers began" in begun.remedy
    ended = told("early exit")
    assert "may have ended" in ended.message and "before they end" in ended.remedy


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row,
            id=row["name"],
            marks=()
            if row["name"] in ("addresses", "places_2_2_1", "stores", "foreign load there")
            else pytest.mark.slow,
        )
        for row in RECORDED["probes"]
    ],
)
def test_probes_give_what_the_hardware_gave(row: dict[str, Any]) -> None:
    out = np.full(row["size"], 0xDDDDDDDD, np.uint32)
    if row["entry"] == "arrivals":
        out[4 * 72 :] = 9000 + np.arange(32)

    def run() -> np.ndarray:
        made = launch(source(row), row["entry"], row["grid"], 32, out, arch="sm_90a")
        return made.outputs["arg0"]

    if row.get("ended") == "cudaErrorIllegalInstruction":
        with pytest.raises(KernelFault, match="another block of the cluster, which only"):
            run()
        return
    found = run()
    if "picked" in row:
        found = found[: 4 * 72].reshape(4, 72)[:, row["picked"]]
    assert found.tolist() == row["found"]
