"""`Run.measure`, with a made-up GPU at the end of the worker's pipe."""

from functools import partial

import pytest

import gpuviz
from gpuviz.base.errors import InputError
from gpuviz.gpu import client
from tests.gpu.test_client import FAKE

MADE_UP = partial(client.Gpu, arguments=FAKE, limit=10)
TEXT = "__global__ void plain(float *x) { x[threadIdx.x] = 1; }"


@pytest.mark.slow
def test_what_a_gpu_says_stands_beside_what_is_predicted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("FAKE_LOG", f"{tmp_path}/log")
    monkeypatch.setattr(client, "Gpu", lambda device: MADE_UP())
    run = gpuviz.trace(TEXT, 1, 32, ("f32[32]=zeros",))
    with pytest.raises(InputError, match="was counted for sm_80: trace it with arch="):
        gpuviz.trace(TEXT, 1, 32, ("f32[32]=zeros",), arch="sm_80").measure()
    measured = run.measure(repeats=4)
    assert not run.times and measured.times["median_us"] > 0
    assert measured.counts["global_store_sectors"] == run.counts["global_store_sectors"] == 4
