import json
from pathlib import Path

import pytest

from gpuviz.base import resources
from gpuviz.base.errors import FormatError, UnavailableError
from gpuviz.compile import nvrtc, prebuilt, shipped
from gpuviz.compile.shipped import FOLDER, entries, gallery
from gpuviz.files.checksums import source_hash
from gpuviz.story.lesson import Lesson, Plan, Preset, Story
from tools import prebuild

KERNEL = "__global__ void fill(int* a) { a[threadIdx.x] = N; }\n"
PLAN = Plan("only", "fill.cu", "fill", (1, 1, 1), (32, 1, 1), ("i32[32]=zeros",), (("N", "42"),))

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="no NVRTC for this system")


def _lesson(*plans: Plan) -> Lesson:
    return Lesson(
        "l",
        "L",
        "c",
        "x",
        (),
        (Preset("again", {}),),
        lambda values: plans,
        lambda values, runs: Story("", "", (), lambda t, stage: None),
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Resources of a course with one lesson of one kernel; the folder of its prebuilt PTX."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "fill.cu").write_text(KERNEL)
    monkeypatch.setattr(resources, "path", lambda name="": tmp_path / name)
    monkeypatch.setattr(prebuild, "SCENES", (_lesson(PLAN),))
    shipped._index.cache_clear()
    yield tmp_path / FOLDER
    shipped._index.cache_clear()


def test_what_is_shipped_is_up_to_date() -> None:
    assert prebuild.stale(resources.path(FOLDER)) == [], "run python -m tools.prebuild"


@needs_nvrtc
def test_built_ptx_stands_in_for_the_compiler(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prebuild.build(folder) == 1
    assert prebuild.stale(folder) == []
    compiled = gallery("fill.cu", {"N": "42"})
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    found = gallery("fill.cu", {"N": "42"}, "sm_75")
    assert found.ptx == compiled.ptx
    assert found.resources == compiled.resources
    assert (found.arch, found.cubin, found.source) == ("sm_90", b"", KERNEL)
    with pytest.raises(UnavailableError, match="fill.cu with N=7 has to be compiled"):
        gallery("fill.cu", {"N": "7"})


@needs_nvrtc
def test_a_changed_source_makes_it_stale(folder: Path) -> None:
    prebuild.build(folder)
    assert prebuilt("fill.cu", {"N": "42"}) is not None
    assert prebuilt("fill.cu", {"N": "42"}, "sm_75") is None
    (folder.parent / "fill.cu").write_text("// changed\n" + KERNEL)
    assert prebuilt("fill.cu", {"N": "42"}) is None
    assert prebuild.stale(folder) == ["fill.cu {'N': '42'} was compiled from another source"]


@needs_nvrtc
def test_building_again_changes_nothing_and_leaves_nothing_over(folder: Path) -> None:
    prebuild.build(folder)
    (folder / "old.ptx").write_text("left over")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    prebuild.build(folder)
    after = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert before.keys() - after.keys() == {"old.ptx"}
    assert after.items() <= before.items()


def test_missing_and_superfluous_entries_are_told(folder: Path) -> None:
    folder.mkdir()
    assert prebuild.stale(folder) == ["fill.cu {'N': '42'} is missing"]
    row = {
        "kernel": "gone.cu",
        "defines": {},
        "arch": "sm_90",
        "source_hash": "",
        "compiler": "",
        "file": "gone.ptx",
        "resources": {},
    }
    (folder / "index.json").write_text(json.dumps([row]))
    assert prebuild.stale(folder) == [
        "fill.cu {'N': '42'} is missing",
        "gone.cu {} is no longer launched",
    ]


@pytest.mark.parametrize("text", ["", "[{}]", '[{"kernel": 1}]', "[1]"])
def test_a_damaged_index_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(FormatError, match=r"index.json is damaged"):
        entries(tmp_path)


def test_line_endings_do_not_count() -> None:
    assert source_hash("a\nb\n") == source_hash("a\r\nb\r\n") != source_hash("a b")
