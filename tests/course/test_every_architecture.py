"""A lesson as it opens is launched on every architecture: what one of them refuses is another
launch there, which says so, or is left out.
"""

from __future__ import annotations

import pytest

from gpuviz.arch import ARCHITECTURES, Architecture, architecture
from gpuviz.base.errors import LaunchError
from gpuviz.compile import nvrtc
from gpuviz.course import SCENES, lesson
from gpuviz.draw.marks import Texts
from gpuviz.draw.palette import DARK
from gpuviz.draw.stage import Stage
from gpuviz.launch.job import check_limits
from gpuviz.story.lesson import Story, check_values
from gpuviz.story.perform import accepted, job_of, perform
from tests.course.performed import real

FIRST = "sm_10"


def test_what_ships_of_a_lesson_is_never_refused_by_the_first() -> None:
    for one in SCENES:
        values = check_values(one, {})
        for plan in accepted(one.plan(values), FIRST, prebuilt=True):
            check_limits(job_of(plan, FIRST, prebuilt=True), architecture(FIRST))


@pytest.mark.slow
@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
@pytest.mark.parametrize("arch", ARCHITECTURES, ids=lambda arch: arch.sm)
def test_what_a_lesson_opens_with_is_never_refused(arch: Architecture) -> None:
    for one in SCENES:
        values = check_values(real(one), {})
        for plan in accepted(one.plan(values), arch.sm):
            check_limits(job_of(plan, arch.sm), arch)


def test_a_launch_of_fewer_blocks_says_so() -> None:
    one = lesson("coalescing")
    plans = one.plan(check_values(real(one), {}))
    (then,), (now,) = (accepted(plans, sm) for sm in (FIRST, "sm_90"))
    assert now.grid == (65536, 1, 1) and now.size == "16\u202f777\u202f216 elements of 4 bytes"
    assert then.grid == (32768, 1, 1) and then.role == now.role
    assert then.size == "8\u202f388\u202f608 elements of 4 bytes (here at most 65\u202f535 blocks)"


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
def test_registers_of_another_architectures_compiler_refuse_nothing() -> None:
    """The first GPUs had 8192 of them and their own compiler, which took 10 where today's takes 52;
    machine code of the architecture itself is held to its limits."""
    one = lesson("matmul-tiled")
    preset = next(p for p in one.presets if p.label == "64 × 64, tile 32")
    (plan, *_) = one.plan(check_values(one, preset.values))
    job = job_of(plan, "sm_90")
    few = architecture("sm_90").__class__(
        **{**vars(architecture("sm_90")), "registers_per_block": 64}
    )
    with pytest.raises(LaunchError, match="registers"):
        check_limits(job, few)
    check_limits(job_of(plan, "sm_20"), architecture("sm_20"))


@pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
@pytest.mark.parametrize("name", ["roofline", "ilp-tlp"])
def test_a_launch_that_is_left_out_leaves_a_story(name: str) -> None:
    given = {"tile": 32, "device": "document"} if name == "roofline" else {}
    story = perform(lesson(name), given, arch=FIRST, level="ptx").story
    assert words(story)
    if name == "roofline":
        assert "Blocks of 32 × 32 threads are refused here." in story.sentence
        assert "16 × 16 tiles" in story.title


def words(story: Story) -> list[str]:
    stage = Stage(1280, 720, DARK)
    moments = (story.duration * share for share in (0.0, 0.5, 1.0))
    frames = (story.frame(t, stage) for t in moments)
    return [s for frame in frames for m in frame.marks if isinstance(m, Texts) for s in m.strings]
