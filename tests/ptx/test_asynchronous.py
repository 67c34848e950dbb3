"""mbarriers, bulk copies and clusters: results, faults, deadlocks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuviz.base.errors import FormatError, KernelFault, LaunchError
from gpuviz.ptx.decode.decoder import unsupported
from gpuviz.ptx.emulator import Options, Result
from gpuviz.ptx.text.parser import parse
from gpuviz.traces.file import load, save
from gpuviz.traces.trace import HANDOVERS, Finding, Handovers
from tests.ptx.launching import KERNELS, launch

SOURCE = (KERNELS / "asynchronous.cu").read_text()


def run(
    kernel: str,
    grid: Any,
    block: int,
    *arguments: Any,
    define: str = "",
    replace: tuple[str, str] = ("", ""),
    **more: Any,
) -> Result:
    source = f"{define}\n{SOURCE.replace(*replace)}"
    return launch(source, kernel, grid, block, *arguments, arch="sm_90a", **more)


def pipeline(tiles: int = 5, blocks: int = 3, **more: Any) -> tuple[np.ndarray, Result]:
    tile = np.random.default_rng(1).integers(0, 50, (blocks, tiles, 128)).astype("f4")
    out = np.zeros((blocks + 1, 128), "f4")
    return tile.sum(1), run("pipeline", blocks, 160, tile.reshape(-1), out, tiles, **more)


@pytest.mark.parametrize("engine", ["auto", "compiled"])
def test_a_warp_fetches_what_others_add_up(engine: str) -> None:
    right, found = pipeline(options=Options(engine=engine))
    out = found.outputs["arg1"]
    assert (out[:-1] == right).all() and (out[-1] == right.sum(0)).all()
    assert found.engine == "numpy"
    assert any("setmaxnreg does nothing here" in note for note in found.trace.notes)


def test_what_warps_hand_over_at_mbarriers_is_kept(tmp_path: Path) -> None:
    """Five tiles through two stages, of the second block: the fifth warp is the producer."""
    trace = pipeline(options=Options(record=(1,)))[1].trace
    made = trace.handovers
    assert made is not None and set(made.block.tolist()) == {1}

    def rows(kind: Any) -> Any:
        some = made.kind == HANDOVERS.index(kind)
        return [column[some].tolist() for column in vars(made).values()]

    _, _, _, _, warp, at, threads, size, counts, source = rows("load")
    assert warp == [4] * 5 and size == [512] * 5 and threads == [1] * 5
    start = trace.launch.buffers[0].address
    assert source == [start + 512 * (5 + tile) for tile in range(5)]
    assert at == [at[0], at[1]] * 2 + at[:1] and counts == [*counts[:2] * 2, counts[0]]
    waits = set(zip(*(rows("wait")[column] for column in (4, 5, 6)), strict=True))
    assert {(4, 1), *((warp, 32) for warp in range(4))} == {(w, n) for w, _, n in waits}
    full, empty = sorted(set(counts)), sorted({b for w, b, _ in waits if w == 4})
    over = rows("over")[5]
    assert [over.count(one) for one in (*full, *empty)] == [3, 2, 3, 2]
    assert sum(rows("arrive")[6]) == 5 + 5 * 128 and len(rows("init")[0]) == 4
    save(trace, tmp_path / "a.trace")
    back = load(tmp_path / "a.trace").handovers
    assert isinstance(back, Handovers) and len(back) == len(made)
    assert all((one == vars(back)[name]).all() for name, one in vars(made).items())
    for wrong in ({"kind": made.kind + 50}, {"warp": made.warp + 1}, {"block": made.block - 1}):
        save(
            dataclasses.replace(trace, handovers=dataclasses.replace(made, **wrong)), tmp_path / "b"
        )
        with pytest.raises(FormatError, match="in it was not|in it is not|is of no kind"):
            load(tmp_path / "b")
    assert pipeline(options=Options(record=()))[1].trace.handovers is None


ALL = Options(checks=("memory", "race", "init", "sync"), thorough=True)


def test_a_stage_that_waits_for_its_readers_is_no_race() -> None:
    right, found = pipeline(options=ALL)
    assert (found.outputs["arg1"][:-1] == right).all()
    assert found.trace.findings == ()


def test_a_stage_given_back_before_it_was_read_is_told() -> None:
    """The third tile may come while the first is still being read."""
    late = "total += tile[s][threadIdx.x];\n        arrive(&empty[s]);"
    early = "arrive(&empty[s]);\n        total += tile[s][threadIdx.x];"
    assert late in SOURCE
    _, found = pipeline(options=ALL, replace=(late, early))
    one = next(one for one in found.trace.findings if one.kind == "race, write after read")
    assert "mbarrier at which all who read" in one.remedy and one.line > one.other_line - 40 > 0


def test_a_stage_filled_again_without_a_wait_is_told_beside_the_deadlock_it_ends_in() -> None:
    """Without its wait the producer is a phase ahead: parity is right again, and they hang."""
    with pytest.raises(KernelFault, match="deadlock") as caught:
        pipeline(6, options=ALL, define="#define WAIT_FOR_EMPTY 0")
    (one,) = caught.value.others
    assert isinstance(one, Finding) and one.kind == "race, write after write"
    line = next(
        n for n, text in enumerate(SOURCE.splitlines(), 3) if "cp.async.bulk.shared" in text
    )
    assert one.line == one.other_line == line and one.thread == one.other_thread == (128, 0, 0)
    assert (
        f"filled by an asynchronous copy of thread (128, 0, 0) (line {line}), and ag" in one.message
    )
    assert "mbarrier at which all who read" in one.remedy


def test_bytes_that_nobody_waited_for_are_told() -> None:
    source = "wait(&full[s], t / 2 & 1);"
    assert source in SOURCE
    apart = "#define WAIT_FOR_EMPTY 0"
    _, found = pipeline(2, options=ALL, replace=(source, ""), define=apart)
    kinds = {one.kind for one in found.trace.findings}
    assert "uninitialised shared read" in kinds and any("race" in kind for kind in kinds)


def test_phases_end_when_nothing_is_pending() -> None:
    (out,) = run("phases", 1, 1, np.zeros(7, "u4")).outputs.values()
    assert out.tolist() == [3, 0, 1, 1, 0, 2, 0]
    with pytest.raises(KernelFault, match="no mbarrier has been initialised at 0x0 .*line"):
        run("phases", 1, 1, np.ones(7, "u4"))


def test_copies_of_threads_arrive() -> None:
    given = np.arange(64, dtype="i4")
    out = run("copies", 2, 64, given, np.zeros_like(given)).outputs["arg1"]
    assert (out == given[::-1]).all()


def test_a_wait_that_cannot_end_is_told_with_its_line() -> None:
    """One arrival too many is expected, so that the third tile is never fetched."""
    with pytest.raises(KernelFault, match="deadlock in block .*the mbarrier at") as caught:
        pipeline(define="#define EMPTY 129")
    assert caught.value.finding.kind == "deadlock" and caught.value.finding.line > 10
    assert "1 of 129 arrivals" in str(caught.value) or "1 of 1 arrivals" in str(caught.value)


def test_more_arrivals_than_expected_are_a_fault() -> None:
    with pytest.raises(KernelFault, match="more arrivals than an mbarrier expects"):
        run("phases", 1, 1, np.zeros(7, "u4"), define="#define PENDING 1")


def test_bytes_outside_of_a_buffer_are_a_fault() -> None:
    with pytest.raises(KernelFault, match="past the end of buffer arg0"):
        run("pipeline", 1, 160, np.zeros(200, "f4"), np.zeros(256, "f4"), 2)


@pytest.mark.parametrize("batch", [1 << 20, 1 << 32])
def test_blocks_of_a_cluster_see_each_other(batch: int) -> None:
    options = Options(memory=batch)
    out = run("neighbours", (4, 4), 32, np.zeros((16, 32, 4), "u4"), options=options)
    found = out.outputs["arg0"].astype(int)
    for block in range(16):
        x, y = block % 4, block // 4
        rank = x % 2 + 2 * (y % 2)
        peers = [x // 2 * 2 + r % 2 + 4 * (y // 2 * 2 + r // 2) for r in range(4)]
        lane = np.arange(32)
        assert (found[block, :, 0] == peers[(rank + 1) % 4] * 100 + lane).all()
        assert (
            found[block, :, 1] == rank * 1000 + x % 2 * 100 + y // 2 * 10 + (rank + 2) % 4
        ).all()
        total = sum(p * 100 * 32 + lane.sum() for p in peers) if rank == 0 else 0
        assert (found[block, :, 2] == total).all()
        assert (found[block, :, 3] == peers[(rank + 2) % 4] * 100 + 1).all()


def test_a_copy_goes_to_several_blocks() -> None:
    given = np.arange(32, dtype="i4")
    out = run("multicast", 4, 32, given, np.zeros(128, "i4")).outputs["arg1"].reshape(4, 32)
    assert (out == given + np.array([0, 1, 0, 1])[:, None]).all()


def test_clusters_divide_the_grid() -> None:
    with pytest.raises(LaunchError, match="clusters of 2x2x1 blocks"):
        run("neighbours", (3, 2), 32, np.zeros(1, "u4"))


def test_what_blackwell_has_is_named() -> None:
    text = """.version 8.7
.target sm_100a
.address_size 64
.visible .entry k() { .reg .b32 %r<3>; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32; ret; }
"""
    (problem,) = unsupported(parse(text))["k"]
    assert problem.why == (
        "tensor memory, and products in it (Blackwell's tcgen05), is not supported"
    )
