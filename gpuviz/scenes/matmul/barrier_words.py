"""What is said about barriers, turns and races."""

from __future__ import annotations

from gpuviz.language import tr, trn
from gpuviz.panels.script import Step, StepKind
from gpuviz.ptx.races import Hazard
from gpuviz.scenes.matmul.barrier_scene import Course, slot_of
from gpuviz.scenes.matmul.turns import Turn
from gpuviz.scenes.matmul.words import spaced, things
from gpuviz.trace import LANES


def title(course: Course, variant: str) -> str:
    """The claim of the picture."""
    if variant != "both" and variant != "inside" and not course.shown.hazards:
        return tr("A block of one warp has no other warp to race with")
    return {
        "both": tr("With both barriers no warp overtakes the tiles of another"),
        "no first": tr("Without the first barrier a warp multiplies what is not loaded yet"),
        "no second": tr("Without the second barrier a warp loads over what others still read"),
        "none": tr("Without barriers nothing keeps the warps in the same phase"),
        "inside": tr(
            "Barrier and store in the inner loop: right, with {n} barriers instead of {few}",
            n=course.shown.replay.barriers,
            few=course.right.replay.barriers,
        ),
    }[variant]


def found(phase: int) -> str:
    """What a slot holds."""
    return tr("an element of phase {n}", n=phase + 1) if phase >= 0 else tr("nothing yet")


def sentence(course: Course, number: int) -> str:
    """What a turn does, and what goes wrong in it."""
    if number >= len(course.line):
        return _result(course)
    turn = course.line[number].turn
    warp, n = turn.warp, turn.phase + 1
    if turn.part == "barrier":
        if course.warps == 1:
            return tr("Barrier: the only warp has nobody to wait for.")
        return tr("Barrier: here all {n} warps wait for each other.", n=course.warps)
    if turn.part == "load":
        return tr("Warp {warp} copies its elements of phase {n} to shared memory.", warp=warp, n=n)
    if turn.part == "store":
        return tr("Warp {warp} stores its elements of P.", warp=warp)
    every, early, late = course.misreads[number]
    if early:
        return tr(
            "Warp {warp} multiplies phase {n}: {few} of its {all} reads come too early.",
            warp=warp,
            n=n,
            few=spaced(early),
            all=spaced(every),
        )
    if late:
        return tr(
            "Warp {warp} multiplies phase {n}: {few} of its {all} reads find the next phase.",
            warp=warp,
            n=n,
            few=spaced(late),
            all=spaced(every),
        )
    return tr("Warp {warp} multiplies phase {n}: it finds all that it needs.", warp=warp, n=n)


def _result(course: Course) -> str:
    """What the order of the turns does to the block's part of P."""
    shown = course.shown
    if shown.outcome.count:
        return tr(
            "In this order: {said}. With all warps in step, as emulated: none.",
            said=shown.outcome.said,
        )
    if shown.hazards:
        return tr("In this order nothing is wrong; in another it may be.")
    if course.warps == 1:
        return tr("Its lanes may still part ways: current hardware wants __syncwarp() then.")
    return tr("In every order of the warps the product is right.")


def nothing(course: Course) -> str:
    """The race check of a sound kernel."""
    if course.warps == 1:
        return tr("No hazard: all threads of the block are in one warp.")
    return tr("No hazard: between two barriers no warp touches what another one writes.")


def hazard_lines(course: Course, hazard: Hazard) -> tuple[tuple[str, bool], ...]:
    """A hazard in two sentences: which lines, and the first case of it."""
    early = tr(
        "lines {a} and {b}, {n} words",
        a=hazard.first.line,
        b=hazard.second.line,
        n=spaced(hazard.count),
    )
    kind = {
        "read after write": tr("Read after write"),
        "write after read": tr("Write after read"),
        "write after write": tr("Write after write"),
    }[hazard.kind]
    one, two = (
        tr("thread ({x},{y})", x=thread % course.tile, y=thread // course.tile)
        for thread in hazard.threads
    )
    slot = slot_of(course, hazard)
    cases = {
        "read after write": tr(
            "{one} writes {slot} and {two} of another warp reads it, with no barrier between.",
            one=one,
            two=two,
            slot=slot,
        ),
        "write after read": tr(
            "{one} reads {slot} and {two} of another warp writes it, with no barrier between.",
            one=one,
            two=two,
            slot=slot,
        ),
        "write after write": tr(
            "{one} and {two} of another warp write {slot}, with no barrier between.",
            one=one,
            two=two,
            slot=slot,
        ),
    }
    case = cases[hazard.kind]
    return (f"{kind}: {early}", True), (case[:1].upper() + case[1:], False)


_KIND: dict[str, StepKind] = {
    "load": "load",
    "multiply": "compute",
    "store": "store",
    "barrier": "barrier",
}


def steps(course: Course, role: str) -> tuple[Step, ...]:
    """The time line: one step a turn, then the result."""
    made = [
        Step(
            timed.start,
            timed.end,
            _KIND[timed.turn.part],
            _label(timed.turn),
            _detail(course, number),
            timed.turn.line,
            role,
        )
        for number, timed in enumerate(course.line)
    ]
    count = len(course.shown.hazards)
    races = trn("{n} hazard", "{n} hazards", count)
    last = f"{races} · {course.shown.outcome.said}"
    return (*made, Step(course.line[-1].end, course.end, "result", tr("result"), last, role=role))


def _label(turn: Turn) -> str:
    """What a turn is called."""
    n, warp = turn.phase + 1, turn.warp
    return {
        "load": tr("warp {warp}: load {n}", warp=warp, n=n),
        "multiply": tr("warp {warp}: multiply {n}", warp=warp, n=n),
        "store": tr("warp {warp}: store", warp=warp),
        "barrier": tr("barrier"),
    }[turn.part]


def _detail(course: Course, number: int) -> str:
    """What a turn touches."""
    part, read = course.line[number].turn.part, course.misreads[number]
    if part == "barrier":
        return "__syncthreads()"
    if part == "multiply":
        return tr("{few} of {all} reads wrong", few=spaced(read.wrong), all=spaced(read.every))
    return things(min(LANES, course.tile**2), "thread")


def turn_tip(course: Course, number: int) -> str:
    """What hovering a bar says."""
    return f"{_label(course.line[number].turn)}\n{_detail(course, number)}"
