import doctest
import importlib
import json
import pkgutil
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gpuviz
import gpuviz.api
from gpuviz.api import tables
from gpuviz.base.errors import InputError, LaunchError, UnavailableError
from gpuviz.compile import compile_cuda, log

SCALE = "__global__ void scale(float *x, float a) { x[2 * threadIdx.x] *= a; }"
SHARED = """
__global__ void turn(const float *in, float *out) {
    __shared__ float tile[32 * 32];
    tile[threadIdx.x * 32 % 1024] = in[blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x * 32 % 1024];
}
"""
RACE = """__global__ void race(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}"""
MODULES = [f"gpuviz.api.{found.name}" for found in pkgutil.iter_modules(gpuviz.api.__path__)]


@pytest.mark.machine_code
@pytest.mark.parametrize("name", MODULES)
def test_examples_do_what_they_say(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.fixture(scope="module")
def turned() -> gpuviz.Run:
    given = np.arange(128, dtype="f4")
    return gpuviz.trace(SHARED, 4, 32, (given, np.zeros(128, "f4")))


@pytest.mark.machine_code
def test_a_run_tells_counts_and_results(turned: gpuviz.Run) -> None:
    assert turned.kernel == "turn" and turned.grid == (4, 1, 1) and turned.block == (32, 1, 1)
    assert (turned.arrays["out"] == np.arange(128)).all()
    assert turned.counts["shared_store_wavefronts"] == 4 * 32
    row = next(row for row in turned.counts if row["quantity"] == "global_load_sectors")
    assert row == {
        "quantity": "global_load_sectors",
        "predicted": 16,
        "measured": None,
        "difference": None,
    }
    assert [row["line"] for row in turned.lines] == [4, 6]
    assert "tile[threadIdx.x * 32 % 1024] = in" in turned.lines.rows[0][1]
    assert sum(row["share"] for row in turned.lines) == pytest.approx(1)
    assert all("bank" in row["what is wrong"] for row in turned.lines)
    assert [row["instruction"] for row in turned.lines.sass] == ["LDG.E", "STS", "LDS", "STG.E"]
    assert all("global" in row["code"] or "shared" in row["code"] for row in turned.lines.ptx)
    with pytest.raises(KeyError, match="is not counted; there are: global_load_requests"):
        turned.counts["sectors"]


@pytest.mark.machine_code
def test_reprs_are_small(turned: gpuviz.Run) -> None:
    assert len(repr(turned)) < 400 and len(repr(turned.counts)) < 2000
    assert "4 requests" in repr(turned) and "128 wavefronts" in repr(turned)
    assert turned.counts._repr_html_().startswith("<table>")
    assert len(turned._repr_html_()) < 600_000


@pytest.mark.machine_code
def test_tables_are_plain_data(turned: gpuviz.Run) -> None:
    assert json.loads(json.dumps(turned.counts.to_dict())) == turned.counts.to_dict()
    pandas = pytest.importorskip("pandas")
    frame = turned.counts.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns)[:2] == [
        "quantity",
        "predicted",
    ]


def test_arrays_are_copied_and_changed_only_when_asked() -> None:
    values = np.ones(64, "f4")
    run = gpuviz.trace(SCALE, 1, 32, (values, 3.0))
    assert (values == 1).all() and (run.arrays["x"][::2] == 3).all()
    gpuviz.trace(SCALE, 1, 32, (values, 3.0), inplace=True)
    assert (values[::2] == 3).all() and (values[1::2] == 1).all()


def test_a_view_is_passed_as_the_memory_it_spans() -> None:
    whole = np.zeros((32, 4), "f4")
    fill = "__global__ void fill(float *x) { x[4 * threadIdx.x] = threadIdx.x; }"
    gpuviz.trace(fill, 1, 32, (whole[:, 1],), inplace=True)
    assert (whole[:, 1] == np.arange(32)).all() and whole[:, [0, 2, 3]].sum() == 0


def test_an_array_given_twice_is_one_buffer() -> None:
    shift = "__global__ void shift(int *a, const int *b) { a[threadIdx.x] = b[threadIdx.x] + 1; }"
    both = np.arange(32, dtype="i4")
    run = gpuviz.trace(shift, 1, 32, (both, both))
    assert [buffer.name for buffer in run.trace.launch.buffers] == ["a"]
    assert (run.arrays["a"] == both + 1).all()
    half = gpuviz.trace(shift, 1, 16, (both[:17], both[1:]))
    assert any("share some of their memory" in note for note in half.notes)


@pytest.mark.parametrize(
    "args, said",
    [
        ((1.0,), "takes 2 arguments (x, a), 1 were given"),
        (({}, 1.0), "argument x is a dict: give an array"),
        ((np.zeros(0, "f4"), 1.0), "argument x has no elements"),
        ((np.zeros(4, "f4")[::-1], 1.0), "runs backwards"),
        ((np.array([{}]), 1.0), "holds Python objects"),
        ((np.zeros(64, "f4"), np.float64(1)), "is 4 bytes (.f32), a scalar float64 of 8 bytes"),
    ],
)
def test_arguments_that_do_not_fit_are_told(args: tuple, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        gpuviz.trace(SCALE, 1, 32, args)


def test_what_is_no_kernel_is_told() -> None:
    with pytest.raises(InputError, match="int is no kernel that gpuviz knows"):
        gpuviz.trace(3, 1, 32)
    with pytest.raises(InputError, match="a launch needs a block"):
        gpuviz.trace(SCALE, 1)
    with pytest.raises(LaunchError, match="grid 0"):
        gpuviz.trace(SCALE, 0, 32)
    with pytest.raises(InputError, match="cannot read nowhere.cu"):
        gpuviz.trace(Path("nowhere.cu"), 1, 32)


def test_numbers_take_the_type_of_their_parameter() -> None:
    text = """__global__ void f(double *out, double d, float f, int i, unsigned u, long long l,
                                unsigned char c, bool b)
    { out[0] = d; out[1] = f; out[2] = i; out[3] = u; out[4] = l; out[5] = c; out[6] = b; }"""
    out = np.zeros(7)
    run = gpuviz.trace(text, 1, 1, (out, 1.5, 2, -3, 2**32 - 1, -(2**40), 200, True))
    assert run.arrays["out"].tolist() == [1.5, 2, -3, 2**32 - 1, -(2**40), 200, 1]
    with pytest.raises(InputError, match="argument i is 4294967296: its parameter has 32 bits"):
        gpuviz.trace(text, 1, 1, (out, 1, 2, 2**32, 0, 0, 0, 0))


@pytest.mark.machine_code
def test_pictures_are_of_the_request_asked_for(turned: gpuviz.Run, tmp_path: Path) -> None:
    picture = turned.picture("banks", line=6)
    assert "32 wavefronts" in picture.title and picture._repr_svg_().startswith("<svg")
    assert turned.picture(line=4).time < picture.time
    assert turned.picture("coalescing", block=3).save(tmp_path / "x.svg").stat().st_size > 1000
    with pytest.raises(InputError, match="no banks request at line 99; .* at lines 4"):
        turned.picture("banks", line=99)
    with pytest.raises(InputError, match="there are: coalescing, banks, lanes, phases, buffer"):
        turned.picture("tiles")
    for panel in ("lanes", "phases", "buffer"):
        assert turned.picture(panel, line=4).svg() != picture.svg()
    with pytest.raises(InputError, match="there is no block 4: the grid has 4"):
        turned.picture(block=4)


@pytest.mark.machine_code
def test_findings_and_comparisons_are_tables(turned: gpuviz.Run) -> None:
    run = gpuviz.trace(RACE, 1, 64, ("i32[64]=zeros",), checks=("race",))
    assert {row["check"] for row in run.findings} == {"race"} and "finding" in repr(run)
    assert len(turned.findings) == 0
    row = next(r for r in run.compare(turned) if r["quantity"] == "global_load_sectors")
    assert (row["A"], row["B"], row["B / A"]) == (0, 16, None)


@pytest.mark.machine_code
def test_files_are_kernels_too(tmp_path: Path) -> None:
    file = tmp_path / "scale.cu"
    file.write_text(SCALE)
    run = gpuviz.trace(file, 1, 32, (np.ones(64, "f4"), 2.0))
    (tmp_path / "scale.ptx").write_text(run.trace.ptx)
    again = gpuviz.trace(str(tmp_path / "scale.ptx"), 1, 32, (np.ones(64, "f4"), 2.0))
    text = gpuviz.trace(run.trace.ptx, 1, 32, (np.ones(64, "f4"), 2.0))
    assert again.level == text.level == "ptx" and run.level == "sass"
    for other in (again, text):
        assert other.counts["global_load_sectors"] == run.counts["global_load_sectors"] == 8


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_what_a_kernel_takes_is_read_from_its_machine_code(arch: str) -> None:
    made = compile_cuda(SHARED, arch=arch)
    told, read = made.resources["_Z4turnPKfPf"], log.cubin_resources(made.cubin, "_Z4turnPKfPf")
    assert (read.registers, read.static_shared_bytes) == (told.registers, 4096)
    assert told.static_shared_bytes == 4096 and read.constant_bytes == told.constant_bytes


@pytest.mark.machine_code
def test_machine_code_beside_ptx_gives_the_sass_level(tmp_path: Path) -> None:
    made = compile_cuda(SHARED)
    (tmp_path / "turn.ptx").write_text(made.ptx)
    (tmp_path / "turn.cubin").write_bytes(made.cubin)
    run = gpuviz.trace(tmp_path / "turn.ptx", 1, 32, ("f32[32]=rand", "f32[32]=zeros"))
    assert run.level == "sass" and not any("machine code" in note for note in run.notes)
    alone = gpuviz.trace(tmp_path / "turn.cubin", 1, 32, ("f32[32]=rand", "f32[32]=zeros"))
    assert dict(alone.counts.to_dict()) == run.counts.to_dict() and alone.level == "sass"
    (tmp_path / "turn.cubin").write_bytes(made.cubin[:70])
    with pytest.raises(InputError, match="holds no PTX: have it compiled with line information"):
        gpuviz.trace(tmp_path / "turn.cubin", 1, 32, ("f32[32]=rand", "f32[32]=zeros"))
    with pytest.raises(InputError, match="is no machine code, or is damaged"):
        gpuviz.trace(tmp_path / "turn.ptx", 1, 32, ("f32[32]=rand", "f32[32]=zeros"))


def test_lessons_are_told_with_values() -> None:
    told = gpuviz.lessons["banks"](stride=8)
    assert told.values["stride"] == 8 and len(repr(told)) < 1000
    run = told.runs["warp"]
    assert run.counts["shared_load_wavefronts"] == 8 * run.counts["shared_load_requests"]
    assert list(gpuviz.lessons)[0] == "hierarchy" and len(gpuviz.lessons) > 20
    assert "stride" in repr(gpuviz.lessons["banks"])
    with pytest.raises(KeyError, match="there is no lesson 'bank'"):
        gpuviz.lessons["bank"]
    with pytest.raises(UnavailableError, match="not of a kernel that could be launched"):
        run.measure()


@pytest.mark.slow
def test_a_sweep_is_a_table_of_counts() -> None:
    def at(step: int, threads: int) -> gpuviz.Table:
        text = "__global__ void f(float *x) { x[threadIdx.x * STEP] = 1; }"
        return gpuviz.count(text, 1, threads, ("f32[1024]=zeros",), defines={"STEP": step})

    table = gpuviz.sweep(at, step=(1, 2, 64), threads=(32,))
    assert table.columns[:2] == ("step", "threads")
    assert [row["global_store_sectors"] for row in table] == [4, 8, None]
    assert "error" in table.columns  # threads of step 64 write outside
    with pytest.raises(InputError, match="nothing is varied"):
        gpuviz.sweep(at)


def test_predictions_are_verified_against_a_file() -> None:
    table = gpuviz.verify("tests/data/h200_shared_wavefronts.json")
    assert table.equal and len(table) > 10 and "H200" in table.caption


@pytest.mark.machine_code
def test_the_lines_that_cost_most_are_first(turned: gpuviz.Run) -> None:
    first = next(iter(turned.costly))
    assert (first["line"], first["lesson"], first["unit"]) == (4, "banks", "wavefronts")
    assert first["cost"] == 32 * first["ideal"] and "in place of one" in first["reason"]
    assert first["access"] in turned.trace.source  # the expression, not the instruction


@pytest.mark.machine_code
def test_a_run_tells_where_its_time_goes(turned: gpuviz.Run, tmp_path: Path) -> None:
    limits = turned.limits
    assert limits.limiter == "latency" and "warps wait" in limits.sentence
    assert {row["resource"] for row in limits} >= {"latency", "wavefronts"}
    assert "errs by" in limits.caption and limits.microseconds > 2.2
    assert limits.what_ifs.rows[0][0] == "latency"
    timeline = turned.timeline()
    assert timeline.record.cycles == limits.cycles
    assert "modelled" in repr(timeline) and "1 blocks" not in repr(timeline)
    assert "block 0" in timeline.picture().svg()
    assert timeline.picture(100, 120).svg() != timeline.picture().svg()
    assert "Only 4 blocks for 132 multiprocessors. Limited by" in turned.picture("limits").title
    assert timeline.save(tmp_path / "turn.trace.json").stat().st_size > 1000
    assert "duration_ns" not in turned.counts.to_dict()["quantity"]
    with pytest.raises(UnavailableError, match="sm_75"):
        _ = gpuviz.trace(SHARED, 1, 32, ("f32[32]=rand", "f32[32]=zeros"), arch="sm_75").limits


@pytest.mark.machine_code
def test_time_and_traffic_stand_among_the_counts_where_they_are_asked_for() -> None:
    arguments = ("f32[4096]=rand", "f32[4096]=zeros")
    copy = """__global__ void copy(float *a, float *b) {
        int i = blockIdx.x * 256 + threadIdx.x;
        b[i] = a[i];
    }"""
    run = gpuviz.trace(copy, 16, 256, arguments, time=True)
    rows = {row["quantity"]: row for row in run.counts}
    assert rows["duration_ns"]["predicted"] == round(run.limits.microseconds * 1e3)
    assert run.counts["l2_to_l1_sectors"] == run.counts["global_load_sectors"] == 512
    assert rows["dram_read_sectors"]["measured"] is None
    measured = replace(
        run._run,
        measurement=SimpleNamespace(values=lambda: {"l2_to_l1_sectors": 520.0, "other": 1.0}),
    )
    beside = {row["quantity"]: row for row in tables.Counts(measured)}
    assert beside["l2_to_l1_sectors"]["difference"] == 8 and beside["other"]["predicted"] is None
    elsewhere = gpuviz.trace(copy, 16, 256, arguments, arch="sm_80", time=True)
    assert "no time is modelled for sm_80" in elsewhere.notes[-1]
    assert elsewhere.counts["global_load_sectors"] == 512
