"""What checks found as pictures: listed, gone to by a click, with the block, warp and lane lit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuviz.base.errors import KernelFault
from gpuviz.compile import nvrtc
from gpuviz.draw.layout import Rect
from gpuviz.draw.marks import Boxes
from gpuviz.panels.layout import panels
from gpuviz.panels.panel import GO
from gpuviz.panels.picture import Picture
from gpuviz.qt.playing.story_bar import FINDINGS
from gpuviz.run.run import Run
from gpuviz.story.kernel_launch import KernelLaunch
from gpuviz.story.own_kernel.findings import FindingList
from gpuviz.story.own_kernel.phases import WarpPhases
from gpuviz.story.own_kernel.pictures import PICTURES
from gpuviz.story.own_kernel.story import lesson_of
from gpuviz.story.perform import perform
from gpuviz.traces.check_table import ALL
from tests.course import pictures
from tests.course.own_kernels import performed, shown

pytestmark = pytest.mark.skipif(not nvrtc.libraries(), reason="NVRTC is not installed")


def went_to(name: str, number: int) -> tuple[Picture, Run, float]:
    """What a click on a finding leads to."""
    story = shown(name, picture=FINDINGS, goes_on=True).story
    assert story.at is not None
    listed = next(p for p in panels(story.at(0.0).body) if isinstance(p, FindingList))
    stage, area = pictures.STAGES["large"], Rect(0, 0, 400, 600)
    box = listed._box(stage, area, number)
    picked = listed.pick(stage, area, *box.center)
    assert picked is not None
    wanted = {id: value for id, value in picked.items() if id != GO}
    done = shown(name, picture=FINDINGS, goes_on=True, **wanted)
    assert done.story.at is not None and done.story.search is not None
    tried = (done.story.search.find(text) for text in str(picked[GO]).split(" | "))
    moment = float(next(found for found in tried if len(found))[0])
    return done.story.at(moment), done.runs["kernel"], moment


def test_the_bar_knows_the_picture() -> None:
    assert FINDINGS in PICTURES


def test_races_are_gone_to_and_both_accesses_are_marked() -> None:
    for number, op in enumerate(("read after write", "write after write", "write after read")):
        picture, run, moment = went_to("histogram", number)
        found = run.trace.findings[number]
        assert op in found.kind and found.other_line and found.phase == 0
        assert op in picture.title and f"at line {found.other_line}" in picture.sentence
        boxes = next(p for p in panels(picture.body) if isinstance(p, WarpPhases))
        assert len(boxes.marked) == 2
        listed = next(p for p in panels(picture.body) if isinstance(p, FindingList))
        assert listed.chosen == number


def test_a_run_goes_on_after_reads_outside_and_its_counts_say_so() -> None:
    with pytest.raises(KernelFault, match="past the end of buffer in"):
        shown("shift", goes_on=False)
    picture, run, moment = went_to("shift", 0)
    assert "in[512], and in has 512 elements" in picture.sentence
    assert "Lane 27 of warp 3 in block 3" in picture.sentence
    (found,) = run.trace.findings
    assert found.count == 5 and run.note.startswith("of a run with 5 accesses outside")
    out, given = run.outputs["out"], run.inputs["in"]
    assert (out[:-5] == given[5:]).all() and (out[-5:] == 0).all()


def test_writes_outside_are_lost() -> None:
    run = shown("spill_over", goes_on=True).runs["kernel"]
    assert [f.count for f in run.trace.findings if "illegal" in f.kind] == [16]
    assert run.outputs["out"].tolist() == list(range(48))


def test_a_misaligned_access_ends_the_run_and_what_it_did_is_shown() -> None:
    with pytest.raises(KernelFault, match="misaligned"):
        shown("misaligned", goes_on=False)
    picture, run, _ = went_to("misaligned", 0)
    assert picture.title == "Misaligned access of global memory, line 75"
    assert "a GPU ends the launch here" in picture.sentence
    (found,) = run.trace.findings
    assert (found.count, found.thread, found.address & 3) == (32, (0, 0, 0), 1)
    (row,) = run.trace.of(space="global", op="load").address  # the faulty request, and no other
    assert row[0] == found.address and not len(run.trace.of(space="global", op="store").address)
    assert run.note.startswith("of what ran until the misaligned global access at line 75")
    assert not run.whole


def test_a_run_goes_on_after_shared_accesses_outside() -> None:
    picture, run, _ = went_to("one_too_far", 0)
    assert picture.title.startswith("Outside of shared memory, line ")
    (found,) = run.trace.findings
    assert found.count == 2 and found.thread == (63, 0, 0) and run.whole
    part, given = run.outputs["out"], run.inputs["in"]
    assert (part[:-1] == given[1:]).all() and part[-1] == 0


def test_far_outside_of_shared_memory_a_run_ends_with_what_it_did() -> None:
    run = shown("far_outside", goes_on=True).runs["kernel"]
    assert len(run.trace.of(space="shared", op="store").address) == 2
    (found,) = run.trace.findings
    assert found.kind == "illegal shared access" and not run.whole


def test_the_lane_of_a_fault_is_lit() -> None:
    done = shown("shift", picture=FINDINGS, goes_on=True, block=3, warp=3)
    lit = done.story.frame(done.story.duration * 0.3, pictures.STAGES["large"])
    plain = shown("shift", picture="request", goes_on=True, block=3, warp=3).story
    colors = {
        mark.fill[27].tobytes() if mark.fill is not None and mark.fill.ndim == 2 else b""
        for mark in lit.marks
        if isinstance(mark, Boxes) and len(mark.rect) == 32
    }
    same = {
        mark.fill[27].tobytes() if mark.fill is not None and mark.fill.ndim == 2 else b""
        for mark in plain.frame(plain.duration * 0.3, pictures.STAGES["large"]).marks
        if isinstance(mark, Boxes) and len(mark.rect) == 32
    }
    assert colors & same - {b""}


def test_without_faults_it_says_what_was_looked_for() -> None:
    done = shown("sgemm", picture=FINDINGS)
    assert done.story.title == "The checks found no fault"
    assert "Looked for: memory" in " ".join(pictures.words(pictures.frame(done.story, 0.0)))
    unchecked = performed("sgemm", (), picture=FINDINGS)
    assert unchecked.story.title == "This launch was not checked"
    assert ALL


def test_reads_before_writes_and_barriers_passed_by_are_gone_to() -> None:
    picture, run, _ = went_to("unset", 0)
    assert picture.title == "Shared memory read before it was written, line 82"
    assert "Lane 0 of warp 1 in block 0" in picture.sentence
    picture, run, moment = went_to("passes_by", 0)
    assert picture.title == "Threads that pass a barrier by, line 87"
    listed = next(p for p in panels(picture.body) if isinstance(p, FindingList))
    assert listed.chosen == 0


STUDENT = """__global__ void k(const unsigned *d, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = 0;
    if (i <= n) v = d[i];
    if (threadIdx.x <= 64) atomicAdd(&bins[threadIdx.x], v);
    if (i == 0) bins[1 << 29] = v; }
"""


@pytest.mark.parametrize("picture", PICTURES)
def test_stray_accesses_leave_every_picture(picture: str, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(STUDENT)
    arguments = ("u32[1000]=arange", "u32[64]=zeros", "i32=1000")
    launch = KernelLaunch(tmp_path / "k.cu", "k", "k", (8, 1, 1), (128, 1, 1), arguments)
    done = perform(lesson_of(launch), {"picture": picture, "goes_on": True}, checks=ALL)
    found = {(f.line, f.kind) for f in done.runs["kernel"].trace.findings}
    assert found == {(line, "illegal global access") for line in (4, 5, 6)}
    assert done.story.at is not None and done.story.at(0.0).title


ROWS = """__global__ void rows(const float* a, float* sums, int n) {
    int row = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k];
    sums[row] = sum; }
"""


def test_what_costs_most_is_said_and_gone_to_where_there_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(ROWS)
    arguments = ("f32[16384]=rand", "f32[128]=zeros", "i32=128")
    launch = KernelLaunch(tmp_path / "k.cu", "rows", "rows", (1, 1, 1), (128, 1, 1), arguments)
    for checks, below in ((ALL, "No fault. Looked for"), ((), "This launch was not checked")):
        done = perform(lesson_of(launch), {"picture": FINDINGS}, checks=checks)
        assert done.story.title == "Line 4 costs 8 × what it could"
        assert done.story.at is not None
        assert "A row for each lane, 512 bytes apart" in done.story.at(0.0).sentence
        assert below in " ".join(pictures.words(pictures.frame(done.story, 0.0)))


def test_faults_come_before_what_costs_and_both_are_chosen_by_a_click() -> None:
    story = shown("histogram", picture=FINDINGS, goes_on=True).story
    assert story.at is not None and "faults: line 5" in story.title
    listed = next(p for p in panels(story.at(0.0).body) if isinstance(p, FindingList))
    assert all("line " in words for row in listed.rows for words in row.where)
    go = str(listed.choose(len(listed.rows) - 1)[GO])
    assert story.search is not None and len(story.search.find(go.split(" | ")[0]))
    inks = [row.ink for row in listed.rows]
    assert inks == sorted(inks)  # "bad", then "warn"


def test_what_follows_from_a_guess_accuses_no_kernel(tmp_path: Path) -> None:
    """Nobody said how long `in` is: the window says that, as `count` does."""
    path = tmp_path / "far.cu"
    path.write_text("__global__ void far(const int* in, int* out) { out[0] = in[threadIdx.x]; }\n")
    given = "i32[16]=zeros", "i32[1]=zeros"
    made = KernelLaunch(path, "_Z3farPKiPi", "far", (1, 1, 1), (32, 1, 1), given)
    said = perform(lesson_of(made), {"picture": FINDINGS, "goes_on": True}, checks=ALL)
    assert said.story.title == "Outside of all buffers, line 1"
    assert [one.severity for one in said.runs["kernel"].trace.findings] == ["error"]
    guessed = lesson_of(replace(made, guesses=("in",)))
    done = perform(guessed, {"picture": FINDINGS, "goes_on": True}, checks=ALL)
    (one,) = done.runs["kernel"].trace.findings
    assert one.severity == "warning" and "as proposed (in = i32[16]=zeros)" in one.message
    assert "Say what is right of in: nobody did" in done.story.sentence


def test_findings_are_told_where_the_warp_shown_asks_nothing(tmp_path: Path) -> None:
    """They are of the launch: the first warp of a stencil may be all margin."""
    path = tmp_path / "late.cu"
    text = "__global__ void late(float* a) { if (threadIdx.x > 31) a[threadIdx.x * 32] = 1; }\n"
    path.write_text(text)
    launch = KernelLaunch(path, "_Z4latePf", "late", (1, 1, 1), (64, 1, 1), ("f32[2048]=zeros",))
    story = perform(lesson_of(launch), {"picture": FINDINGS}, checks=ALL).story
    assert story.title == "Line 1 costs 8 × what it could"
    plain = perform(lesson_of(launch), {"picture": "request"}, checks=ALL).story
    assert plain.title == "Warp 0 of block 0 asks nothing of memory"
