"""gpuviz withstands what it was not made for; and what tells of that would tell if it did not."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="processes are bounded by POSIX's limits")

from tests.hostile import __main__ as command
from tests.hostile import breaking, entering
from tests.hostile.corpus import cases, seeded
from tests.hostile.figures import figures, table
from tests.hostile.outcome import Outcome
from tests.hostile.pool import Asked, tried
from tests.hostile.table import KINDS

ENOUGH = 4000  # inputs of a full run


def check(outcomes: Iterable[Outcome]) -> None:
    """None is bad; the inputs of those that are lie in build/hostile."""
    bad = [one for one in outcomes if not one.good]
    files = "\n".join(map(str, command.leave(bad)))
    told = "\n".join(f"{one.kind} {one.seed}, {one.door}: {one.end}\n{one.said}" for one in bad)
    assert not bad, f"{told}\n{files}"


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_one_of_each_kind_and_what_was_found_once() -> None:
    check(tried([*(Asked(name, "1") for name in KINDS), *cases()], workers=1))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thousands(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    outcomes = list(tried(seeded()))
    found = figures(outcomes, time.monotonic() - start)
    with capsys.disabled():
        print("\n" + table(found))
    assert found["all"]["inputs"] >= ENOUGH
    check(outcomes)


@pytest.mark.parametrize("name", ["ptx", "ptx_made", "cuda", "npy", "lecture", "trace", "names"])
def test_a_seed_makes_the_same_input_again(name: str) -> None:
    kind = KINDS[name]
    assert kind.content(5) == kind.content(5)
    assert len({kind.content(seed) for seed in range(5)}) > 1


@pytest.mark.slow
def test_what_breaks_is_told() -> None:
    """By a process that goes on, or else dies with its input alone."""
    ends = {
        "dies": "died",
        "waits": "hang",
        "computes": "hang",
        "eats": "memory",
        "stumbles": "traceback",
        "stumbles_as_command": "traceback",
        "strays": "elsewhere",
        "chatters": "chatter",
        "escapes": "escape",
        "withstands": "value",
    }
    assert set(ends) == set(breaking.KINDS)
    asked = [Asked(kind, "1") for kind in ends]
    found = tried(asked, table=breaking.__name__, seconds=6.0)
    assert {one.kind: one.end for one in found} == ends


def test_processor_time_is_bounded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(entering, "SECONDS", 0.1)
    assert entering.called(breaking.computes, tmp_path)[0] == "hang"


def test_a_file_that_is_left_makes_the_input_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LEFT", tmp_path)
    (left,) = command.leave([Outcome("npy", "17", "argument", "hang")])
    assert left.name == "npy-17.npy"
    assert left.read_bytes() == KINDS["npy"].content(17)
