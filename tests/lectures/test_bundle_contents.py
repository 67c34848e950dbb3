"""What goes into a bundle: the headers that the compiler read, nothing from elsewhere unseen."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gpuviz.base.errors import Elsewhere, InputError
from gpuviz.cli import main
from gpuviz.compile import nvrtc
from gpuviz.files.allowed_paths import Reach
from gpuviz.lectures import bundle
from gpuviz.lectures.bundle_contents import gather
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.reading import parse, read
from gpuviz.lectures.writing import text_of
from gpuviz.run.session import Session
from gpuviz.views.make_view import view_of
from gpuviz.views.provenance import Provenance
from tests.lectures.packing import pack

BODY = 'extern "C" __global__ void k(float* x, unsigned char* p) { x[threadIdx.x] = SCALE; }\n'
SLIDE = """
[[slide]]
[slide.kernel]
file = "{file}"
entry = "k"
grid = "1"
block = "32"
arguments = '{arguments}'
"""
ZEROS = "f32[32]=zeros u8[12]=zeros"

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="no NVRTC for this system")


def text(file: str, arguments: str = ZEROS) -> str:
    return "gpuviz-lecture = 1\n" + SLIDE.format(file=file, arguments=arguments)


def written(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The folder of a lecture, beside that of somebody's keys."""
    written(tmp_path, {"keys/id": "SECRET\n", "keys/key.h": "#define SCALE 7.0f\n"})
    np.save(tmp_path / "keys" / "key.npy", np.frombuffer(b"SECRETSECRET", np.uint8))
    written(tmp_path / "own", {"k.cu": BODY.replace("SCALE", "2.0f")})
    return tmp_path / "own"


def played(path: Path) -> float:
    """x[0] as the first slide of a bundle leaves it."""
    session = Session()
    first = bundle.opened(path, session).slides[0]
    assert first.view is not None, first.problems
    return float(view_of(first.view, session.library(path)).runs["kernel"].outputs["x"][0])


ALL = (
    "@{keys}/key.npy",
    "@../keys/key.npy",
    "@~/key.npy",
    "@link.npy",
    "@dir/key.npy",
    "@dir/../keys/key.npy",
    " @{keys}/key.npy",
)


@pytest.mark.parametrize("name", ALL)
def test_no_argument_is_read_from_outside_of_the_folder(
    name: str, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = own.parent / "keys"
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(keys))
    (own / "link.npy").symlink_to(keys / "key.npy")
    (own / "dir").symlink_to(keys)
    spec = f'f32[32]=zeros "u8[12]={name.format(keys=keys.as_posix())}"'
    lecture = parse(text("k.cu", spec), own)
    (slide,) = lecture.slides
    assert slide.view is None and "outside of its lecture's folder" in str(slide.problems[0])
    assert lecture.elsewhere == (keys / "key.npy",)
    assert b"SECRET" not in b"".join(file.content for file in gather(lecture).files)
    agreed = parse(text("k.cu", spec), own, agreed=frozenset(lecture.elsewhere))
    assert agreed.slides[0].view is not None and agreed.all_problems == ()


def test_no_kernel_or_trace_is_read_from_outside_of_the_folder(own: Path) -> None:
    (own / "linked.cu").symlink_to(own / "k.cu")
    (own / "away.cu").symlink_to(own.parent / "keys" / "id")
    assert parse(text("linked.cu"), own).all_problems == ()
    for name in ("away.cu", "../keys/id", (own.parent / "keys" / "id").as_posix()):
        assert parse(text(name), own).elsewhere == (own.parent / "keys" / "id",)
    trace = 'gpuviz-lecture = 1\n[[slide]]\ntrace = "../keys/id"\n'
    assert parse(trace, own).elsewhere == (own.parent / "keys" / "id",)


def test_what_lies_elsewhere_is_not_even_looked_at(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    real = Path.resolve
    monkeypatch.setattr(
        Path, "resolve", lambda self, *more: looked.append(str(self)) or real(self, *more)
    )
    for name in ("//elsewhere.invalid/share/k.cu", "/elsewhere.invalid/k.cu"):
        assert parse(text(name), own).slides[0].view is None
    assert not any("invalid" in name for name in looked)


def test_the_text_of_a_slide_that_was_agreed_to_stays_as_it_is(own: Path) -> None:
    given = text("../keys/id")
    lecture = parse(given, own)
    assert text_of(lecture, own) == given
    assert text_of(parse(given, own, agreed=frozenset(lecture.elsewhere)), own) == given


@needs_nvrtc
@pytest.mark.parametrize(
    "include",
    ['#define H "{keys}/key.h"\n#include H\n', '#include "../keys/key.h"\n', '#include "in.h"\n'],
)
def test_no_header_is_read_from_outside_of_the_folder(include: str, own: Path) -> None:
    (own / "in.h").symlink_to(own.parent / "keys" / "key.h")
    written(own, {"k.cu": include.format(keys=own.parent / "keys") + BODY})
    written(own, {"a.gpuviz-lecture": text("k.cu")})
    path, session = own / "a.gpuviz-lecture", Session()
    view = bundle.opened(path, session).slides[0].view
    assert view is not None
    with pytest.raises(Elsewhere, match=r"key\.h") as caught:
        view_of(view, session.library(path))
    session.agree(path, frozenset(caught.value.files))
    assert view_of(view, session.library(path)).story.steps


@needs_nvrtc
def test_what_does_not_compile_shows_no_line_of_a_file_from_elsewhere(own: Path) -> None:
    written(own, {"k.cu": '#include "../keys/id"\n' + BODY, "a.gpuviz-lecture": text("k.cu")})
    path, session = own / "a.gpuviz-lecture", Session()
    view = bundle.opened(path, session).slides[0].view
    assert view is not None
    with pytest.raises(Elsewhere) as caught:
        view_of(view, session.library(path))
    assert "SECRET" not in str(caught.value)


ASKS = {
    "whole name": '#if __has_include("{keys}/key.h")\n',
    "not there": '#if __has_include("{keys}/none")\n',
    "above": "#if __has_include(<../keys/key.h>)\n",
    "next": '#if __has_include_next("{keys}/key.h")\n',
    "splice": '#if __has_\\\ninclude("{keys}/key.h")\n',
    "link": '#if __has_include("linked.h")\n',
    "header": '#include "asks.h"\n#if 1\n',
    "deeper": '#include "a/b/asks.h"\n#if 1\n',
    "host code": '#if __has_include("{keys}/key.h")\nint main() {{ return 0; }}\n#endif\n#if 1\n',
}
UNTOLD = {
    "pasted": '#define CAT(a, b) a##b\n#if CAT(__has_, include)("{keys}/key.h")\n',
    "another name": '#define ASK __has_include\n#if ASK("{keys}/key.h")\n',
    "computed": '#define H "{keys}/key.h"\n#if __has_include(H)\n',
}


def asking(own: Path, head: str, more: str = "") -> tuple[Path, Session, Provenance]:
    """The first slide of a lecture whose kernel begins so."""
    keys = own.parent / "keys"
    (own / "linked.h").symlink_to(keys / "key.h")
    written(own, {"asks.h": f'#if __has_include("{keys}/key.h")\n#endif\n'})
    (own / "id").touch()
    written(own, {"a/b/asks.h": "#if __has_include(<../../id>)\n#endif\n"})
    yes_or_no = head.format(keys=keys) + "#define SCALE 5.0f\n#else\n#define SCALE 6.0f\n#endif\n"
    written(own, {"k.cu": yes_or_no + BODY, "a.gpuviz-lecture": text("k.cu") + more})
    path, session = own / "a.gpuviz-lecture", Session()
    view = bundle.opened(path, session).slides[0].view
    assert view is not None
    return path, session, view


@needs_nvrtc
@pytest.mark.parametrize("way", ASKS)
def test_no_kernel_learns_whether_a_file_is_outside_of_the_folder(way: str, own: Path) -> None:
    path, session, view = asking(own, ASKS[way])
    with pytest.raises(Elsewhere, match=r"/(key\.h|none|id), outside") as caught:
        view_of(view, session.library(path))
    session.agree(path, frozenset(caught.value.files))
    if way != "above":  # which is looked for beside NVIDIA's headers then
        assert view_of(view, session.library(path)).story.steps


@needs_nvrtc
@pytest.mark.parametrize("way", UNTOLD)
def test_what_asks_by_a_name_that_cannot_be_told_is_refused(way: str, own: Path) -> None:
    path, session, view = asking(own, UNTOLD[way])
    with pytest.raises(InputError, match="write it out"):
        view_of(view, session.library(path))


@needs_nvrtc
def test_it_may_ask_for_its_own_files_and_those_of_cuda(own: Path) -> None:
    head = "#if defined(__has_include) && __has_include(<cuda/std/tuple>)\n#ifdef __has_include\n"
    path, session, view = asking(own, head + '#endif\n#if __has_include("asks.h")\n')
    written(own, {"k.cu": (own / "k.cu").read_text() + "#endif\n"})
    assert view_of(view, session.library(path)).story.steps


TREES = {
    "a folder": {"k.cu": '#include "inc/scale.h"\n' + BODY, "inc/scale.h": "#define SCALE 5.0f\n"},
    "above": {
        "src/k.cu": '#include "../inc/scale.h"\n' + BODY,
        "inc/scale.h": '#include "deep/value.h"\n#define SCALE VALUE\n',
        "inc/deep/value.h": "#define VALUE 5.0f\n",
    },
    "a macro": {
        "k.cu": "#define NAME(x) #x\n#define H NAME(scale.h)\n#include H\n" + BODY,
        "scale.h": "#define SCALE 5.0f\n",
    },
    "a spliced line": {
        "k.cu": '#inc\\\nlude /* a comment */ "scale.h"\n' + BODY,
        "scale.h": "#define SCALE 5.0f\n",
    },
    "not what a comment says": {
        "k.cu": '/*\n#include "gone.h"\n*/\n#include "scale.h"\n' + BODY,
        "scale.h": "#define SCALE 5.0f\n",
    },
}


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("tree", TREES)
def test_headers_are_packed_as_the_compiler_found_them(
    tree: str, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(own, TREES[tree])
    kernel = next(name for name in TREES[tree] if name.endswith(".cu"))
    written(own, {"a.gpuviz-lecture": text(kernel)})
    path = tmp_path / "empty" / "a.gpuviz-lecture"
    path.parent.mkdir()
    pack(read(own / "a.gpuviz-lecture"), path)
    shutil.rmtree(own)
    with zipfile.ZipFile(path) as archive:
        assert not any(str(tmp_path).encode() in archive.read(n) for n in archive.namelist())
    assert played(path) == 5.0
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    assert played(path) == 5.0


@needs_nvrtc
def test_a_header_included_by_its_whole_name_is_told(own: Path, tmp_path: Path) -> None:
    written(own, {"scale.h": "#define SCALE 5.0f\n"})
    written(own, {"k.cu": f'#include "{own}/scale.h"\n' + BODY})
    with pytest.raises(InputError, match="does not compile away from its folder"):
        gather(parse(text("k.cu"), own))


@needs_nvrtc
def test_a_slide_that_does_not_compile_keeps_no_other_from_being_packed(
    own: Path, tmp_path: Path
) -> None:
    written(own, {"bad.cu": "not cuda\n"})
    lecture = parse(text("k.cu") + SLIDE.format(file="bad.cu", arguments=ZEROS), own)
    packing = gather(lecture)
    assert len(packing.problems) == 1 and packing.problems[0].startswith("slide 2: bad.cu")
    pack(lecture, tmp_path / "a")
    assert played(tmp_path / "a") == 2.0
    assert len(bundle.opened(tmp_path / "a", Session()).slides) == 2


def test_what_is_from_outside_is_told(own: Path) -> None:
    agreed = frozenset({own.parent / "keys" / "key.npy"})
    lecture: Lecture = parse(text("k.cu", "f32[32]=zeros u8[12]=@../keys/key.npy"), own, "", agreed)
    packing = gather(lecture, Reach(own))
    assert packing.outside == (own.parent / "keys" / "key.npy",)
    assert gather(lecture, Reach(own, agreed)).outside == ()
    assert set(gather(lecture).outside) == {own / "k.cu", *agreed}
    origins = {file.name: file.origin for file in packing.files}
    assert origins["kernels/k/k.cu"] == own / "k.cu" and origins[bundle.TEXT] is None


def test_the_command_line_lists_and_asks_for_a_word(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(own, {"a.gpuviz-lecture": text("k.cu", "f32[32]=zeros u8[12]=@../keys/key.npy")})
    command = ["present", str(own / "a.gpuviz-lecture")]
    out, key = tmp_path / "b", tmp_path / "keys" / "key.npy"
    assert main([*command, "--check"]) == 1
    assert main([*command, "--pack", str(out)]) == 0
    told = capsys.readouterr()
    assert "lecture.gpuviz-lecture" in told.out and "key.npy" not in told.out
    assert str(key) in told.err and "--allow" in told.err
    assert main([*command, "--check", "--allow", str(key)]) == 0
    assert main([*command, "--pack", str(out), "--allow", str(key)]) == 0
    told = capsys.readouterr()
    (line,) = [line for line in told.out.splitlines() if line.endswith(str(key))]
    assert line.startswith("kernels/k/key.npy ") and " 140 B " in line and told.err == ""
