"""Shared atomics and asynchronous copies against an H200's readings and slow references."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import architecture
from gpuviz.memory.atomics import turns, way_of
from gpuviz.memory.other_spaces import copy_wavefronts
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated, verification

DATA = Path(__file__).parent.parent / "data"
HOPPER, TURING = architecture("sm_90"), architecture("sm_75")
READINGS = [
    case
    for case in json.loads((DATA / "h200_shared_patterns.json").read_text())["cases"]
    if case["op"].startswith("atomic")
]
METRICS = (
    "smsp__inst_executed_op_shared_atom.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
    "smsp__inst_executed_op_shared_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
)
masks = st.integers(0, 2**32 - 1).map(
    lambda bits: np.array([[bool(bits >> i & 1) for i in range(32)]])
)


@pytest.mark.parametrize("case", READINGS, ids=lambda c: f"{c['op']}-{c['pattern']}")
def test_reading(case: dict) -> None:
    index, width = np.array(case["index"])[None], case["width_bytes"]
    form = ".".join(case["op"].split("_")[1:3])
    found = turns(HOPPER, form, (np.maximum(index, 0) * width).astype(np.uint64), index >= 0, width)
    got = [found.requests, found.wavefronts, found.load_requests, found.load_wavefronts]
    assert [int(n[0]) for n in got] == [case["counters"].get(metric, 0) for metric in METRICS]


@pytest.mark.parametrize(
    ("form", "way"),
    [
        ("add.u32", "unit"),
        ("min.s32", "unit"),
        ("exch.b64", "unit"),
        ("cas.b32", "compare"),
        ("cas.b64", "compare"),
        ("add.f32", "loop"),
        ("add.u64", "loop"),
        ("max.u64", "loop"),
        ("increment.u32", "increment"),
        ("", "unit"),
    ],
)
def test_ways(form: str, way: str) -> None:
    assert way_of(form, HOPPER) == way
    assert way_of("increment.u32", TURING) == "unit"


@given(st.lists(st.integers(0, 90), min_size=32, max_size=32), masks)
def test_a_loop_takes_as_many_rounds_as_a_bank_has_lanes(
    index: list[int], active: np.ndarray
) -> None:
    address = np.array([index], np.uint64) * np.uint64(4)
    found = turns(HOPPER, "add.f32", address, active, 4)
    crowd = np.bincount(np.array(index)[active[0]] % 32, minlength=32).max()
    assert int(found.requests[0]) == crowd
    assert int(found.wavefronts[0]) == 2 * crowd


def passes_needed(pairs: list[tuple[int, int]]) -> int:
    """The fewest wavefronts, by trying every way to spread the pairs."""
    for count in range(1, 33):
        slots: list[tuple[set[int], set[int]]] = [(set(), set()) for _ in range(count)]
        if place(sorted(pairs), slots):
            return count
    return 0


def place(pairs: list[tuple[int, int]], slots: list[tuple[set[int], set[int]]]) -> bool:
    if not pairs:
        return True
    (a, b), rest = pairs[0], pairs[1:]
    for left, right in slots:
        if a not in left and b not in right:
            left.add(a)
            right.add(b)
            if place(rest, slots):
                return True
            left.remove(a)
            right.remove(b)
    return False


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=7))
def test_copies_need_no_more_than_the_busiest_bank(pairs: list[tuple[int, int]]) -> None:
    address = np.zeros((2, 1, 32), np.uint64)
    address[:, 0, : len(pairs)] = np.array(pairs, np.uint64).T * np.uint64(4)
    active = (np.arange(32) < len(pairs))[None]
    found = copy_wavefronts(address[0], address[1], active, 4)
    assert int(found.count[0]) == passes_needed(pairs)


@pytest.mark.slow
def test_launches_with_copies_through_l1() -> None:
    measured = verification.load(DATA / "h200_copies.json")
    through_l1 = [one for one in measured.launches if one.name.startswith("ca")]
    assert len(through_l1) > 30
    for launch in through_l1:
        run = emulated.run(
            verification.job_of(measured, launch),
            measured.arch,
            level="ptx",
            options=Options(record=()),
        )
        for key in (
            "global_load_sectors",
            "global_load_lines",
            "global_copy_sectors",
            "shared_copy_wavefronts",
        ):
            assert run.counts.totals[key] == launch.measured[key], (launch.name, key)


@pytest.mark.slow
def test_launches_with_global_atomics() -> None:
    measured = verification.load(DATA / "h200_global_atomics.json")
    for launch in measured.launches:
        run = emulated.run(
            verification.job_of(measured, launch),
            measured.arch,
            level="ptx",
            options=Options(record=()),
        )
        for op in ("atomic", "reduction"):
            for quantity in ("requests", "sectors", "lines"):
                key = f"global_{op}_{quantity}"
                got, want = run.counts.totals[key], launch.measured[key]
                # Lines of scattered repeats vary from run to run on the hardware.
                slack = 0.02 * want if quantity == "lines" and "random" in launch.name else 0
                assert abs(got - want) <= slack, (launch.name, key)
