from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture as arch
from gpuviz.base.errors import UnavailableError
from gpuviz.cli import main
from gpuviz.course import lesson
from gpuviz.ptx.options import Options
from gpuviz.run import verification
from gpuviz.run.predicted import launched
from gpuviz.run.timing import Quantity, Row, summary
from gpuviz.sass.listing import read_listings
from gpuviz.story.perform import job_of
from gpuviz.timing.device import H200
from gpuviz.timing.explanation import limits, mended
from gpuviz.timing.facts import Circumstances, facts
from gpuviz.timing.interval import ratios
from gpuviz.timing.prediction import nearness, predict
from gpuviz.timing.sample import blocks_of, sample
from gpuviz.timing.schedule import Kind, Pipe, code_of
from gpuviz.timing.traffic import _half_packets, _packets
from tests.timing.launches import FILE, MEASURED, known


@pytest.mark.machine_code
def test_issued_instructions_are_those_counted() -> None:
    for name in ("copy1_2e18", "shloop_32"):
        prediction = predict(known(name), H200)
        assert prediction.instructions == MEASURED[name]["measured"]["instructions"], name


@pytest.mark.machine_code
def test_a_loop_unrolled_with_its_barriers_runs_as_often_as_it_did() -> None:
    """Four turns are one block of machine code with one test; each turn ran all four."""
    n = 64
    one = lesson("caches")
    plan = next(p for p in one.plan(one.defaults()) if p.role == "tiled")
    size = f"f32[{n * n}]"
    given = (f"{size}=rand", f"{size}=rand", f"{size}=zeros", *[f"i32={n}"] * 3)
    small = replace(plan, grid=(n // 16, n // 16, 1), arguments=given)
    prediction = predict(launched(job_of(small, "sm_90"), arch("9.0"), H200, Options()), H200)
    loads = np.array(["LDG" in one.text for one in prediction.code])
    warps = len(prediction.work.blocks) * prediction.work.warps
    assert prediction.outcome.issued[loads].sum() == warps * 2 * n / 16


@pytest.mark.machine_code
def test_streaming_traffic_is_exact() -> None:
    prediction = predict(known("copy1_2e18"), H200)
    cold = MEASURED["copy1_2e18"]["cold"]
    assert prediction.l2_to_l1 == cold["l2_to_l1_sectors"]
    assert prediction.dram_read == pytest.approx(cold["dram_read_sectors"], rel=0.002)


@pytest.mark.machine_code
def test_bank_conflicts_limit_and_are_mended() -> None:
    prediction = predict(known("shloop_32"), H200)
    found = limits(prediction)
    assert found.limiter == "wavefronts" and found.line == 1
    assert found.bounds[0].cycles == pytest.approx(132_000, rel=0.02)  # 131,072 of the loop
    assert mended(prediction, "wavefronts").cycles < 0.1 * found.cycles
    assert mended(prediction, "dram").cycles == pytest.approx(found.cycles, rel=0.01)


@pytest.mark.machine_code
def test_control_codes_are_read() -> None:
    text = """\
.section .text.k
        /*0000*/  S2R R3, SR_CTAID.X ;  /* 0x0000000000037919 */
                                        /* 0x000e2e0000002500 */
        /*0010*/  IMAD R3, R3, UR4, R2 ;  /* 0x0000000403037c24 */
                                        /* 0x001fe2000f8e0202 */
"""
    code = code_of(read_listings(text)["k"].instructions)
    assert code.stall.tolist() == [7, 1] and code.sets.tolist() == [0, 7]
    assert code.waits.tolist() == [0, 1]
    assert code.kind.tolist() == [Kind.QUEUED, Kind.COMPUTE]
    assert code.pipe.tolist() == [Pipe.MIO, Pipe.HEAVY]


def test_every_block_is_dealt_out_once() -> None:
    for blocks in (1, 131, 132, 200, 256, 264, 1000):
        dealt = [b for p in range(min(132, blocks)) for b in blocks_of(H200, p, blocks)]
        assert sorted(dealt) == list(range(blocks))


def test_a_sample_is_cut_at_whole_rounds() -> None:
    cut = sample(H200, 65536, 8, 5000.0, 1000.0)
    assert [len(share) for share in cut.shares] == [24] and cut.most == 497 and not cut.whole
    huge = sample(H200, 65536, 32, 1000.0, 50_000.0)
    assert [len(share) for share in huge.shares] == [6]
    small = sample(H200, 264, 8, 10.0, 10.0)
    assert [len(share) for share in small.shares] == [2] * 4 and small.whole


def test_who_comes_first_finds_nothing_near() -> None:
    together = np.array([0.0, 100.0, 200.0, -1.0])
    assert [n.max() for n in nearness([together, together], 50.0, 132)] == [0.0, 0.0]
    late = nearness([together, together + 300.0], 50.0, 132)
    assert late[0].max() == 0.0 and late[1][:3].min() == 1.0


def test_the_summary_counts_long_launches_and_their_order() -> None:
    def row(us: float, measured: float, limiter: str) -> Row:
        exact = Quantity(4.0, 4.0)
        times = Quantity(us, measured)
        return Row("k", "k", "cold", times, exact, exact, limiter, 1, ("l1", "latency"), 0.1, "l1")

    found = summary([row(11.0, 10.0, "lines"), row(30.0, 20.0, "dram"), row(9.0, 4.0, "latency")])
    assert found.time is not None and found.time.count == 2
    assert found.time.median == pytest.approx(30.0) and found.pairs == 100.0
    assert found.limiter == pytest.approx(100 * 2 / 3) and found.missed == ("time", "limiter")
    every = found.classes["l1"]
    assert every.errors.count == 3 and every.errors.worst == pytest.approx(125.0)
    assert every.low == pytest.approx(0.4889, abs=1e-3) and found.classes["all"] == every


def test_a_file_without_times_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "none.json"
    file.write_text('{"launches": []}')
    assert main(["verify", "--time", str(file)]) == 2
    assert "holds no times" in capsys.readouterr().err


@pytest.mark.machine_code
@pytest.mark.slow
def test_an_h200_is_met_within_the_bars(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--time", str(FILE)]) == 0
    said = capsys.readouterr().out
    assert "missed" not in said
    median, nine = H200.error
    assert f"time median {median:.1f} % p90 {nine:.1f} %" in said


def test_lanes_that_meet_at_an_address_send_packets() -> None:
    lanes = np.arange(32, dtype=np.uint64)
    address = np.stack(
        [lanes * np.uint64(4), lanes * np.uint64(0), lanes % np.uint64(4) * np.uint64(32)]
    )
    every = np.ones((3, 32), bool)
    assert _packets(address, every).tolist() == [4, 32, 32]
    assert _packets(address, every & (lanes < 8)).tolist() == [1, 8, 8]


@pytest.mark.machine_code
def test_constants_that_are_loaded_again_get_no_time() -> None:
    """Modelled without their replays they took 44 us, where an H200 took 1,070."""
    one = lesson("constant-memory")
    for words, refused in ((1, False), (8, True)):
        every = one.plan(one.defaults() | {"distinct": words})
        job = job_of(next(p for p in every if p.role == "constant"), "sm_90")
        with pytest.raises(UnavailableError, match="loaded again") if refused else nullcontext():
            launched(job, arch("9.0"), H200, Options())


def test_floats_at_one_address_wait_for_each_other() -> None:
    address = np.zeros((1, 32), np.uint64)
    one = np.arange(32)[None, :] == 0
    assert _half_packets(address, one, False).tolist() == [2]
    assert _half_packets(address, one, True).tolist() == [5]
    assert _half_packets(address, np.ones((1, 32), bool), True).tolist() == [160]


def test_what_l2_still_holds_is_not_written_to_memory() -> None:
    def write(written: int, used: int) -> float:
        return facts(H200, Circumstances(4096, 8, 0, written, used, 0, 0.0), code_of([])).dram_write

    megabyte = 1_000_000
    assert write(16 * megabyte, 16 * megabyte) == 0.0  # all stays
    alone, beside = write(64 * megabyte, 64 * megabyte), write(64 * megabyte, 128 * megabyte)
    assert 0.0 < alone < beside  # what is read takes room, and memory turns round


def test_a_class_that_hardly_anybody_measured_has_the_interval_of_all() -> None:
    assert ratios(H200, "tensor") == H200.interval["all"] != ratios(H200, "atomics")


@pytest.mark.machine_code
@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax_warp_64", "hashes_256", "copy_four_256"])
def test_divisions_and_unrolled_whole_numbers_are_followed(name: str) -> None:
    measured = verification.load(FILE.with_name("h200_variants.json"))
    launch = next(one for one in measured.launches if one.name == name)
    job = verification.job_of(measured, launch)
    made = predict(launched(job, measured.arch, H200, Options()), H200)
    assert made.instructions == pytest.approx(launch.measured["instructions"] or 0.0, rel=0.03)
