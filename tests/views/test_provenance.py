import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.base.errors import FormatError, InputError
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.export import svg
from gpuviz.export.reading import read, read_content
from gpuviz.views import provenance
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance, file_name

VIEW = Provenance(
    "coalescing",
    {"stride": 2, "words": True, "op": "</metadata>&"},
    "sm_90",
    compare_values={"stride": 32, "words": True, "op": "load"},
    compare_arch="sm_20",
    time=4.5,
    end=4.5,
    theme="light",
    width=640,
    height=400,
    letters=1.5,
    badges={"counts": "modelled"},
)
VALUES = st.dictionaries(st.text(), st.integers() | st.booleans() | st.text(), max_size=4)


@given(VALUES, st.floats(0, 1e3), st.text())
def test_records_survive_as_text(
    values: dict[str, int | str | bool], time: float, lesson: str
) -> None:
    said = Provenance(lesson, values, "sm_90", time=time).text()
    assert said.isascii() and not set("<>&\n\r\0") & set(said)
    assert json.loads(said)["values"] == values


def test_a_record_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "view.svg"
    file.write_text(svg.document(Stage(640, 400, DARK).frame(), VIEW))
    assert read(file) == VIEW


def test_unknown_fields_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "view.html"
    file.write_text("..." + VIEW.text().replace('"lesson"', '"later": [1], "lesson"') + "...")
    assert read(file) == VIEW


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"plain", "does not say"),
        (VIEW.text()[:40].encode(), "damaged"),
        (VIEW.text().replace(" 1,", " 9,", 1).encode(), "version 9"),
        (VIEW.text().replace('"sm_90"', "5").encode(), ": arch: expected a text"),
        (VIEW.text().replace('"stride": 2', '"stride": [2]').encode(), ": values/stride: expected"),
        (VIEW.text().replace('"lesson"', '"other"').encode(), ': "lesson" is missing'),
        (b'{"gpuviz view": ' + b"[" * 50_000, "damaged"),
        (b"GIF89a" + VIEW.text().encode(), "does not say"),
        (b"GIF89a...\x21\xfe\xff" + VIEW.text()[:200].encode(), "damaged"),
        (VIEW.text().replace('"time": 4.5', '"time": NaN').encode(), ": time: expected a number"),
        (VIEW.text().replace('"end": 4.5', '"end": 1e999').encode(), ": end: expected a number"),
        (
            VIEW.text().replace('"time": 4.5', '"time": 1' + 400 * "0").encode(),
            ": time: expected a number <",
        ),
        (
            VIEW.text().replace('"letters": 1.5', '"letters": -Infinity').encode(),
            ": letters: expected a number",
        ),
    ],
)
def test_damaged_files_are_told_by_name(content: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "view.png"
    file.write_bytes(content)
    with pytest.raises(FormatError, match=words) as caught:
        read(file)
    assert "view.png" in str(caught.value)


@pytest.mark.parametrize("letters", [0.0, -2.0, 5e5])
def test_letters_of_no_size_are_told_of(letters: float) -> None:
    with pytest.raises(InputError, match="letters"):
        view_of(replace(VIEW, letters=letters))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("empty", "absent"):
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)


def test_names_say_what_is_shown() -> None:
    view = Provenance("coalescing", {"stride": 2}, "sm_90", time=4.04)
    assert file_name(view, ".png") == "coalescing-stride=2-sm_90-4.0s.png"
    name = file_name(VIEW, ".svg")
    assert "vs-stride=32" in name and not set('/<>&: "') & set(name)
    assert provenance.Provenance("a", {}, "sm_90").words().startswith("a · ")


def test_a_record_far_into_a_file_is_found(tmp_path: Path) -> None:
    """Also where it lies across the end of a part that is searched at once."""
    made = Provenance("banks", {}, "sm_90")
    for before in (0, 1, (1 << 20) - 5, 1 << 20, 3 << 20):
        (tmp_path / "a.mp4").write_bytes(b"\0" * before + made.text().encode())
        assert read(tmp_path / "a.mp4") == made
        assert read_content((tmp_path / "a.mp4").read_bytes(), "it") == made


def test_names_of_ones_own_kernels_are_those_of_kernel_file_and_launch() -> None:
    launch = {"file": "~/a b/particles.cu", "name": "move", "grid": "157,1,1", "block": "32,8,1"}
    values = {"block": 0, "warp": 3, "every": False, "picture": "findings", "goes_on": True}
    view = Provenance("kernel-0123456789ab", values, "sm_90", time=0.5, launch=launch)
    name = file_name(view, ".png")
    assert name == "move-particles-157-32x8-findings-warp=3-sm_90-0.5s.png"
