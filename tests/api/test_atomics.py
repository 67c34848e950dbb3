"""What becomes of an atomic whose result nobody reads, as a GPU counts it."""

import numpy as np
import pytest

import gpuviz

TEXT = """__global__ void count(unsigned *bins) {{
    unsigned was;
    asm volatile("atom{order}.global.add.u32 %0, [%1], 1;"
                 : "=r"(was) : "l"(bins + threadIdx.x) : "memory");
}}"""


@pytest.mark.parametrize(
    "order, kind",
    [
        ("", "reduction"),
        (".relaxed.gpu", "reduction"),
        (".release.gpu", "reduction"),
        (".acquire.gpu", "atomic"),
        (".acq_rel.gpu", "atomic"),  # as Triton writes it; read on an H200: 2,048 and 0
    ],
)
def test_only_what_acquires_stays_an_atomic(order: str, kind: str) -> None:
    counts = gpuviz.count(TEXT.format(order=order), 1, 32, (np.zeros(32, "u4"),))
    other = {"atomic": "reduction", "reduction": "atomic"}[kind]
    assert counts[f"global_{kind}_requests"] == 1 and counts[f"global_{kind}_sectors"] == 4
    assert counts[f"global_{other}_requests"] == 0
