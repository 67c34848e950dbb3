"""Views into files of every format, as `gpuviz render` and the window write them."""

import csv
import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuviz.base.errors import FormatError, InputError
from gpuviz.cli import main
from gpuviz.draw.marks import Boxes
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.export.export import Options
from gpuviz.export.formats import FORMATS, SUFFIXES, Format, format_of
from gpuviz.export.reading import read
from gpuviz.export.save import name_for, save_traces
from gpuviz.export.svg_marks import hatch_lines
from gpuviz.qt.painting import qt_painter
from gpuviz.traces import file as trace_file
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import timed, view_of
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import grouped
from tests.export.pictures import apart, by_qt, pixels, program, run, save

pytestmark = pytest.mark.usefixtures("qapp")
SIZE = (480, 300)


@pytest.fixture(scope="module")
def view() -> View:
    made = Provenance("coalescing", {"stride": "2"}, "sm_90", theme="light", width=480, height=300)
    return timed(view_of(made), 4.0, 4.5)


@pytest.fixture(scope="module")
def still(view: View) -> View:
    return timed(view, 4.0)


@pytest.mark.machine_code
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.suffix)
def test_each_file_opens_the_same_view_again(form: Format, view: View, tmp_path: Path) -> None:
    if missing := form.lacking():
        pytest.skip(missing)
    shown = view if form.stretch else timed(view, 4.0)
    first, again = tmp_path / f"a{form.suffix}", tmp_path / f"b{form.suffix}"
    for path in (first, again):
        save(shown, path, Options(fps=10))
    assert first.read_bytes() == again.read_bytes(), "the same at every run"
    assert first.read_bytes().startswith(form.begins)
    if form.record is None:  # plain tables have no room for it
        with pytest.raises(FormatError, match="does not say"):
            read(first)
    else:
        assert read(first) == shown.provenance


def test_rows_of_formats() -> None:
    assert len(set(SUFFIXES)) == len(FORMATS)
    assert all(row.suffix == row.suffix.lower() for row in FORMATS)
    assert {name for row in FORMATS for name in row.options} <= {f.name for f in fields(Options)}
    assert all(format_of(Path(f"a{row.suffix.upper()}")) is row for row in FORMATS)


@pytest.mark.parametrize("scale", [1, 2, 4])
def test_png_pixels(scale: int, still: View, tmp_path: Path) -> None:
    save(still, tmp_path / "a.png", Options(pixels=scale))
    shown = pixels(tmp_path / "a.png")
    assert shown.shape == (300 * scale, 480 * scale, 3)
    assert (shown == by_qt(still.still, scale)).all()


def test_transparent_pictures_have_no_ground(still: View, tmp_path: Path) -> None:
    save(still, tmp_path / "a.png", Options(transparent=True))
    with Image.open(tmp_path / "a.png") as image:
        clear = np.array(image.convert("RGBA"))
    assert (clear[0, 0] == 0).all() and (clear[..., 3] == 255).any()
    whole = by_qt(still.still)
    solid = clear[..., 3] == 255
    assert np.abs(clear[..., :3][solid].astype(int) - whole[solid]).mean() < 0.5


def test_pdf_is_drawn_alike_by_another_program(still: View, tmp_path: Path) -> None:
    convert = program("pdftoppm")
    save(still, tmp_path / "a.pdf")
    run(tmp_path, convert, "-r", "96", "-png", "-singlefile", tmp_path / "a.pdf", tmp_path / "a")
    # Its figures are those that are known to be figures, each as wide as it is.
    assert apart(pixels(tmp_path / "a.png"), by_qt(still.still)) < 7


def test_pdf_has_text_and_no_pixels(still: View, tmp_path: Path) -> None:
    content = qt_painter.pages((still.still,))
    assert b"/Subtype /Image" not in content and b"/FontFile" in content
    (tmp_path / "a.pdf").write_bytes(content)
    said = run(tmp_path, program("pdftotext"), tmp_path / "a.pdf", "-")
    assert "warp reads every second float" in said
    assert "of 8 sectors delivered" in said and "half of each sector it fetches" in said


def test_hatches_of_pdf_stay_inside_their_boxes() -> None:
    rects = np.array([[10, 10, 30, 20], [50, 12, 3, 40], [60, 5, 0.5, 0.5]], np.float32)
    lines = hatch_lines(rects)
    inside = np.zeros(len(lines), bool)
    for x, y, w, h in rects.tolist():
        low, high = np.array([x, y]), np.array([x + w, y + h])
        inside |= ((lines >= low - 1e-4) & (lines <= high + 1e-4)).all(axis=(1, 2))
    assert len(lines) > 5 and inside.all()
    sums = lines.sum(axis=2)
    assert np.allclose(sums[:, 0], sums[:, 1]) and np.allclose((sums - 1) % 8 % 8, 0, atol=1e-3)
    frame = Stage(100, 60, DARK).frame(Boxes(rects, DARK.panel, hatch=DARK.waste))
    assert b"/Subtype /Image" not in qt_painter.pages((frame,))


@pytest.mark.parametrize("suffix", [".gif", ".apng"])
def test_films_show_what_the_story_draws(suffix: str, view: View, tmp_path: Path) -> None:
    save(view, tmp_path / f"a{suffix}", Options(fps=10))
    with Image.open(tmp_path / f"a{suffix}") as image:
        assert image.size == SIZE
        image.seek(image.n_frames - 1)
        last = np.array(image.convert("RGB")).astype(int)
    most = {".gif": 1.0, ".apng": 0.0}[suffix]  # a GIF has 255 colours
    assert apart(last, by_qt(view.frame(4.4))) <= most


def test_data(still: View, tmp_path: Path) -> None:
    totals = still.runs["copy"].counts.totals
    save(still, tmp_path / "a.json")
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["runs"]["copy"]["totals"] == totals
    save(still, tmp_path / "a.csv")
    rows = list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))
    assert {len(row) for row in rows} == {8}
    assert [
        "copy",
        still.runs["copy"].size_words,
        "sm_90",
        "0",
        "",
        "global_load_sectors",
        str(totals["global_load_sectors"]),
        "modelled",
    ] in rows
    save(still, tmp_path / "a.md")
    assert f"| {grouped(totals['global_load_sectors'])} |" in (tmp_path / "a.md").read_text(
        encoding="utf-8"
    )
    (path,) = save_traces(still, tmp_path / "a.gputrace")
    assert trace_file.load(path).launch == still.runs["copy"].trace.launch


def test_names_and_refusals(still: View, tmp_path: Path) -> None:
    assert name_for(still).startswith("coalescing-")
    with pytest.raises(InputError, match=r"\.bmp.*PNG"):
        save(still, tmp_path / "a.bmp")
    with pytest.raises(InputError, match="too large"):
        save(still, tmp_path / "a.png", Options(pixels=100))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write"):
        save(still, tmp_path / "file" / "a.png")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--range", "5", "2", "-o", "a.gif"], "has to come after"),
        (["--range", "900", "950", "-o", "a.gif"], "the story goes from 0"),
        (["--range", "-3", "-1", "-o", "a.html"], "the story goes from 0"),
        (["--fps", "80", "-o", "a.gif"], "1 to 50"),
        (["--fps", "0", "-o", "a.html"], "at least 1"),
        (["--pixels", "0", "-o", "a.gif"], "too small"),
        (["--pixels", "8", "--size", "16384x200", "-o", "a.gif"], "at most 65535"),
        (["-o", "a" * 300 + ".png"], "too long"),
        (["--size", "10x10", "-o", "a.png"], "320x200"),
        (["--from", "absent.png", "-o", "a.png"], "absent.png"),
        (["--all", "--set", "a=1", "-o", "x"], "--all"),
        (["-o", "a"], "which format"),
    ],
)
def test_errors_are_one_message(
    options: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    scene = [] if {"--from", "--all"} & set(options) else ["--scene", "banks"]
    assert main(["render", *scene, *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("gpuviz: ") and words in said and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_rendering_from_an_exported_file(tmp_path: Path) -> None:
    compared = [
        "--scene",
        "coalescing",
        "--set",
        "stride=3",
        "--compare",
        "stride=5",
        "--theme",
        "light",
        "--size",
        "640x400",
        "--arch",
        "sm_80",
        "--time",
        "3",
    ]
    first, again = tmp_path / "a.png", tmp_path / "b.png"
    assert main(["render", *compared, "-o", str(first)]) == 0
    assert main(["render", "--from", str(first), "-o", str(again)]) == 0
    assert first.read_bytes() == again.read_bytes()
    assert main(["render", "--from", str(first), "--set", "stride=4", "-o", str(again)]) == 0
    assert read(again).values["stride"] == 4 and read(again).compare_values["stride"] == 5


@pytest.mark.slow
def test_every_lesson_in_one_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gpuviz.course import SCENES

    assert (
        main(["render", "--all", "--size", "640x400", "--format", "html", "-o", str(tmp_path)]) == 0
    )
    assert {f.stem for f in tmp_path.iterdir()} == {one.id for one in SCENES}
    assert max(f.stat().st_size for f in tmp_path.iterdir()) < 6 << 20
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gif", ".apng", ".mp4"])
def test_long_films_need_bounded_memory(suffix: str, tmp_path: Path) -> None:
    """Ten seconds of 1920x1080 at 30 pictures a second, in a process of its own: under 600 MB.

    Of a launch of one block: the 8 Mi elements of the lesson's own take 700 MB before a picture
    is drawn.
    """
    if suffix == ".mp4":
        pytest.importorskip("av")
    if sys.platform != "linux":
        pytest.skip("the memory of a process is asked for as on Linux")
    # Not getrusage's, which begins with what the process that starts this one held.
    code = (
        "import sys\nfrom gpuviz.cli import main\nstatus = main(sys.argv[1:])\n"
        "told = dict(line.split(':') for line in open('/proc/self/status'))\n"
        "print(status, told['VmHWM'].split()[0])"
    )
    out = tmp_path / f"film{suffix}"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            "render",
            "--scene",
            "coalescing",
            "--set",
            "blocks=1",
            "--range",
            "0",
            "10",
            "--fps",
            "30",
            "-o",
            str(out),
        ],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    status, kilobytes = map(int, done.stdout.split())
    assert status == 0 and out.stat().st_size < 20 << 20
    assert kilobytes < 600_000
