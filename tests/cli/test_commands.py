"""The command line, as scripts use it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gpuviz.cli import main
from gpuviz.course import SCENES

SAXPY = """
template <typename T> __global__ void saxpy(int n, T a, const T* x, T* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void saxpy<float>(int, float, const float*, float*);
"""
LAUNCH = ["--grid", "4", "--block", "256", "--arg", "i32=1000", "--arg", "f32=2"]
SHORT = ["--arg", "f32[8]=rand", "--arg", "f32[1024]=ones"]
BUFFERS = ["--arg", "f32[1024]=rand", "--arg", "f32[1024]=ones"]


@pytest.fixture
def saxpy(tmp_path: Path) -> str:
    file = tmp_path / "saxpy.cu"
    file.write_text(SAXPY)
    return str(file)


def test_count_prints_json_with_the_promised_keys(
    saxpy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["count", saxpy, "--entry", "saxpy", *LAUNCH, *BUFFERS, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {
        "kernel",
        "arch",
        "level",
        "grid",
        "block",
        "blocks_emulated",
        "registers_per_thread",
        "static_shared_bytes",
        "thread_instructions",
        "warp_instructions",
        "totals",
        "instructions",
    } <= found.keys()
    assert found["totals"]["global_load_requests"] == 64  # 32 warps read x and y
    assert found["totals"]["global_store_sectors"] == 125  # 1000 of 1024 floats
    assert {(row["op"], row["width"], row["line"]) for row in found["instructions"]} == {
        ("load", 4, 5),
        ("store", 4, 5),
    }


def test_count_tells_people_the_same(saxpy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", saxpy, *LAUNCH, *BUFFERS, "--level", "ptx"]) == 0
    text = capsys.readouterr().out
    assert "saxpy<float>" in text and "global_load_requests" in text and "predicted" in text


def test_count_of_some_blocks_says_so(saxpy: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["count", saxpy, *LAUNCH, *BUFFERS, "--blocks", "2", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["blocks_emulated"] == 2
    assert any("2 of 4 blocks" in note for note in found["notes"])


def test_arguments_from_a_file(
    saxpy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "x.npy", np.arange(1024, dtype=np.float32))
    arguments = ["--arg", f"f32[1024]=@{tmp_path / 'x.npy'}", "--arg", "f32[1024]=zeros"]
    assert main(["count", saxpy, *LAUNCH, *arguments, "--json"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["count"], "nothing to launch"),
        (["count", "nowhere.cu", "--grid", "1", "--block", "1"], "nowhere.cu"),
        (["count", "FILE", "--grid", "1"], "--block"),
        (["count", "FILE", "--entry", "absent", *LAUNCH, *BUFFERS], "absent"),
        (["count", "FILE", *LAUNCH], "takes 4 arguments"),
        (["count", "FILE", *LAUNCH, *SHORT, "--check", "none"], "past the end of buffer x"),
        (
            ["count", "FILE", "--grid", "4", "--block", "2048", *LAUNCH[4:], *BUFFERS],
            "at most 1\u202f024",
        ),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--arch", "sm_1234"], "sm_1234"),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--budget", "soon"], "'soon'"),
        (["count", "--scene", "coalescing", "--set", "stride=99"], "1 to 32"),
        (["count", "--scene", "coalescing", "--set", "steps=1"], "no parameter"),
        (["render", "--scene", "absent", "-o", "x.png"], "there is no lesson"),
        (["render", "--scene", "coalescing", "-o", "x.bmp"], "PNG"),
        (["render", "--all", "--format", "bmp", "-o", "x"], "cannot be written"),
        (["render", "--all", "-o", "FILE"], "is a file"),
        (["render", "--all", "-o", "none/pages"], "no folder none; make it first"),
        (["render", "--scene", "coalescing", "-o", "none/deep/x.png"], "no folder none/deep"),
        (["render", "--lecture", "coalescing-and-banks", "-o", "none/a.pdf"], "no folder none"),
        (["render", "--lecture", "coalescing-and-banks", "-o", "none/all"], "no folder none"),
        (["present", "coalescing-and-banks", "--pack", "none/a.gpuviz-lecture"], "no folder none"),
        (["verify", "absent.json"], "absent.json"),
        (["frobnicate"], "invalid choice"),
        (["count", "FILE", "--grid", "4;4", "--block", "256"], "as in 16 or 16,16"),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--blocks", "0"], "from 1 up"),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--budget", "-1"], "no number of seconds above 0"),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--dynamic-shared", "-4"], "0 or more"),
        (
            ["count", "FILE", *LAUNCH, "--arg", "f32[99999999999999]=ones", *BUFFERS[2:]],
            "of memory",
        ),
        (["count", "FILE", *LAUNCH, *BUFFERS, "--set", "stride=2"], "--set stride changes nothing"),
        (["count", "--scene", "coalescing", "--grid", "4"], "--grid is for a FILE"),
        (["render", "--scene", "coalescing", "--size", "wide", "-o", "x.png"], "as in 1920x1080"),
        (["render", "--scene", "coalescing", "--time", "nan", "-o", "x.png"], "not a number"),
        (["render", "--scene", "coalescing", "--scale", "0", "-o", "x.png"], "from 0.5 to 4"),
    ],
)
def test_errors_are_one_message_and_status_2(
    arguments: list[str], words: str, saxpy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([saxpy if a == "FILE" else a for a in arguments])
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err.startswith("gpuviz: ") and words in captured.err


def test_names_that_begin_like_options(
    saxpy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("-x.cu", "--version.cu"):
        (tmp_path / name).write_text(SAXPY)
        assert main(["count", *LAUNCH, *BUFFERS, "--", name]) == 0
        assert main(["check", "--", name]) == 0


def test_a_kernel_that_does_not_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.cu"
    file.write_text('extern "C" __global__ void f(int* a) { a[0] = b; }')
    assert main(["count", str(file), "--grid", "1", "--block", "1", "--arg", "i32[1]=ones"]) == 2
    assert "bad.cu:1:" in capsys.readouterr().err


def test_list_and_every_lesson_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in listed] == [one.id for one in SCENES]
    assert all(one["parameters"] and one["presets"] for one in listed)


def test_check_names_what_is_unsupported(
    saxpy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", saxpy]) == 0
    texture = tmp_path / "texture.cu"
    texture.write_text(
        'extern "C" __global__ void f(float* o, cudaTextureObject_t t)\n'
        "{ o[threadIdx.x] = texCubemap<float>(t, 0.5f, 0.5f, 0.5f); }\n"
    )
    capsys.readouterr()
    assert main(["check", str(texture), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)[0]["kernels"][0]
    assert not found["supported"] and found["unsupported"][0]["line"] == 2
    assert main(["check", str(texture)]) == 1
    assert "CUDA line 2, PTX line" in capsys.readouterr().out


def test_check_names_the_file_that_is_not_ptx(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lost.ptx"
    file.write_text(".version 8.0\n.target sm_80\n.visible .entry k() { bra NOWHERE; }")
    assert main(["check", str(file)]) == 2
    assert "lost.ptx: PTX line 3: there is no label NOWHERE" in capsys.readouterr().err


def test_a_source_with_a_byte_order_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "windows.cu"
    file.write_bytes(b"\xef\xbb\xbf" + SAXPY.replace("\n", "\r\n").encode())
    assert main(["check", str(file)]) == 0
    assert "saxpy<float>" in capsys.readouterr().out


MEASURED = {
    "source": "k.cu",
    "grid": [1],
    "block": [32],
    "args": ["i32[32]=zeros"],
    "measured": {"global_store_sectors": 4},
}
PATTERN = {"op": "load", "width_bytes": 4, "index": list(range(32)), "wavefronts": 1}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "neither"),
        ({"launches": None}, "launches: expected a list, got null"),
        ({"launches": [3]}, "launches/0: expected a table, got 3"),
        ({"launches": [{"name": "x", "source": "k.cu"}]}, 'launches/0: "grid" is missing'),
        *(
            ({"launches": [{**MEASURED, field: wrong}]}, f"launches/0/{field}")
            for field, wrong in (
                ("grid", 5),
                ("grid", [1.5]),
                ("args", [3]),
                ("args", None),
                ("measured", {"a": "x"}),
                ("dynamic_shared", "x"),
                ("defines", 3),
                ("source", 3),
                ("entry", 7),
            )
        ),
        *(
            ({"cases": [{**PATTERN, field: wrong}]}, f"cases/0/{field}")
            for field, wrong in (
                ("op", 3),
                ("width_bytes", "x"),
                ("index", [1, 2]),
                ("index", [2**62] * 32),
                ("wavefronts", None),
            )
        ),
        (
            {"cases": [{**PATTERN, "index": [10**30] * 32}]},
            "cases/0/index/0: expected a whole number",
        ),
        ({"cases": [{**PATTERN, "width_bytes": 3}]}, "3 bytes"),
    ],
)
def test_verify_says_what_is_wrong_with_a_file(
    content: object, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "measured.json"
    file.write_text(json.dumps(content))
    (tmp_path / "k.cu").write_text("__global__ void k(int* a) { a[threadIdx.x] = 1; }")
    assert main(["verify", str(file)]) == 2
    assert words in capsys.readouterr().err


def test_verify_equal_and_different(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.cu").write_text(
        'extern "C" __global__ void f(float* a, float* b){ b[threadIdx.x] = a[2 * threadIdx.x]; }'
    )
    launch = {
        "name": "two",
        "source": "k.cu",
        "entry": "f",
        "grid": [1],
        "block": [64],
        "args": ["f32[128]=rand", "f32[64]=zeros"],
        "measured": {"global_load_sectors": 16.0, "global_load_requests": 2.0},
    }
    file = tmp_path / "measured.json"
    file.write_text(
        json.dumps({"device": "test", "compute_capability": "9.0", "launches": [launch]})
    )
    assert main(["verify", str(file)]) == 0
    assert "predicted" not in capsys.readouterr().out
    launch["measured"]["instructions"] = 9.0  # type: ignore[index]
    launch["measured"]["global_load_sectors"] = 17.0  # type: ignore[index]
    file.write_text(json.dumps({"compute_capability": "9.0", "launches": [launch]}))
    capsys.readouterr()
    assert main(["verify", str(file)]) == 1
    said = capsys.readouterr().out
    assert "+1" in said and said.endswith("measured, but not predicted: instructions\n")


@pytest.mark.slow
def test_render_as_a_process(tmp_path: Path) -> None:
    out = tmp_path / "picture.png"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "gpuviz",
            "render",
            "--scene",
            "coalescing",
            "--size",
            "640x400",
            "--theme",
            "light",
            "-o",
            str(out),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["list", "count", "check", "render", "verify"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    assert f"gpuviz {command}" in capsys.readouterr().out.split("example")[-1]


def test_a_mistake_of_our_own_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: object) -> int:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("gpuviz.cli.list.run", broken)
    assert main(["list"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setenv("GPUVIZ_DEBUG", "1")
    assert main(["list"]) == 2
    assert "in broken" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 31.0 MiB for an array"),
        ImportError("libXau.so.6: failed to map segment from shared object"),
    ],
)
def test_little_memory_is_no_mistake_of_our_own(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hungry(arguments: object) -> int:
        raise error

    monkeypatch.setattr("gpuviz.cli.list.run", hungry)
    assert main(["list"]) == 3
    said = capsys.readouterr().err
    assert "too little free memory" in said and "mistake" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts elsewhere")
def test_names_of_files_need_not_be_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / os.fsdecode(b"\xff\xfe")
    folder.mkdir()
    (folder / os.fsdecode(b"\xe9.cu")).write_text(SAXPY)
    file, lecture = str(folder / os.fsdecode(b"\xe9.cu")), folder / "one.gpuviz-lecture"
    assert main(["count", file, "--entry", "saxpy", *LAUNCH, *BUFFERS]) == 0
    (folder / "plain.cu").write_text("__global__ void k(int *o) { o[threadIdx.x] = 1; }")
    lecture.write_text(
        'gpuviz-lecture = 1\ntitle = "One"\n\n[[slide]]\ntitle = "own"\n[slide.kernel]\n'
        'file = "plain.cu"\nentry = "k"\ngrid = "1"\nblock = "32"\narguments = "i32[32]=zeros"\n'
    )
    pictures = folder / os.fsdecode(b"\xfa")
    assert main(["render", "--lecture", str(lecture), "-o", str(pictures)]) == 0
    assert "mistake" not in capsys.readouterr().err


@pytest.mark.machine_code
def test_why_says_what_limits_and_draws_it(
    saxpy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = ["why", saxpy, "--entry", "saxpy", *LAUNCH, *BUFFERS]
    out = tmp_path / "saxpy.svg"
    assert main([*launch, "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "Limited by latency" in said and "line 5: if (i < n) y[i] = a * x[i] + y[i];" in said
    assert "modelled for an NVIDIA H200" in said
    assert "block 0" in out.read_text() and "Limited by latency" in out.read_text()
    assert main([*launch, "--json", "-o", str(tmp_path / "saxpy.trace.json")]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["limiter"] == "latency" and plain["line"] == 5
    assert plain["microseconds"] > 2.2 and plain["waits"]["memory"] > 0.2
    assert json.loads((tmp_path / "saxpy.trace.json").read_text())["traceEvents"]
    assert main([*launch, "--since", "400"]) == 0
    assert "instructions are shown from cycle 400 to" in capsys.readouterr().out
    assert main([*launch, "--since", "1e9"]) == 2
    assert "the multiprocessor works from 0 to" in capsys.readouterr().err
    assert main([*launch, "--arch", "sm_80"]) == 3
    assert "no time is modelled for sm_80" in capsys.readouterr().err
