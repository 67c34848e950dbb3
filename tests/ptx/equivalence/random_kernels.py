"""Kernels written at random whose indices are sums, quotients, remainders of thread and block."""

from __future__ import annotations

import random

SIZE = 1 << 14  # elements of a buffer


class Writer:
    """Writes one kernel: `k(in, out, w, n)` over buffers of `SIZE` floats."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kind = self.pick("int", "int", "unsigned", "long long")
        self.names = ["x", "y", "lin"]

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, *choices: int) -> int:
        return self.random.choice(choices)

    def leaf(self) -> str:
        kinds = (
            *self.names * 2,
            "threadIdx.x",
            "threadIdx.y",
            "blockIdx.x",
            "blockIdx.y",
            "w",
            "n",
            str(self.number(0, 1, 2, 3, 4, 7, 16, 33, 100)),
        )
        return f"({self.kind}){self.pick(*kinds)}"

    def index(self, depth: int = 2) -> str:
        """An expression of whole numbers."""
        if not depth or self.random.random() < 0.2:
            return self.leaf()
        a, b = self.index(depth - 1), self.index(depth - 1)
        k = self.number(1, 2, 3, 4, 5, 8, 10, 16, 32, 64, 100)
        p = self.number(1, 2, 4, 8, 16, 64)
        return self.pick(
            f"({a} + {b})",
            f"({a} + {b})",
            f"({a} - {b})",
            f"({a} * {k} + {b})",
            f"({a} * w + {b})",
            f"({a} / {k})",
            f"({a} % {k})",
            f"({a} / w + {b} % w)",
            f"({a} >> {self.number(1, 2, 5)})",
            f"({a} & {p - 1})",
            f"({a} & ~({self.kind}){p - 1})",
            f"({a} ^ {self.number(1, 2, 8)})",
            f"({a} * {p} | {p - 1})",
            f"min({a}, {b})",
            f"max({a}, ({self.kind})0)",
            f"({self.condition(0)} ? {a} : {b})",
        )

    def condition(self, depth: int = 1) -> str:
        a, b = self.index(depth), self.pick("n", "w", "0", "5", self.leaf())
        relation = self.pick("<", "<", ">=", ">", "<=", "==", "!=")
        return f"({a} {relation} ({self.kind}){b})"

    def inside(self, name: str) -> str:
        return f"({name} >= 0 && {name} < {SIZE})"

    def move(self) -> list[str]:
        """Load from somewhere and store somewhere."""
        name = f"i{self.random.randrange(10**6)}"
        a, b = f"{name}a", f"{name}b"
        kind = "const long long"
        if self.random.random() < 0.5:
            target, source = f"({self.index()}) & {SIZE - 1}", f"({self.index()}) & {SIZE - 1}"
            return [f"{kind} {a} = {target}, {b} = {source};", f"out[{a}] = in[{b}] + 1.0f;"]
        return [
            f"{kind} {a} = {self.index()}, {b} = {self.index()};",
            f"if {self.inside(a)} out[{a}] = {self.inside(b)} ? in[{b}] : 0.0f;",
        ]

    def shared(self) -> list[str]:
        """Stage values in shared memory."""
        return [
            f"s[({self.index(1)}) & 1023] = in[({self.index()}) & {SIZE - 1}];",
            "__syncthreads();",
            f"out[({self.index()}) & {SIZE - 1}] += s[({self.index(1)}) & 1023];",
            "__syncthreads();",
        ]

    def statements(self, depth: int = 2) -> list[str]:
        how = self.random.random()
        if not depth or how < 0.4:
            return self.move()
        inner = self.statements(depth - 1)
        if how < 0.55:
            return [f"if {self.condition()} {{", *inner, "}"]
        if how < 0.7:
            other = self.statements(depth - 1)
            return [f"if {self.condition()} {{", *inner, "} else {", *other, "}"]
        name = f"j{depth}{self.random.randrange(10**6)}"
        if how < 0.85:
            step = self.pick("stride", "64", "w + 100")
            loop = f"for ({self.kind} {name} = lin; {name} < n; {name} += {step}) {{"
        else:
            loop = f"for ({self.kind} {name} = 0; {name} < {self.number(2, 3, 9)}; {name}++) {{"
        self.names.append(name)
        body = self.move()
        self.names.pop()
        return [loop, *body, *inner, "}"]

    def kernel(self) -> str:
        body = [line for _ in range(self.number(1, 2, 3)) for line in self.statements()]
        if self.random.random() < 0.4:
            body += self.shared()
        lines = "\n  ".join(body)
        return f"""
extern "C" __global__ void k(const float *in, float *out, int w, int n) {{
  __shared__ float s[1024];
  const {self.kind} x = blockIdx.x * blockDim.x + threadIdx.x;
  const {self.kind} y = blockIdx.y * blockDim.y + threadIdx.y;
  const {self.kind} lin = y * ({self.kind})(gridDim.x * blockDim.x) + x;
  const {self.kind} stride = gridDim.x * blockDim.x * gridDim.y * blockDim.y;
  {lines}
}}
"""
