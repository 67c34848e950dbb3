from dataclasses import replace

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import InputError
from gpuviz.compile import nvrtc
from gpuviz.course.global_memory.alignment import lesson as alignment
from gpuviz.course.global_memory.alignment.lesson import LESSON
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes
from gpuviz.memory.request import Request, requests_of
from gpuviz.panels.time_bars import TimeBars
from gpuviz.recordings.measurement import CounterValue, DeviceFacts, Measurement
from gpuviz.story.measured import LaunchTime
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

LAYOUTS = ("packed", "aligned", "arrays")
# Loads and transactions of a warp's five floats: from 5.0 on 20-byte, 32-byte and 4-byte steps.
CLOSED = {"packed": (5, 5 * 20), "aligned": (2, 2 * 32), "arrays": (5, 5 * 4)}
ORDERED = {"packed": (5, 5 * 32), "aligned": (2, 2 * 32), "arrays": (5, 5 * 2)}

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")
layouts = pytest.mark.parametrize("layout", LAYOUTS)


def played(layout: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, {"layout": layout, "warp": 1}, arch=arch)


def loads(layout: str, arch: str = "sm_90") -> list[Request]:
    trace = played(layout, arch).runs[layout].trace
    return [r for r in requests_of(trace, architecture(arch), 0, 1) if not r.is_store]


@layouts
def test_the_sum_of_five_floats(layout: str) -> None:
    outputs = played(layout).runs[layout].outputs
    given = [np.asarray(v, np.float64) for name, v in outputs.items() if name != "out"]
    structs = given[0].reshape(2048, -1) if layout != "arrays" else np.stack(given, axis=1)
    wanted = structs[:, :5].sum(axis=1)
    assert np.abs(np.asarray(outputs["out"], np.float64) - wanted).max() < 1e-5


@layouts
@pytest.mark.parametrize(
    ("arch", "table"), [("sm_90", CLOSED), ("sm_50", CLOSED), ("sm_11", ORDERED)]
)
def test_loads_and_transactions(layout: str, arch: str, table: dict[str, tuple[int, int]]) -> None:
    made, run = loads(layout, arch), played(layout, arch).runs[layout]
    assert (len(made), sum(r.count for r in made)) == table[layout]
    warps = run.trace.launch.blocks * run.trace.launch.warps_per_block
    totals = run.counts.totals
    assert totals["global_load_requests"] == warps * table[layout][0]
    assert totals["global_load_sectors"] == warps * table[layout][1]
    assert totals["global_load_bytes"] == warps * 32 * 20


def test_the_published_number_of_loads() -> None:
    """The slides: five 32-bit loads become two; here the second one leaves the padding alone."""
    assert [r.instruction.width for r in loads("packed")] == [4] * 5
    assert [r.instruction.width for r in loads("aligned")] == [16, 4]
    assert "5 loads of 32 bits packed, 2 of 128 bits" in played("packed").story.expected


@layouts
def test_all_layouts_stand_on_one_axis_in_the_end(layout: str) -> None:
    story = played(layout).story
    assert story.at is not None
    shown = story.at(story.duration).body
    assert isinstance(shown, TimeBars) and shown.picks[shown.now or 0] == {"layout": layout}
    counts = [bar.note[-1] for bar in shown.bars]
    assert counts == [f"{n} sectors asked for" for n in (100, 64, 20)]


def test_a_sector_that_an_earlier_load_asked_for_is_not_called_wasted() -> None:
    """The packed struct's loads ask for the same 20 sectors five times: L2 delivers them once."""
    story = played("packed").story
    second = next(s for s in story.steps[2:] if s.label == "request")
    shown = pictures.words(story.frame(second.end, pictures.STAGES["large"]))
    assert "Load 2 of 5: every 5th float: 20 sectors, all asked for before." in shown
    assert "100 sectors, 20 of them different" in story.sentence
    assert "384 bytes of them are padding" in played("aligned").story.sentence
    assert played("arrays").story.sentence == "One warp asks for 20 sectors, each once: 640 bytes."
    assert "L1" not in played("packed", "sm_30").story.sentence


def test_what_l2_delivered_stands_beside_what_was_asked_for(qapp: object) -> None:
    h200 = DeviceFacts(0, "NVIDIA H200", "9.0", "", "", 132, 0, 0)
    runs = {
        role: replace(
            run,
            measurement=Measurement(
                "recorded",
                "2026-01-01",
                h200,
                {
                    "global_load_sectors": CounterValue(run.counts.totals["global_load_sectors"]),
                    "l2_to_l1_sectors": CounterValue(64 * warp),
                },
            ),
        )
        for (role, run), warp in zip(played("packed").runs.items(), (21.5, 32, 20), strict=True)
    }
    story = LESSON.narrate(LESSON.defaults() | {"warp": 1}, runs)
    for stage in pictures.STAGES:
        pictures.check_text(story, stage)
    shown = " ".join(pictures.words(pictures.frame(story, 1.0, "full")))
    assert all(f"{share} % from L2" in shown for share in ("21.5", "50", "100"))


def test_hover_tells_the_byte_of_the_struct() -> None:
    shown = pictures.frame(played("packed").story, 0.05)
    lanes = next(m for m in shown.marks if isinstance(m, Boxes) and len(m.rect) == 32 and m.tip)
    x, y, width, height = lanes.rect[3].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert "lane 3 · thread 35 of block 0" in tip and "p[35] + 0 · bytes 700 to 703" in tip


@layouts
@pytest.mark.parametrize("arch", ["sm_10", "sm_12"])
@pictures.stages
def test_words_are_legible_on_older_architectures(
    layout: str, arch: str, stage: str, qapp: object
) -> None:
    pictures.check_text(played(layout, arch).story, stage)


@pictures.stages
def test_times_have_their_bars(stage: str, monkeypatch: pytest.MonkeyPatch, qapp: object) -> None:
    timed = LaunchTime(12.34, "recorded", "NVIDIA H200")
    monkeypatch.setattr(alignment, "measured_of", lambda run: (timed, None))
    values = LESSON.defaults() | {"layout": "packed", "warp": 1}
    story = LESSON.narrate(values, played("packed").runs)
    pictures.check_text(story, stage)
    shown = pictures.words(pictures.frame(story, 1.0, stage))
    assert shown.count("12.3\u202fµs") == 3 and "recorded" in shown


def test_a_warp_that_is_not_there_is_explained() -> None:
    with pytest.raises(InputError, match="no warp 4"):
        performed(LESSON, {"warp": 4})
