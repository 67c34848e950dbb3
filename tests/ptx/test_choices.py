"""Which buffers choose, by the values in them, what is accessed."""

from __future__ import annotations

import pytest

from gpuviz.compile import compile_cuda
from gpuviz.ptx.text.choices import choosing
from gpuviz.ptx.text.parser import parse

BODIES = {
    "y[i] = x[i];": set[int](),
    "y[a[i]] = x[i];": {0},
    "y[a[b[i]]] = x[i];": {0, 1},
    "if (b[i]) y[i] = 1; else y[i + 1] = 2;": {1},
    "for (int j = a[i]; j < a[i + 1]; j++) y[j] = 1;": {0},
    "__shared__ int s[32]; s[i] = b[i]; __syncthreads(); y[s[31 - i]] = x[i];": {1},
    "y[i] = a[i] > 0 ? 1.f : 0;": set[int](),
}


@pytest.mark.parametrize("body", BODIES)
def test_values_that_choose_an_access_are_told_from_those_that_are_only_read(body: str) -> None:
    kernel = "__global__ void k(const int* a, const int* b, const float* x, float* y)"
    ptx = compile_cuda(f"{kernel} {{ int i = threadIdx.x; {body} }}").ptx
    function = parse(ptx).functions[0]
    names = set[str]().union(*choosing(function).values())
    assert {n for n, one in enumerate(function.params) if one.name in names} == BODIES[body]
