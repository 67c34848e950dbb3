"""Defects that were put in on purpose are refused, and right kernels are not."""

import pytest

import gpuviz
from gpuviz.api.expectation import ExpectationError
from tests.assertions.kernels import DEMANDS, KERNELS, Kernel, defects, demand, right

pytestmark = pytest.mark.slow


def test_how_many_there_are() -> None:
    assert len(list(defects())) >= 50
    assert len(list(right())) >= 180


@pytest.mark.parametrize(
    ("kernel", "defect"), [pytest.param(k, d, id=f"{k.name}, {d}") for k, d in defects()]
)
def test_a_defect_is_refused(kernel: Kernel, defect: str) -> None:
    n = kernel.sizes[3]
    with pytest.raises(ExpectationError) as refused:
        demand(kernel, n, kernel.run(n, defect), kernel.defects[defect][2], kernel.run(n))
    assert refused.value.judgement.holds is False


@pytest.mark.parametrize(
    ("kernel", "n"), [pytest.param(k, n, id=f"{k.name}, {n}") for k, n in right()]
)
def test_a_right_kernel_is_not(kernel: Kernel, n: int) -> None:
    run = kernel.run(n)
    for what in DEMANDS:
        if what not in kernel.data_decide:
            demand(kernel, n, run, what, run)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_failure_is_drawn(kernel: Kernel) -> None:
    n = kernel.sizes[3]
    for defect, (_, _, what) in kernel.defects.items():
        if what not in ("conflicts", "sectors"):
            continue
        with pytest.raises(ExpectationError) as refused:
            demand(kernel, n, kernel.run(n, defect), what, kernel.run(n))
        picture = refused.value.picture()
        assert isinstance(picture, gpuviz.Picture)
        assert picture.svg().startswith("<")
