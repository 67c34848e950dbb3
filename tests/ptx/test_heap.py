"""malloc in kernels: what does not fit gives null, and programs that look are right."""

import numpy as np
import pytest

from gpuviz.compile import nvrtc
from gpuviz.ptx.emulator import Options
from gpuviz.traces.check_table import ALL
from tests.ptx.launching import launch

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
ASKS = """__global__ void k(int *out) {
    char *p = (char *)malloc(%s);
    if (p) { p[0] = 1; free(p); }
    out[threadIdx.x] = p != 0; }"""


@pytest.mark.parametrize("checks", [(), ALL], ids=["no checks", "all checks"])
@pytest.mark.parametrize(
    "size, given",
    [
        ("8 << 20", []),
        ("1ull << 62", []),
        ("~0ull - threadIdx.x", []),
        ("threadIdx.x == 5 ? 1ull << 40 : 64", [n for n in range(32) if n != 5]),
        ("threadIdx.x < 3 ? 5 << 20 : 64", [0, *range(3, 32)]),
    ],
)
def test_what_does_not_fit_is_null(size: str, given: list[int], checks: tuple[str, ...]) -> None:
    out = np.full(32, -1, np.int32)
    done = launch(ASKS % size, "k", 1, 32, out, arch="sm_90", options=Options(checks=checks))
    assert np.flatnonzero(done.outputs["arg0"]).tolist() == given
    assert done.trace.findings == ()


def test_a_kernel_may_ask_until_there_is_no_more() -> None:
    source = """__global__ void k(int *out) {
    int n = 0;
    while (char *p = (char *)malloc(1 << 20)) { p[0] = 1; n++; }
    out[threadIdx.x] = n; }"""
    options = Options(checks=ALL)
    done = launch(source, "k", 1, 4, np.zeros(4, np.int32), arch="sm_90", options=options)
    assert done.outputs["arg0"].sum() == 7 and done.trace.findings == ()
