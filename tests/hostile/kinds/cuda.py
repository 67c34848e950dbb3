"""CUDA source: our kernels changed, and texts that are known to bring compilers down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random

from gpuviz.base import resources
from gpuviz.compile import process
from tests.hostile.kind import Kind
from tests.hostile.mutation import changed_bytes, changed_text, encoded

COMPILER_SECONDS = 3.0  # in place of a minute: there are many that never end
_WORDS = (
    *("#include __FILE__", '#include "mine.cu"', '#include "pipe.npy"', "#include </dev/zero>"),
    *('#include "loop.cu"', '#include "../../../../etc/passwd"', '#line 1 "\\"', "#error x"),
    *("int main() { foo<<<1, 1>>>(); }", "cudaMalloc(", "<<<", "#pragma unroll 999999999", "asm("),
    *("__shared__ char s[99999999999];", "extern __shared__ int s[];", "__syncthreads();", "goto"),
    *("template <int N> struct T { T<N + 1> t; };", "template <", "operator", "nullptr", "??/"),
    *("std::cout", 'printf("%2000000000d", 1);', "while (1);", "\\", "/*", "*/", "//", '"', "'"),
    *("__global__", "__device__", "__constant__ float c[1 << 30];", "float4", "blockIdx.x", "0x"),
)
_PRINTS = ("%2000000000d", "%.2000000000f", "%s", "%n", "%*d", "%%%", "%", "%hhhhd", "\\033[2J%d")


def make(random: Random) -> bytes:
    """A source."""
    if random.random() < 0.25:
        return encoded(random.choice(_BOMBS)(random))
    made = encoded(changed_text(random, random.choice(_texts()), _WORDS))
    return changed_bytes(random, made) if random.random() < 0.1 else made


@cache
def _texts() -> tuple[str, ...]:
    return tuple(file.read_text() for file in sorted(resources.path("kernels").glob("*.cu")))


def _kernel(body: str, before: str = "") -> str:
    return f'{before}\nextern "C" __global__ void k(float* out) {{\n{body}\nout[0] = 1;\n}}\n'


def _long_name(random: Random) -> str:
    name = "x" * random.choice((5000, 60_000, 200_000))
    return _kernel(f"float {name} = 1; out[1] = {name};")


def _comments(random: Random) -> str:
    return _kernel("/* " + "a" * random.choice((50_000, 400_000)) + " */")


def _macros(random: Random) -> str:
    depth = random.choice((8, 20, 40))
    lines = [f"#define M{n} M{n - 1} M{n - 1}" for n in range(1, depth)]
    return _kernel(f"M{depth - 1}", "\n".join(("#define M0 out[0] += 1;", *lines)))


def _templates(random: Random) -> str:
    depth = random.choice((50, 900, 100_000))
    before = "template <int N> struct T { static const int v = T<N - 1>::v + T<N - 2>::v; };\n"
    before += "template <> struct T<0> { static const int v = 1; };\n"
    return _kernel(f"out[1] = T<{depth}>::v;", before + "template <> struct T<1> : T<0> {};")


def _nesting(random: Random) -> str:
    opening, closing = random.choice((("(", ")"), ("{", "}"), ("[", "]"), ("-", ""), ("!", "")))
    times = random.choice((200, 5000, 100_000))
    return _kernel(f"out[1] = {opening * times}1{closing * times};")


def _host(random: Random) -> str:
    return "malloc(4);\n" * random.choice((1000, 10_000)) + _kernel("")


def _includes(random: Random) -> str:
    return _kernel("", "\n".join(random.choices(_WORDS[:6], k=random.choice((1, 3, 300)))))


def _initialiser(random: Random) -> str:
    times = random.choice((1000, 60_000))
    return _kernel("", f"__constant__ int t[] = {{{'1,' * times}}};")


def _print(random: Random) -> str:
    made = f'printf("{random.choice(_PRINTS)}{random.choice(_PRINTS)}", 1, 2.0, out);'
    return _kernel(random.choice((made, f"for (;;) {made}")))


def _string(random: Random) -> str:
    return _kernel(f'printf("{"y" * random.choice((2000, 300_000))}%d", 1);')


_BOMBS: tuple[Callable[[Random], str], ...] = (
    *(_long_name, _comments, _macros, _templates, _nesting, _host, _includes),
    *(_initialiser, _print, _print, _string),
)


def check(file: Path) -> Sequence[str]:
    """Compile, and read what the compiler wrote."""
    process.SECONDS = COMPILER_SECONDS
    return "check", str(file)


def count(file: Path) -> Sequence[str]:
    """Compile with the assembler's code, and run the kernel that the bombs have."""
    process.SECONDS = COMPILER_SECONDS
    where = ("--grid", "2", "--block", "32", "--budget", "0.5", "--entry", "k")
    return "count", str(file), *where, "--arg", "f32[64]=zeros"


KIND = Kind("cuda", 150, ".cu", make, (check, count))
