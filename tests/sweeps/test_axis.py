import pytest

from gpuviz.base.errors import InputError
from gpuviz.sweeps.axis import Axis, cells, parse


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x=1..4", ("1", "2", "3", "4")),
        ("x=-2..4..3", ("-2", "1", "4")),
        ("x=1..100*4", ("1", "4", "16", "64")),
        ("x=a,b,1..2,b", ("a", "b", "1", "2")),
        ("arch=sm_80,sm_90", ("sm_80", "sm_90")),
    ],
)
def test_values_of_an_axis(text: str, values: tuple[str, ...]) -> None:
    assert parse(text).values == values


@pytest.mark.parametrize(
    "text",
    ["x", "=1..3", "x=", "x=3..1", "x=1..5..0", "x=0..8*2", "x=1..8*1", "x=1...3", "x=1,,2"]
    + ["x=1..99999999999"],
)
def test_what_is_no_axis(text: str) -> None:
    with pytest.raises(InputError, match="--vary"):
        parse(text)


def test_cells_are_rows_of_the_second_axis() -> None:
    found = cells((Axis("x", ("1", "2")), Axis("y", ("a", "b"))))
    assert [(c["x"], c["y"]) for c in found] == [("1", "a"), ("2", "a"), ("1", "b"), ("2", "b")]


def test_axes_that_cannot_be() -> None:
    one, many = Axis("x", ("1",)), Axis("y", tuple(map(str, range(300))))
    for axes in ((), (one, one), (one, many, Axis("z", ("1",))), (many, Axis("z", many.values))):
        with pytest.raises(InputError):
            cells(axes)
