"""Timelines as files: of the launch that a view's moment shows, in Perfetto's format or drawn."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.export.formats import JSON, SVG, TIMELINE, format_of
from gpuviz.export.reading import read
from gpuviz.export.save import save, save_timeline
from gpuviz.story.script import Script
from gpuviz.timing.explanation import Explanation, limits
from gpuviz.views.lesson_view import Subject, View, explained_of, wish_of
from gpuviz.views.time_view import time_view
from tests.timing.launches import made


@cache
def subject() -> Subject:
    """A launch explained, nothing mended."""
    prediction, timeline = made("shloop_32")
    return Subject(Explanation(prediction, limits(prediction), (), timeline), "shloop", "", "sm_90")


def view(asked: list[str]) -> View:
    """A view of two launches, one after the other, that says whose time it was asked for."""
    script = Script("first")
    script.act(1.0, "load", "one")
    script.act(1.0, "load", "other", role="second")
    shown = time_view(subject())
    story = replace(shown.story, steps=tuple(script.steps))

    def explain(role: str, progress: object, cancel: object) -> Subject:
        asked.append(role)
        return subject()

    return replace(shown, story=story, explain=explain)


def test_a_suffix_may_have_two_points() -> None:
    assert format_of(Path("a.trace.json")) is format_of(Path("A.TRACE.JSON")) is TIMELINE
    assert format_of(Path("trace.json")) is JSON and format_of(Path("a.trace.svg")) is SVG


@pytest.mark.slow
@pytest.mark.machine_code
def test_the_launch_of_the_moment_is_written_with_the_record_of_its_view(tmp_path: Path) -> None:
    asked: list[str] = []
    one = view(asked)
    for time in (0.5, 1.5):
        path = tmp_path / f"{time}.trace.json"
        save(replace(one, provenance=replace(one.provenance, time=time)), path)
        assert read(path).time == time
    trace = json.loads(path.read_text())
    assert asked == ["first", "second"]
    assert trace["otherData"]["kernel"] == "shloop" and len(trace["traceEvents"]) > 1000


@pytest.mark.machine_code
def test_it_is_drawn_where_the_suffix_is_that_of_a_picture(tmp_path: Path) -> None:
    save_timeline(view([]), tmp_path / "a.svg")
    assert "wavefronts" in (tmp_path / "a.svg").read_text()


@pytest.mark.machine_code
def test_where_there_is_no_time_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.trace.json"
    path.write_text("old")
    with pytest.raises(InputError, match="nothing is launched here"):
        save(replace(view([]), explain=None), path)
    shown = SimpleNamespace(companions={}, sides=(), runs={})
    with pytest.raises(UnavailableError, match="cannot be run once more"):
        save(replace(view([]), explain=lambda *a: explained_of(shown, *a)), path)  # type: ignore[arg-type]
    assert path.read_text() == "old" and [*tmp_path.iterdir()] == [path]
    with pytest.raises(UnavailableError):
        wish_of(shown, "first")  # type: ignore[arg-type]
