from dataclasses import replace

import numpy as np
import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.global_memory.divergence import lesson as divergence
from gpuviz.course.global_memory.divergence.lesson import (
    LESSON,
    Way,
    cost_of,
    path_of,
    sides_of,
    way_of,
)
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.panels.figures import Provenance
from gpuviz.story.measured import LaunchTime
from gpuviz.story.perform import Performance
from gpuviz.words.language import grouped
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "pairs": {"group": 2, "warp": 7, "threads": 256},
    "64": {"group": 64, "warp": 3},
    "once": {"group": 4, "first": 1, "second": 1},
    "long": {"group": 16, "first": 24, "second": 24},
}
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str) -> Performance:
    return performed(LESSON, CASES[case])


def values(case: str) -> dict[str, int]:
    return {k: int(v) for k, v in {**LESSON.defaults(), **CASES[case]}.items()}


def sides(case: str) -> dict[int, int]:
    """Which path each stretch belongs to, by the launch in which warps part."""
    parting = "groups" if values(case)["group"] < 32 else "compared"
    return sides_of(played(case).runs[parting].trace)


def way(case: str) -> Way:
    return way_of(played(case).runs["groups"], values(case)["warp"], sides(case))


@cases
def test_the_kernel_computes_what_a_loop_computes(case: str) -> None:
    given = values(case)
    for role, group in (("groups", given["group"]), ("compared", 0)):
        run = played(case).runs[role]
        group = group or int(dict(run.trace.launch.scalars)["group"])
        x = run.outputs["in"].astype(np.float64)
        thread = np.arange(len(x)) % given["threads"]
        on_a = thread // group % 2 == 0
        for k in range(24):
            x = np.where(on_a & (k < given["first"]), x * 0.5 + 1, x)
            x = np.where(~on_a & (k < given["second"]), x * 0.25 - 1, x)
        assert np.abs(run.outputs["out"] - x).max() < 1e-6


@cases
def test_lanes_are_at_work_exactly_on_their_path(case: str) -> None:
    given, mine = values(case), way(case)
    thread = np.arange(32) + 32 * given["warp"]
    on_a = thread // given["group"] % 2 == 0
    for part in mine.parts:
        wanted = (np.ones(32, bool), on_a, ~on_a)[part.path]
        assert (mine.active[part.start : part.stop] == wanted).all()
    both = {p.path for p in mine.parts} - {0}
    assert len(both) == (2 if given["group"] < 32 else 1)
    assert mine.parts[0].path == mine.parts[-1].path == 0


@cases
def test_every_instruction_of_the_warp_is_on_the_way(case: str) -> None:
    run, given = played(case).runs["groups"], values(case)
    ways = [way_of(run, w, sides(case)) for w in range(given["threads"] // 32)]
    blocks = run.trace.launch.blocks
    assert sum(w.total for w in ways) * blocks == run.trace.warp_instructions
    lanes = sum(int((w.count[:, None] * w.active).sum()) for w in ways)
    assert lanes * blocks == run.trace.thread_instructions
    assert (way(case).start[1:] == np.cumsum(way(case).count)[:-1]).all()


@cases
def test_warps_part_at_the_fork_only_below_32_lanes(case: str) -> None:
    run, given = played(case).runs["groups"], values(case)
    cost = cost_of(run, given["group"])
    warps = run.trace.launch.warps_per_block * run.trace.launch.blocks
    assert cost.forks == warps
    assert cost.parted == (warps if given["group"] < 32 else 0)
    assert sum(b.divergent for b in run.trace.branches) == cost.parted
    said = f"make {grouped(cost.parted)} of {grouped(warps)} warps diverge"
    assert said in played(case).story.expected
    assert (cost.efficiency == 1) == (given["group"] >= 32)


def test_groups_of_32_cost_as_much_as_lanes_that_never_wait() -> None:
    free = cost_of(played("Groups of 32").runs["groups"], 32)
    assert free.issued == free.used
    halves = cost_of(played("Groups of 16").runs["groups"], 16)
    single = cost_of(played("Groups of 1").runs["groups"], 1)
    assert halves.issued == single.issued > free.issued
    assert "67 % more instructions" in played("Groups of 16").story.sentence


@cases
def test_steps_name_lines_of_their_path(case: str) -> None:
    text = played(case).runs["groups"].trace.source.splitlines()
    for step in played(case).story.steps[:-1]:
        line = text[step.line - 1]
        if step.label.startswith("path"):
            assert step.label in line and "x = " in line
        else:
            assert step.label == "together" and "path" not in line and line.strip()
    pictures.check_steps(played(case).story)


@cases
def test_hatched_are_the_lanes_switched_off(case: str) -> None:
    mine = way(case)
    end = pictures.frame(played(case).story, 1.0, "full")
    hatched = [m for m in end.marks if isinstance(m, Boxes) and m.hatch is not None and m.tip]
    painted = sum(float((m.rect[:, 2] * (m.rect[:, 3] + 1)).sum()) for m in hatched)
    solid = next(m for m in end.marks if isinstance(m, Boxes) and m.tip and m.hatch is None)
    high = float(solid.rect[0, 3]) + 1
    lanes = painted / high
    off = sum(float((~mine.active[p]).sum()) * float(w) for p, w in enumerate(_widths(case, mine)))
    assert lanes == pytest.approx(off, rel=0.02)


def _widths(case: str, mine: Way) -> list[float]:
    """Pixels of each row of the way at the end, from its boxes."""
    end = pictures.frame(played(case).story, 1.0, "full")
    solid = next(m for m in end.marks if isinstance(m, Boxes) and m.tip and m.hatch is None)
    row = np.nonzero(mine.active)[0]
    return [float(solid.rect[row == p, 2][0]) for p in range(len(mine.count))]


def test_hover_tells_who_waits() -> None:
    shown = pictures.frame(played("Groups of 16").story, 1.0, "large")
    hatched = [m for m in shown.marks if isinstance(m, Boxes) and m.hatch is not None and m.tip]
    x, y, width, height = next(m for m in hatched if len(m.rect)).rect[-1].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip.startswith("lane 16 of warp 0 · switched off\nline 8 · instruction")


def test_bad_values_are_explained() -> None:
    assert LESSON.problem(LESSON.defaults()) == ""
    assert "no warp 7" in LESSON.problem({**LESSON.defaults(), "warp": 7})
    with pytest.raises(InputError, match="no path"):
        path_of(replace(played("Groups of 16").runs["groups"].trace, path=None))


def test_why_more_instructions_cost_no_time_is_told_where_counters_tell() -> None:
    """Memory is not the reason: 134 MB in 83 µs are 40 % of what a plain copy reaches."""
    few = {"instructions": 48.5e6, "achieved_occupancy": 58.9}
    many = {"instructions": 77.1e6, "achieved_occupancy": 84.4}

    def why(us: float, counted: dict[str, float] = many) -> tuple[Provenance, ...]:
        other = LaunchTime(100.0, "recorded", "a GPU")
        return divergence._why_alike([(counted, LaunchTime(us, "recorded", "a GPU")), (few, other)])

    (said,) = why(104.0)
    assert said.badge == "recorded"
    for text in said.texts:
        assert "59 % more machine instructions" in text and "4 % longer" in text
        assert "84 %" in text and "not 59 %" in text and "memory" not in text
    assert why(160.0) == why(104.0, few) == why(104.0, {}) == ()
    assert why(104.0, {**many, "achieved_occupancy": 59.0}) == ()
