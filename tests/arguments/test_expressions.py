import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arguments.expressions import evaluate, filled, names_in
from gpuviz.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1024", 1024),
        ("ceil(1024/x)", 35),
        ("1024 // x * 2", 68),
        ("(n + x - 1) // x", 1),
        ("max(1, n - 20, -x) % 7", 1),
        ("floor(7 / 2)", 3),
        ("1 << 10", 1024),
        ("2**3 + 1e3 + 0.5 * 2", 1009),
        ("p.origin.x >> 1", 2),
    ],
)
def test_arithmetic_of_names(text: str, value: int) -> None:
    assert evaluate(text, {"x": 30, "n": 8, "p.origin.x": 5}) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "x.real",
        "1/3",
        "1//0",
        "y",
        "9**9**9",
        "x if x else 1",
        "",
        "(" * 150 + ")" * 150,
        "1+" * 200 + "1",
        "max()",
        "True",
        "9" * 190,
        "ceil(1, 2, 3)",
        "\0",
    ],
)
def test_nothing_else_is_evaluated(text: str) -> None:
    with pytest.raises(InputError):
        evaluate(text, {"x": 3})


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_ceil_is_exact(a: int, b: int) -> None:
    assert evaluate(f"ceil({a}/x)", {"x": b}) == -(-a // b)


def test_texts_are_filled() -> None:
    assert filled("f32[{n*n}]=rand", {"n": 32}) == "f32[1024]=rand"
    assert names_in("{ceil(n/x)},{y}") == {"n", "x", "y"}
    assert filled("{ceil(100/block.x)}", {"block.x": 32}) == "4"
    assert names_in("{ceil(n/block.x)}") == {"n", "block.x"}
    assert names_in("{(} {1}") == frozenset()
