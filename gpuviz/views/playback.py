"""Where a story is being played: an immutable state and what changes it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gpuviz.story import script
from gpuviz.story.lesson import Story

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpuviz.base.arrays import F64

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Two times nearer than this are the same step boundary.
CLOSE = 1e-6


@dataclass(frozen=True)
class Playback:
    """A place on a time line; `bounds` (ascending) are where it waits when it is stepped through.

    When `calm` nothing moves: while the `clock` runs through a step, `t` is the end of that step.
    Standing still there is no clock.
    """

    t: float = 0.0
    playing: bool = False
    speed: float = 1.0
    loop: bool = False
    bounds: Sequence[float] | F64 = field(default=(0.0,), compare=False)
    calm: bool = False
    clock: float | None = None

    @property
    def start(self) -> float:
        """Time of the first step."""
        return float(self.bounds[0])

    @property
    def end(self) -> float:
        """Time at which the last step ends."""
        return float(self.bounds[-1])


def bounds_of(story: Story) -> F64:
    """Its beginning and end, and between them where steps start, or show all that they have."""
    return script.bounds_of(story.steps)


def told(state: Playback, story: Story, keep: bool = False) -> Playback:
    """The state for a new story, entered at its beginning or at the place there was."""
    bounds = bounds_of(story)
    if not keep:
        return replace(state, bounds=bounds, t=float(bounds[0]), clock=None)
    clock = state.clock if state.clock is None else _place(replace(state, t=state.clock), bounds)
    return replace(state, bounds=bounds, t=_place(state, bounds), clock=clock)


def _place(state: Playback, bounds: F64) -> float:
    """The same share of the same step where there are as many steps, else of the whole story."""
    if len(bounds) == len(state.bounds):
        return float(np.interp(state.t, state.bounds, bounds))
    span = state.end - state.start
    share = (state.t - state.start) / span if span > 0 else 0.0
    return float(bounds[0] + share * (bounds[-1] - bounds[0]))


def sought(state: Playback, t: float) -> Playback:
    """The state moved to time t, kept within the story."""
    return replace(state, t=min(max(t, state.start), state.end), clock=None)


def advanced(state: Playback, seconds: float) -> Playback:
    """The state after so many seconds of the wall clock; stops, or starts again, at the end."""
    if not state.playing:
        return state
    t = (state.t if state.clock is None else state.clock) + seconds * state.speed
    if t < state.end:
        return _reached(state, t)
    if state.loop and state.end > state.start:
        return _reached(state, state.start + (t - state.start) % (state.end - state.start))
    return replace(state, t=state.end, playing=False, clock=None)


def _reached(state: Playback, t: float) -> Playback:
    """The state with its clock at t: which is shown, or the end of the step that it is in."""
    if not state.calm:
        return replace(state, t=t, clock=None)
    return replace(state, t=_after(state, t), clock=t)


def calmed(state: Playback, calm: bool) -> Playback:
    """The state with pictures that stand still, or that move."""
    return replace(state, calm=calm, clock=None)


def toggled(state: Playback) -> Playback:
    """Play or pause; playing from the end starts at the beginning."""
    if not state.playing and state.t >= state.end - CLOSE:
        state = replace(state, t=state.start)
    return replace(state, playing=not state.playing and state.end > state.start, clock=None)


def stepped(state: Playback, forward: bool) -> Playback:
    """Paused at the next, or the previous, step boundary."""
    if forward:
        t = _after(state, state.t + CLOSE)
    else:
        before = bisect_left(state.bounds, state.t - CLOSE) - 1
        t = float(state.bounds[max(before, 0)])
    return replace(state, t=t, playing=False, clock=None)


def _after(state: Playback, t: float) -> float:
    """The first bound after a time, or the end."""
    return float(state.bounds[min(bisect_right(state.bounds, t), len(state.bounds) - 1)])


def paced(state: Playback, faster: bool) -> Playback:
    """The next quicker or slower of `SPEEDS`."""
    if faster:
        speed = next((s for s in SPEEDS if s > state.speed), SPEEDS[-1])
    else:
        speed = next((s for s in reversed(SPEEDS) if s < state.speed), SPEEDS[0])
    return replace(state, speed=speed)
