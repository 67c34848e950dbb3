import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.compile import nvrtc
from gpuviz.course.shared_memory.memory_spaces.automatic_array import placement_of
from gpuviz.course.shared_memory.memory_spaces.lesson import (
    LESSON,
    VARIANTS,
    Use,
    order_of,
    spaces_of,
    uses_of,
)
from gpuviz.draw.hit import tip_at
from gpuviz.draw.marks import Boxes, Texts
from gpuviz.story.perform import Performance
from tests.course import pictures
from tests.course.performed import performed

CASES = {p.label: dict(p.values) for p in LESSON.presets} | {
    "four": {"elements": 4, "turn": 1, "blocks": 1, "threads": 32},
    "thirty-two": {"elements": 32, "turn": 5, "spread": 7, "threads": 256},
}
SCALE = np.array([1.0, 0.5, 2.0, 0.25, 4.0, 0.125, 8.0, 0.0625])
cases = pytest.mark.parametrize("case", CASES)
pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def played(case: str, arch: str = "sm_90") -> Performance:
    return performed(LESSON, CASES[case], arch=arch)


def values(case: str) -> dict[str, object]:
    return {**LESSON.defaults(), **CASES[case]}


def uses(case: str, arch: str = "sm_90") -> dict[str, Use]:
    run = played(case, arch).runs[str(values(case)["variant"])]
    return uses_of(run.trace, architecture(arch))


def asked(case: str, key: str) -> int:
    found = uses(case).get(key)
    return found.requests if found else 0


@cases
def test_both_kernels_compute_what_they_say(case: str) -> None:
    v = {k: x for k, x in values(case).items() if k != "variant"}
    threads, n = int(v["threads"]), int(v["elements"])
    thread, k = np.arange(threads), np.arange(n)
    for variant in VARIANTS:
        got = played(case).runs[variant].outputs
        row = got["in"].astype(float).reshape(-1, threads)
        kept = row[:, thread[:, None] ^ k] * SCALE[k % 8]
        index = np.broadcast_to(k, (threads, n))
        if variant == "indexed":
            index = (k * v["turn"] + thread[:, None] * v["spread"]) % n
        picked = np.take_along_axis(kept, np.broadcast_to(index, kept.shape), axis=2)
        wanted = got["table"].astype(float) + picked.sum(axis=2)
        assert np.abs(got["out"].reshape(-1, threads) - wanted).max() < 1e-4


@cases
def test_requests_add_up_to_the_launch(case: str) -> None:
    run = played(case).runs[str(values(case)["variant"])]
    warps = run.trace.launch.blocks * run.trace.launch.warps_per_block
    totals = run.counts.totals
    counted = {
        "shared": ("shared_load", "shared_store"),
        "constant": ("constant_load",),
        "texture": ("texture_load",),
        "local": ("local_load", "local_store"),
    }
    for key, prefixes in counted.items():
        every = sum(totals[f"{prefix}_requests"] for prefix in prefixes)
        assert asked(case, key) * warps == every
    both = totals["global_load_requests"] + totals["global_store_requests"]
    assert asked(case, "global") * warps == both - totals["texture_load_requests"]


@cases
def test_the_array_is_in_local_memory_only_when_indexed_at_run_time(case: str) -> None:
    indexed, unrolled = (played(case).runs[v] for v in VARIANTS)
    one, other = (placement_of(r, architecture("sm_90")) for r in (indexed, unrolled))
    n = int(values(case)["elements"])
    warps = indexed.trace.launch.blocks * indexed.trace.launch.warps_per_block
    # A store of four words is four requests, as on the hardware.
    assert one.requests == 2 * n * warps
    totals = indexed.counts.totals
    assert one.sectors == totals["local_load_sectors"] + totals["local_store_sectors"]
    assert any(line.startswith(".local") for line in one.ptx)
    assert (other.requests, other.stack) == (0, 0)
    assert not any("local" in line for line in other.ptx)
    assert other.source == "sum += kept[k];"
    assert all(line.split()[-4].startswith("%f") for line in other.ptx)  # registers alone
    assert one.stack in (0, 4 * n)
    if n >= 16:
        assert one.stack == 4 * n


def test_equal_indices_share_sectors_and_different_ones_do_not() -> None:
    assert uses("Indexed at run time")["local"].each == "4"
    assert uses("Each lane another element")["local"].each == "4–32"
    assert uses("Indexed at run time")["constant"].each == "1"
    assert uses("Indexed at run time")["global"].each == "4"


def test_a_small_array_is_told_to_be_in_registers_after_all() -> None:
    run = played("A small array").runs["indexed"]
    told = played("A small array").story.sentence
    assert run.resources is not None
    assert ("registers instead" in told) == (run.resources.stack_bytes == 0)


@cases
def test_the_tour_is_in_the_order_of_the_trace(case: str) -> None:
    run = played(case).runs[str(values(case)["variant"])]
    order = order_of(run.trace)
    assert order[:3] == ("register", "global", "shared")
    assert ("local" in order) == (values(case)["variant"] == "indexed")
    spaces = spaces_of(run, architecture("sm_90"), uses(case))
    names = [spaces[key].name for key in order]
    assert [s.label for s in played(case).story.steps[: len(order)]] == names
    lines = run.trace.source.splitlines()
    for step in played(case).story.steps[1 : len(order)]:
        assert step.detail.split()[0] in run.trace.ptx
        assert any(w in lines[step.line - 1] for w in ("row[", "kept[", "scale[", "__ldg"))


def test_all_facts_are_there_in_the_end() -> None:
    story = played("Indexed at run time").story
    step = next(s for s in story.steps if s.label == "all spaces")
    shown = story.frame(step.end - 1e-3, pictures.STAGES["large"])
    words = [s for m in shown.marks if isinstance(m, Texts) for s in m.strings]
    assert words.count("one thread") == 2 and words.count("all threads") == 3
    assert words.count("its block") == 1 and words.count("the program") == 1


def test_hover_names_the_space() -> None:
    story = played("Indexed at run time").story
    shown = story.frame(1.0, pictures.STAGES["large"])
    box = next(m for m in shown.marks if isinstance(m, Boxes) and m.tip)
    x, y, width, height = box.rect[0].tolist()
    tip = tip_at(shown, x + width / 2, y + height / 2) or ""
    assert tip.startswith("registers · seen by one thread")


@pytest.mark.parametrize("stage", ["window", "half"])
def test_words_are_legible_on_another_architecture(stage: str, qapp: object) -> None:
    pictures.check_text(played("Indexed at run time", "sm_20").story, stage)
