"""Traces survive the way to disk and back; damaged, foreign and newer files are refused."""

import json
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.arguments import parse
from gpuviz.base.errors import FormatError, InputError
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.run import emulated
from gpuviz.traces.file import load, save
from gpuviz.traces.trace import Requests, Trace

SOURCE = """extern "C" __global__ void f(const float* in, float* out, int n) {
  __shared__ float s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  if (threadIdx.x < 40) s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = s[(threadIdx.x * 3) & 63] + n;
}"""


@pytest.fixture(scope="module")
def trace() -> Trace:
    job = Job(
        compile_cuda(SOURCE),
        "f",
        (4, 1, 1),
        (64, 1, 1),
        tuple(map(parse, ("f32[256]=rand", "f32[256]=zeros", "i32=3"))),
    )
    return emulated.run(
        job, architecture("sm_90"), options=Options(record=(0, 2), checks=("init",))
    ).trace


def test_round_trip(trace: Trace, tmp_path: Path) -> None:
    save(trace, tmp_path / "a.trace")
    back = load(tmp_path / "a.trace")
    for name in Requests.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(back.requests, name), getattr(trace.requests, name))
    plain = {n: getattr(trace, n) for n in Trace.__dataclass_fields__ if n != "requests"}
    assert {n: getattr(back, n) for n in plain} == plain
    assert trace.findings and asdict(back.findings[0]) == asdict(trace.findings[0])
    assert not back.requests.address.flags.writeable


def test_the_way_through_the_program_survives_too(tmp_path: Path) -> None:
    job = Job(
        compile_cuda(SOURCE),
        "f",
        (4, 1, 1),
        (64, 1, 1),
        tuple(map(parse, ("f32[256]=rand", "f32[256]=zeros", "i32=3"))),
    )
    trace = emulated.run(job, architecture("sm_90"), options=Options(path=True)).trace
    save(trace, tmp_path / "a.trace")
    back = load(tmp_path / "a.trace")
    assert back.stretches == trace.stretches and len(back.stretches) > 1
    assert back.path is not None and trace.path is not None
    for name in vars(trace.path):
        np.testing.assert_array_equal(getattr(back.path, name), getattr(trace.path, name))


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04broken"])
def test_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FormatError):
        load(tmp_path / "x")


@pytest.mark.parametrize("change", [{"version": 99}, {"format": "other"}, {"launch": None}])
def test_foreign_and_newer(trace: Trace, change: dict[str, object], tmp_path: Path) -> None:
    save(trace, tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as old, zipfile.ZipFile(tmp_path / "b", "w") as new:
        manifest = json.loads(old.read("manifest.json")) | change
        new.writestr("manifest.json", json.dumps(manifest))
        new.writestr("requests.npz", old.read("requests.npz"))
    with pytest.raises(FormatError):
        load(tmp_path / "b")


def test_an_address_beyond_any_memory(trace: Trace, tmp_path: Path) -> None:
    far = replace(trace.requests, address=np.full_like(trace.requests.address, 2**64 - 1))
    save(replace(trace, requests=far), tmp_path / "far")
    with pytest.raises(FormatError, match="an address in it is beyond any memory"):
        load(tmp_path / "far")


def test_missing(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        load(tmp_path / "absent")
    with pytest.raises(InputError):
        save(trace, tmp_path / "no" / "folder")
