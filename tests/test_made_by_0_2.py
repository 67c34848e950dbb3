"""What gpuviz 0.2 wrote, said and offered still opens, is said and is there: one of each kind.

tests/data/made_by_0_2 was written by 0.2 itself: face.json, options.json and outputs.json are its
names in Python, its options, and the keys of what it printed as JSON.
"""

import inspect
import json
import shutil
from argparse import _SubParsersAction
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QSettings
from pytestqt.qtbot import QtBot

import gpuviz
from gpuviz import cli
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course import COURSE, lesson
from gpuviz.export.reading import read_any
from gpuviz.lectures.bundle import unpacked
from gpuviz.lectures.reading import read as read_lecture
from gpuviz.memory.counts import Count
from gpuviz.qt.history.crash_file import CrashFile
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.qt.window.window import Window
from gpuviz.recordings import recording
from gpuviz.run.session import Session
from gpuviz.story.lesson import check_values
from gpuviz.story.perform import perform
from gpuviz.story.traced import lesson_of
from gpuviz.sweeps import record as sweep_record
from gpuviz.traces import file as trace_file
from gpuviz.views.link import link, parse
from gpuviz.views.make_view import missing
from gpuviz.views.provenance import Provenance

FOLDER = Path(__file__).parent / "data" / "made_by_0_2"
LINKS = (FOLDER / "links.txt").read_text(encoding="utf-8").splitlines()


def told(name: str) -> Any:
    """What a file of the folder says."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "gif", "apng", "html", "json"])
def test_an_exported_file_opens_with_its_view(suffix: str) -> None:
    view = read_any(FOLDER / f"view.{suffix}")
    assert isinstance(view, Provenance)
    assert (view.lesson, view.version, view.arch) == ("coalescing", "0.2.0", "sm_90")
    assert check_values(lesson(view.lesson), view.values)["stride"] == 4


def test_a_trace_opens() -> None:
    trace = trace_file.load(FOLDER / "coalescing.gputrace")
    assert (trace.launch.grid, trace.launch.block) == ((65536, 1, 1), (256, 1, 1))
    shown = lesson_of(FOLDER / "coalescing.gputrace")
    run = next(iter(perform(shown, shown.defaults()).runs.values()))
    totals = run.counts.totals
    assert totals[Count.GLOBAL_LOAD_SECTORS] == 16 * totals[Count.GLOBAL_LOAD_REQUESTS] > 0


def test_a_recording_opens() -> None:
    found = recording.read(FOLDER.parent / "h200_small_launches.gpurec")
    assert found.entries and found.device.name == "NVIDIA H200"


def test_a_sweep_opens() -> None:
    head, outcomes = sweep_record.read(FOLDER / "stride.jsonl")
    assert len(outcomes) == 4
    assert head is not None


@pytest.mark.parametrize("name", ["lecture", "packed"])
def test_a_lecture_opens(name: str) -> None:
    file = FOLDER / f"{name}.gpuviz-lecture"
    found = read_lecture(unpacked(file)[0])
    assert len(found.slides) > 3 and not found.problems


@pytest.mark.parametrize("line", LINKS, ids=range(len(LINKS)))
def test_a_link_opens_and_is_written_as_it_was(line: str) -> None:
    line = line.replace("FOLDER", str(FOLDER))
    view = parse(line)
    assert missing(view) is None
    assert link(view) == line.replace(str(Path.home()), "~")
    if not view.launch:
        check_values(lesson(view.lesson), view.values)
        check_values(lesson(view.compare_lesson or view.lesson), view.compare_values)


@pytest.mark.machine_code
@pytest.mark.skipif(not nvrtc.libraries(), reason="compiles a kernel")
@pytest.mark.parametrize("command", told("outputs.json"))
def test_what_is_printed_as_json_has_its_keys(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for file in FOLDER.glob("shift.*"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 0
    assert set(told("outputs.json")[command]) <= set(keys(json.loads(capsys.readouterr().out)))


def keys(value: Any, at: str = "") -> list[str]:
    """Every key of what JSON said, with those it is below."""
    if isinstance(value, dict):
        return [
            key
            for name, one in value.items()
            for key in (f"{at}{name}", *keys(one, f"{at}{name}."))
        ]
    return [key for one in value for key in keys(one, at)] if isinstance(value, list) else []


@pytest.mark.parametrize("command", told("options.json"))
def test_options_are_there(command: str) -> None:
    assert command in cli.COMMANDS
    actions = cli.parser(command)._actions
    choices = next(one for one in actions if isinstance(one, _SubParsersAction)).choices
    assert choices is not None
    found = {word for one in choices[command]._actions for word in one.option_strings or [one.dest]}
    assert set(told("options.json")[command]) <= found


@pytest.mark.parametrize("name", told("face.json"))
def test_the_face_of_python_has_its_names(name: str) -> None:
    found, members = getattr(gpuviz, name), told("face.json")[name]
    if inspect.isclass(found):
        fields = getattr(found, "__dataclass_fields__", {})
        assert set(members) <= {*dir(found), *fields}
    elif callable(found):
        assert list(inspect.signature(found).parameters)[: len(members)] == members


def test_the_window_opens_as_0_2_left_it(qtbot: QtBot, tmp_path: Path) -> None:
    """Preferences, lesson, values, B and the list of recent views."""
    load_fonts()
    shutil.copy(FOLDER / "settings.ini", tmp_path)
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = Window(perform, COURSE, settings, None, None, session=Session())
    try:
        view = window.view.now
        assert (view.lesson.id, view.values["stride"], view.seconds) == ("banks", 7, 60)
        assert view.compared and view.compare_values["stride"] == 8
        assert (window.theme.mode, window.theme.look.scale) == ("projector", 1.5)
        assert window.player.state.speed == 2
        assert window.meter.state.use == 0.25
    finally:
        window.close()
        window.deleteLater()
    settings.sync()
    kept = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    wanted = {"language": "es", "reduced_motion": "true", "emulation_seconds": "60", "tour": "seen"}
    assert {key: str(kept.value(key)).removesuffix(".0") for key in wanted} == wanted
    assert LINKS[0] in json.loads(str(kept.value("recents")))


def test_what_a_crash_left_is_found(tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "crash", tmp_path / "crash")
    left = CrashFile(tmp_path / "crash").left
    assert left is not None and left.view == LINKS[0]
    assert [(one.file, one.text, one.base) for one in left.unsaved] == [
        ("kernel.cu", "new text", "old text")
    ]


def test_a_file_of_a_newer_gpuviz_says_so(tmp_path: Path) -> None:
    """The other way round cannot work, and is told."""
    newer = (
        (FOLDER / "view.svg")
        .read_text(encoding="utf-8")
        .replace('"gpuviz view": 1', '"gpuviz view": 9')
    )
    (tmp_path / "view.svg").write_text(newer, encoding="utf-8")
    with pytest.raises(InputError, match="newer"):
        read_any(tmp_path / "view.svg")
