"""Links to views: the same view comes back, and what cannot be read is named."""

from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.story.kernel_launch import KernelLaunch, launch_of
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.views.link import link, parse
from gpuviz.views.make_view import lesson_for
from gpuviz.views.provenance import Provenance

VIEW = Provenance(
    "coalescing",
    {"stride": 2, "pattern": "in order", "guard": True},
    "sm_80",
    "ptx",
    {"stride": 32},
    "sm_20",
    time=4.25,
)


def texts(values: object) -> dict[str, str]:
    return {k: str(v) for k, v in dict(values).items()}  # type: ignore[call-overload]


def test_a_link_tells_the_whole_view() -> None:
    text = link(VIEW)
    assert text.startswith("gpuviz://coalescing?stride=2&pattern=in%20order&") and " " not in text
    back = parse(f"  {text}\n")
    assert texts(back.values) == texts(VIEW.values)
    assert texts(back.compare_values) == texts(VIEW.compare_values)
    assert (back.arch, back.level, back.compare_arch, back.time) == ("sm_80", "ptx", "sm_20", 4.25)


def test_what_is_usual_is_not_said() -> None:
    assert link(Provenance("banks", {}, "sm_90")) == "gpuviz://banks"
    assert parse("gpuviz://banks") == Provenance("banks", {}, "sm_90")


def test_a_kernel_of_ones_own_comes_back() -> None:
    launch = KernelLaunch(
        Path.home() / "my kernels" / "a.cu",
        "_Z1kPf",
        "k",
        (64, 2, 1),
        (8, 8, 4),
        ("f32[15]=@a b.npy", "i32=-3", f"f32[9]=@{Path.home() / 'my data.npy'}"),
        1024,
    )
    made = lesson_of(launch)
    record = Provenance(made.id, {}, "sm_90", launch=made.launch)
    assert str(Path.home()) not in link(record)
    again = parse(link(record))
    assert launch_of(again.launch) == launch
    assert lesson_for(again).id == made.id


def test_a_file_whose_name_is_no_text_comes_back() -> None:
    """Linux takes any bytes for a name; Python keeps those that are no letters as surrogates."""
    record = {"file": "/tmp/\udcff\udce4.cu", "entry": "k", "grid": "1", "block": "1"}
    text = link(Provenance("kernel-1", {}, "sm_90", launch=record))
    assert text.isascii() and parse(text).launch == record


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("https://coalescing", "no link"),
        ("gpuviz:", "no link"),
        ("", "no link"),
        ("gpuviz://banks?.t=soon", "soon"),
        ("gpuviz://banks?.t=-1", "-1"),
        ("gpuviz://banks?.t=nan", "nan"),
        ("gpuviz://banks?.zoom=2", ".zoom"),
        ("gpuviz://[banks", "no link"),
        ("gpuviz://a]b", "no link"),
    ],
)
def test_what_is_no_link_is_named(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


def test_a_launch_that_lacks_something() -> None:
    with pytest.raises(InputError, match="grid"):
        launch_of({"file": "a.cu", "entry": "k", "block": "1"})
    with pytest.raises(InputError, match="cannot be read"):
        launch_of({"file": "a.cu", "entry": "k", "block": "1", "grid": "many"})
    with pytest.raises(InputError, match="cannot be read"):
        launch_of({"file": "~nobody-of-that-name/a.cu", "entry": "k", "block": "1", "grid": "1"})
