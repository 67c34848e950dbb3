"""What the clicks of a speaker lead through: the cues of a slide, one after another."""

from dataclasses import dataclass

import numpy as np

from gpuviz.lectures.lecture import Question, Slide
from gpuviz.memory.counts import parts
from gpuviz.story.lesson import Story
from gpuviz.story.script import LongSteps, bounds_of, edges_of

_OPCODES = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red"}
_SPACES = {"constant": "const"}
_CLOSE = 5e-3  # seconds: stops nearer than this are one
_BEFORE = 1e-3  # seconds before the next step begins that the story waits: it shows what is over


@dataclass(frozen=True)
class Cue:
    """One click: the story is played from `start` to `end`, and waits there.

    A cue that `asks` shows the pattern and the question; the one after it, which `reveals`, plays
    the answer.
    """

    start: float = 0.0
    end: float = 0.0
    asks: bool = False
    reveals: bool = False

    @property
    def moves(self) -> bool:
        """Whether anything is played, or a picture just stands."""
        return self.end > self.start


def cues(slide: Slide, story: Story | None) -> tuple[Cue, ...]:
    """The cues of a slide; without a story there is one, which shows what there is."""
    if story is None or slide.view is None:
        return (Cue(asks=slide.question is not None),)
    stops = _stops(slide, story)
    begins = edges_of(story.steps)[:-1]
    plays = [
        Cue(a, b - _BEFORE * bool(len(begins) and np.abs(begins - b).min() < _CLOSE))
        for a, b in zip(stops, stops[1:], strict=False)
    ]
    if slide.question is None:
        return (Cue(stops[0], stops[0]), *plays)
    first = plays[0] if plays else Cue(stops[0], stops[0])
    reveal = Cue(first.start, first.end, reveals=True)
    return (Cue(stops[0], stops[0], asks=True), reveal, *plays[1:])


def moments_of(space: str, op: str, story: Story) -> tuple[float, ...]:
    """When accesses of a kind begin in a story.

    Of millions of steps none is looked for: they are all of one launch from the beginning on.
    """
    steps = () if isinstance(story.steps, LongSteps) else story.steps
    name = f"{_OPCODES.get(op, op)}.{_SPACES.get(space, space)}"
    return tuple(step.start for step in steps if name in step.detail)


def asked_at(question: Question, story: Story) -> float:
    """When a story comes to what is asked about: to the first access of its kind, if it has any."""
    found: tuple[float, ...] = ()
    if question.count.count("_") > 1:
        space, op, _ = parts(question.count)
        found = moments_of(space, op, story)
    return min(found, default=story.steps[0].start if story.steps else 0.0)


def _stops(slide: Slide, story: Story) -> tuple[float, ...]:
    """The moments to wait at, all within the story."""
    begin, end = (story.steps[0].start, story.duration) if story.steps else (0.0, 0.0)
    if slide.question is not None and not slide.stops:
        begin = asked_at(slide.question, story)
    every = tuple(bounds_of(story.steps).tolist()) if slide.steps else ()
    wanted = every or slide.stops or (begin, end)
    if len(wanted) == 1 and slide.question is not None:
        wanted = (*wanted, end)  # a question has something to reveal
    kept: list[float] = []
    for stop in wanted:
        inside = min(max(stop, begin), end)
        if not kept or inside > kept[-1] + _CLOSE:
            kept.append(inside)
    return tuple(kept)
