import re

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import InputError, UnsupportedError
from gpuviz.compile import ptxas

programs = pytest.importorskip("tests.integrations.numba_programs", exc_type=ImportError)
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_an_elementwise_kernel(arch: str) -> None:
    x, y = (np.random.default_rng(seed).random(1000, "f4") for seed in (1, 2))
    out = np.zeros(1000, "f4")
    run = gpuviz.trace(programs.add, 4, 256, (x, y, out, 2), arch=arch)
    assert np.allclose(run.arrays["out"], x + 2 * y) and not out.any()
    assert run.kernel == "add" and run.level == ("sass" if ptxas.find() else "ptx")
    assert [row["code"] for row in run.lines] == ["out[i] = x[i] + factor * y[i]"]
    assert run.counts["global_load_sectors"] == 250


def test_a_histogram_with_atomics_in_shared_memory() -> None:
    values = np.random.default_rng(4).integers(0, 64, 2000)
    bins = np.zeros(64, "i4")
    gpuviz.trace(programs.histogram, 8, 256, (values, bins), inplace=True)
    assert (bins == np.bincount(values, minlength=64)).all()
    run = gpuviz.trace(programs.histogram, 8, 256, (values, bins))
    assert run.counts["shared_atomic_wavefronts"] > run.counts["shared_atomic_requests"]


def test_columns_of_a_tile_lie_in_one_bank() -> None:
    source = np.arange(64 * 64, dtype="f4").reshape(64, 64)
    args = (source, np.zeros_like(source))
    run = gpuviz.trace(programs.transpose, (2, 2), (32, 32), args)
    assert (run.arrays["target"] == source.T).all()
    assert run.counts["shared_load_wavefronts"] == 32 * run.counts["shared_load_requests"]
    last = run.lines.rows[-1][0]
    assert "32 wavefronts" in run.picture("banks", line=last).title


def test_views_have_the_strides_that_they_have() -> None:
    whole = np.zeros((100, 3), "f4")
    ones = np.ones(100, "f4")
    gpuviz.trace(programs.add, 1, 128, (ones, ones, whole[:, 1], 1.0), inplace=True)
    assert (whole == [0, 2, 0]).all()


@pytest.mark.parametrize(
    "args, block, error, said",
    [
        ((1, 2), 32, InputError, "takes 4 arguments (x, y, out, factor), by position; 2 were"),
        ((1,) * 4, None, InputError, "a launch needs a block"),
        ((np.ones(1), np.ones(1), np.ones(1), (1, 2)), 32, UnsupportedError, "argument factor is"),
        ((1, 2, 3, 4), 32, gpuviz.Error, "Numba does not compile add"),
    ],
)
def test_what_does_not_fit_is_told(
    args: tuple, block: int | None, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=re.escape(said)):
        gpuviz.trace(programs.add, 1, block, args)
