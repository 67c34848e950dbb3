"""What the host code does up to its launches: sizes, arguments, memory as a run has them."""

from __future__ import annotations

import pytest

from gpuviz.compile.launches import HostLaunch, written
from gpuviz.source.definitions import Definitions
from gpuviz.source.parts import read

KERNEL = """__global__ void k(int* a, int n);
struct P { int n; float alpha = 2.5f; int* data; };
int div_up(int a, int b) { return (a + b - 1) / b; }
"""


def launches(host: str) -> tuple[HostLaunch, ...]:
    texts = {"k.cu": read(KERNEL + host)}
    return written(texts, Definitions.of(texts.values()))


MAIN = "int main(int argc, char** argv) {{ int* d; {} }}"
SIZES = {
    "a global that a function fills": (
        "dim3 G, B; int N = 100; void setUp() { B = dim3(16, 16); G.x = div_up(N, 16); G.y = 2; }"
        + MAIN.format("setUp(); k<<<G, B>>>(d, N);"),
        ((7, 2, 1), (16, 16, 1)),
    ),
    "a default of argv": (
        MAIN.format("int n = argc > 1 ? atoi(argv[1]) : 1024; k<<<n / 32, 32>>>(d, n);"),
        ((32, 1, 1), (32, 1, 1)),
    ),
    "a default before argv, and a refusal of none": (
        MAIN.format(
            "int n = 64; if (argc != 2) { return 1; } if (argc > 1) n = atoi(argv[1]);"
            "k<<<1, n>>>(d, n);"
        ),
        ((1, 1, 1), (64, 1, 1)),
    ),
    "a loop": (
        MAIN.format("int p = 1; while (p < 100) p *= 2; k<<<p / 32, 32>>>(d, p);"),
        ((4, 1, 1), (32, 1, 1)),
    ),
    "a loop over an array": (
        MAIN.format(
            "int h[300], sum = 0; for (int i = 0; i < 300; i++) h[i] = i % 7;"
            "for (int i = 0; i < 300; ++i) sum += h[i]; k<<<sum, 32>>>(d, sum);"
        ),
        ((897, 1, 1), (32, 1, 1)),
    ),
    "members and a constructor": (
        """class S { int n; dim3 g; public: S(int m) : n(m) { g = dim3(n / 32); }
        void go(int* d) { k<<<g, 32>>>(d, n); } };"""
        + MAIN.format("S s(640); s.go(d);"),
        ((20, 1, 1), (32, 1, 1)),
    ),
    "a member that has a default": (
        "struct O { int threads = 128; };" + MAIN.format("O o; k<<<3, o.threads>>>(d, 1);"),
        ((3, 1, 1), (128, 1, 1)),
    ),
    "a parameter, by its call": (
        "void go(int* d, int n, int t = 64) { k<<<div_up(n, t), t>>>(d, n); }"
        + MAIN.format("go(d, 1000);"),
        ((16, 1, 1), (64, 1, 1)),
    ),
    "what a function is given to fill": (
        "void ask(int* n, int& t) { *n = 5; t = 96; }"
        + MAIN.format("int n, t; ask(&n, t); k<<<n, t>>>(d, n);"),
        ((5, 1, 1), (96, 1, 1)),
    ),
    "an element of a vector": (
        MAIN.format("std::vector<int> v(300); k<<<v.size() / 100, std::min(64, 999)>>>(d, 1);"),
        ((3, 1, 1), (64, 1, 1)),
    ),
    "the device": (
        MAIN.format(
            "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);"
            "k<<<p.multiProcessorCount * 2, p.warpSize>>>(d, 1);"
        ),
        ((264, 1, 1), (32, 1, 1)),
    ),
    "what is so before a condition that nobody knows": (
        MAIN.format("int t = 32; if (getenv(d)) t = 64; k<<<1, t>>>(d, 1);"),
        ((1, 1, 1), (32, 1, 1)),
    ),
    "the first of a range": (
        MAIN.format("for (int t : {32, 64}) k<<<1, t>>>(d, 1);"),
        ((1, 1, 1), (32, 1, 1)),
    ),
    "a case": (
        MAIN.format(
            "int n = 2, g = 0; switch (n) { case 1: g = 3; break; case 2: g = 4; }"
            "k<<<g, 32>>>(d, 1);"
        ),
        ((4, 1, 1), (32, 1, 1)),
    ),
}


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_a_run(name: str) -> None:
    host, expected = SIZES[name]
    (one,) = launches(host)
    assert (one.grid, one.block) == expected


def test_a_variable_may_stand_for_the_kernel() -> None:
    host = """template <int N> __global__ void t(int* a, int n) { a[0] = N; }
    __global__ void plain(int* a, int n) { a[0] = n; }
    typedef void (*Kernel)(int*, int);
    void go(Kernel kernel, int* d) { kernel<<<2, 32>>>(d, 3); }
    void all(int* d) { Kernel every[2] = {plain, t<5>}; every[1]<<<1, 64>>>(d, 4); }"""
    one, two = launches(host + MAIN.format("go(plain, d); all(d);"))
    assert (one.kernel, one.grid) == ("plain", (2, 1, 1))
    assert (two.instance, two.block) == ("t<5>", (64, 1, 1))


def test_templates_have_the_sizes_of_their_calls() -> None:
    host = "template <int T> void run(int* d, int n) { k<<<div_up(n, T), T>>>(d, n); }"
    one, two = launches(host + MAIN.format("run<64>(d, 640); run<256>(d, 2561);"))
    assert (one.grid, one.values[1]) == ((10, 1, 1), 640)
    assert (two.grid, two.values[1]) == ((11, 1, 1), 2561)


def test_memory_is_as_the_host_makes_it_wherever_that_is() -> None:
    host = """void make(int** p, int n) { cudaMalloc((void**)p, n * sizeof(int)); }
    void go(int* a, int n) { k<<<1, n>>>(a + 2, n); }"""
    main = """make(&d, 300); int h[3] = {5, 6, 7};
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice); go(d, 32);"""
    (one,) = launches(host + MAIN.format(main))
    assert (one.bytes[0], one.copied[0], one.offsets[0]) == ("1200", True, 2)
    assert one.contents[0] == "[5, 6, 7]"


def test_structures_and_symbols_hold_what_the_host_puts_there() -> None:
    main = """P p = {100, .data = d}; cudaMalloc(&p.data, 64); float h[2] = {0.5f, 1};
    cudaMemcpyToSymbol(filter, h, sizeof(h)); q<<<1, 32>>>(p);"""
    (one,) = launches(MAIN.format(main))
    assert one.fields == ({"n": "100", "alpha": "2.5", "data": "bytes:64"},)
    assert one.symbols == {"filter": "[0.5, 1]"}


@pytest.mark.parametrize(
    "endless",
    ["for (;;) n++;", "while (n) n++;", "go(d, n);", "for (int i = 0; i < 1 << 30; i++) n += i;"],
)
def test_what_takes_too_long_is_not_known_and_all_else_is(endless: str) -> None:
    host = "int go(int* d, int n) { return go(d, n + 1); }"
    (one,) = launches(host + MAIN.format(f"int n = 1, g = 3; {endless} k<<<g, 64>>>(d, n);"))
    assert (one.grid, one.block) == ((3, 1, 1), (64, 1, 1))


HELD = {
    "asked for": "int* h = (int*)malloc(16); h[3] = 9; for (int i = 0; i < 3; i++) h[i] = i;",
    "cleared": "int* h = (int*)calloc(4, 4); h[1] = 1; h[2] = 2; h[3] = 9;",
    "pinned": "int* h; cudaMallocHost(&h, 16); *h = 0; h[1] = 1; int* q = h + 2; *q = 2; q[1] = 9;",
}


@pytest.mark.parametrize("name", HELD)
def test_arrays_hold_what_the_host_writes_before_they_are_copied(name: str) -> None:
    main = "cudaMalloc(&d, 16); {} cudaMemcpy(d, h, 16, kind); h[0] = 5; k<<<1, 4>>>(d, 4);"
    (one,) = launches(MAIN.format(main.format(HELD[name])))
    assert one.contents[0] == "[0, 1, 2, 9]"


def test_memory_of_both_holds_what_the_host_wrote_before_the_launch() -> None:
    main = """cudaMallocManaged(&d, 12); for (int i = 0; i < 3; i++) d[i] = 7 - i;
    k<<<1, 3>>>(d, 3); d[0] = 0; cudaMemset(d, 0, 12); k<<<1, 3>>>(d, 3);"""
    one, two = launches(MAIN.format(main))
    assert (one.contents[0], two.contents[0]) == ("[7, 6, 5]", "0")


def test_fields_of_a_structure_reach_the_symbol_it_is_copied_to() -> None:
    main = "P p; p.n = 40; cudaMemcpyToSymbol(params, &p, sizeof(P)); p.n = 2; k<<<1, 1>>>(d, 1);"
    (one,) = launches(MAIN.format(main))
    assert one.symbols == {"params.n": "40", "params.alpha": "2.5"}


@pytest.mark.parametrize("said", ["using C = Tile<8, 4>;", "typedef Tile<8, 4> C;"])
def test_an_alias_as_template_argument_is_what_it_stands_for(said: str) -> None:
    host = """template <int M, int N> struct Tile {};
    template <class T> __global__ void t(int* a) { a[0] = sizeof(T); }
    template <class T> void run(int* d) { t<T><<<1, 32>>>(d); }"""
    for one in launches(host + said + MAIN.format("t<C><<<1, 32>>>(d); run<C>(d);")):
        assert one.instance == "t<Tile<8, 4>>"
    (one,) = launches(host + MAIN.format(f"{said} t<C><<<1, 32>>>(d);"))[1:]
    assert one.instance == "t<Tile<8, 4>>"
