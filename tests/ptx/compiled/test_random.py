"""Programs written at random: loops, divergence, barriers, shuffles, atomics, calls."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gpuviz.ptx.text.parser import parse
from tests.ptx.compiled.engines import same
from tests.ptx.launching import compiled
from tests.ptx.test_divergence import BLOCKS, MASK, THREADS, Writer, text

HELPERS = """
__noinline__ __device__ int twist(int a, int b) { if (a & 1) return a * 3 + b; return b - a / 5; }
__device__ float blend(float x, int k) { return x * 0.75f + (float)(k % 17); }
"""


class Source:
    """CUDA text: `v` and `w` are integers, `x` a float, of each thread; `s` is shared."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def write(self) -> str:
        body = self.statements(self.random.randint(4, 8), 2, True)
        return f"""{HELPERS}
extern "C" __global__ void k(const int* a, const float* b, int* o, float* q, int* h, int n) {{
  __shared__ int s[256];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int v = a[i], w = t * 7 + n; float x = b[i];
  s[t] = v; __syncthreads();
  {body}
  o[i] = v ^ w; q[i] = x;
}}
"""

    def statements(self, count: int, depth: int, together: bool) -> str:
        return "\n".join(self.statement(depth, together) for _ in range(count))

    def statement(self, depth: int, together: bool) -> str:
        plain = [self.compute, self.compute, self.compute, self.call, self.atomic]
        if together:
            plain += [self.shuffle, self.exchange, self.vote]
        if depth:
            plain += [self.choice, self.loop, self.choice]
        chosen = self.random.choice(plain)
        return chosen(depth, together) if chosen in (self.choice, self.loop) else chosen()

    def compute(self) -> str:
        return self.random.choice(
            [
                "v = v * 5 + w;",
                "w ^= v >> 3;",
                "v = min(v, w) + max(v, 3);",
                "x = x * 1.5f + v;",
                "x = fminf(x, 100.0f) / 3.0f;",
                "w = (int)x + w % 13;",
                "v += a[(v & 63) + blockIdx.x * 64];",
                "x = sqrtf(fabsf(x)) + b[i];",
                "v = __popc(w) + __clz(v | 1);",
                "w += t < 40 ? v : n;",
                "{ long long z = (long long)v * w; v = (int)(z >> 7); }",
                "x = (float)((double)x * 1.0625 + v);",
            ]
        )

    def call(self) -> str:
        return self.random.choice(["v = twist(v, w);", "x = blend(x, v);"])

    def atomic(self) -> str:
        return self.random.choice(["atomicAdd(&h[v & 7], w & 3);", "atomicAdd(&h[t & 7], 1);"])

    def shuffle(self) -> str:
        return self.random.choice(
            [
                "v += __shfl_xor_sync(~0u, w, 8);",
                "w = __shfl_down_sync(~0u, v, 3);",
                "v ^= __shfl_sync(~0u, w, v & 31);",
            ]
        )

    def vote(self) -> str:
        return self.random.choice(
            ["w += __ballot_sync(~0u, v & 1);", "v += __any_sync(~0u, w > 99);"]
        )

    def exchange(self) -> str:
        shift = self.random.choice([1, 17, 32, 63])
        return f"__syncthreads(); s[t] = v; __syncthreads(); w += s[(t + {shift}) % blockDim.x];"

    def choice(self, depth: int, together: bool) -> str:
        test = self.random.choice(["v & 1", "t < 33", "(w ^ v) % 3 == 0", "t & 16", "x > 2.0f"])
        one = self.statements(self.random.randint(1, 3), depth - 1, False)
        other = self.statements(self.random.randint(0, 2), depth - 1, False)
        return f"if ({test}) {{ {one} }} else {{ {other} }}"

    def loop(self, depth: int, together: bool) -> str:
        self.loops += 1
        name = f"j{self.loops}"
        same_for_all = together and self.random.random() < 0.6
        turns = "n" if same_for_all else self.random.choice(["(v & 7)", "(t & 3)", "(w & 5)"])
        body = self.statements(self.random.randint(1, 3), depth - 1, same_for_all)
        out = "if (v == 12345) break;" if not same_for_all else ""
        head = f"int {name} = 0, e{name} = {turns}; {name} < e{name}; ++{name}"
        return f"for ({head}) {{ {body} {out} }}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_kernels(seed: int) -> None:
    module = compiled(Source(seed).write(), ("sm_80", "sm_100")[seed % 2])
    rng = np.random.default_rng(seed)
    threads, blocks = random.Random(seed).choice([(64, 4), (128, 3), (96, 2), (80, 3), (256, 2)])
    count = threads * blocks + 256
    arguments = [
        rng.integers(-1000, 1000, count).astype(np.int32),
        rng.random(count, dtype=np.float32),
        np.zeros(count, np.int32),
        np.zeros(count, np.float32),
        np.zeros(8, np.int32),
        np.int32(5),
    ]
    (kernel,) = module.kernels
    result = same(module, kernel, (blocks, 1, 1), (threads, 1, 1), arguments, runs_on="")
    assert not isinstance(result, str)
    print(result.engine, result.engine_note)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 230))
def test_random_jumps(seed: int) -> None:
    module = parse(text(Writer(seed).write()))
    given = [np.full(BLOCKS * THREADS, MASK, np.uint32)]
    same(module, "k", (BLOCKS, 1, 1), (THREADS, 1, 1), given)
