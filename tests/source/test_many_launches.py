"""Host code of any size, and expressions of any: read in time that grows as the text does."""

import time

import pytest

from gpuviz.compile.launches import HostLaunch, mentioned, written
from gpuviz.source.definitions import Definitions
from gpuviz.source.parts import read

KERNEL = "template <int N> __global__ void k(int* a, int n) { a[threadIdx.x] = n; }\n"
LITTLE, MANY = 2_000, 10_000
SECONDS = 5.0  # of this process; each took minutes, or did not end


def launches(text: str) -> tuple[HostLaunch, ...]:
    """The launches of a text; asserts that they were read in time."""
    begun = time.process_time()
    texts = {"k.cu": read(KERNEL + text)}
    known = Definitions.of(texts.values())
    found = written(texts, known)
    mentioned(texts, known)
    assert time.process_time() - begun < SECONDS
    return found


many = pytest.mark.parametrize("many", [LITTLE, pytest.param(MANY, marks=pytest.mark.slow)])


@many
@pytest.mark.parametrize(
    "line",
    [
        "k<1><<<{n} + 1, 256>>>(a, {n});",
        "int n{n} = {n}; cudaMalloc(&a, n{n}); k<{n}><<<n{n} + 1, 256>>>(a, n{n});",
    ],
    ids=["numbers", "names"],
)
def test_thousands_of_launches_are_read_in_seconds(line: str, many: int) -> None:
    lines = "\n".join(line.format(n=n) for n in range(many))
    found = launches(f"int main() {{\nint* a;\n{lines}\n}}\n")
    assert [one.grid for one in found] == [(n + 1, 1, 1) for n in range(many)]
    assert [one.values[1] for one in found] == list(range(many))


@many
def test_templates_around_thousands_of_launches_are_made_as_they_are_called(many: int) -> None:
    functions = "\n".join(
        f"template <int B> void f{n}(int* a) {{ k<B><<<{n + 1}, B>>>(a, 1); }}"
        for n in range(many // 4)
    )
    calls = "\n".join(f"f{n}<{n + 1}>(a);" for n in range(many // 4))
    found = launches(f"{functions}\nint main() {{ int* a;\n{calls}\n}}\n")
    assert [one.instance for one in found] == [f"k<{n + 1}>" for n in range(many // 4)]


MAIN = "int main(int n) {{ int* a; k<1><<<{grid}, 1>>>(a, n); }}\n"
WIDE = [f"{{}}{n + 1} max({','.join([f'{{}}{n}'] * 30)})" for n in range(24)]


@pytest.mark.parametrize(
    "text",
    [
        MAIN.format(grid="pow(3, 1000000000000)"),
        "".join(f"#define M{n + 1} max({', '.join([f'M{n}'] * 30)})\n" for n in range(24))
        + MAIN.format(grid="M7"),
        "ABCDE(\n" * LITTLE + MAIN.format(grid="1"),
        pytest.param("ABCDE(\n" * 2 * MANY + MAIN.format(grid="1"), marks=pytest.mark.slow),
    ],
    ids=["power", "macros", "calls", "many calls"],
)
def test_what_would_never_come_to_an_end_is_not_known(text: str) -> None:
    assert not any(one.grid for one in launches(text))


def test_constants_of_constants_are_each_worked_out_once() -> None:
    every = (f"const int M{n + 1} = max({', '.join([f'M{n}'] * 30)});\n" for n in range(24))
    (one,) = launches("const int M0 = 1;\n" + "".join(every) + MAIN.format(grid="M20"))
    assert one.grid == (1, 1, 1)


def test_powers_are_numbers() -> None:
    (one,) = launches(MAIN.format(grid="pow(2, 10)"))
    assert one.grid == (1024, 1, 1)
