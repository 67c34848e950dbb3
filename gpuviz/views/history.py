"""Views as they followed each other: an immutable history, and what moves in it."""

from dataclasses import dataclass, replace

from gpuviz.views.provenance import Provenance, Values

LONGEST = 200  # changes that can be undone
BURST = 0.6  # seconds: the same thing changed again sooner is the same change going on


@dataclass(frozen=True)
class History:
    """The view now, those before it (newest last) and those undone (next last).

    `what` names what the last change changed and `at` when, in seconds of any clock: one more
    change of the same soon after belongs to it.
    """

    now: Provenance
    past: tuple[Provenance, ...] = ()
    future: tuple[Provenance, ...] = ()
    what: frozenset[str] = frozenset()
    at: float = float("-inf")


def changes(before: Provenance, after: Provenance) -> frozenset[str]:
    """What differs: `lesson`, `arch`, `level`, `compare`, `a.stride`, `b.stride`, `b.arch`; of a
    kernel of the user's own `launch.grid` and the like.

    Time, size, colours and badges are no part of a view. Of another lesson everything differs.
    """
    if before.lesson != after.lesson:
        return frozenset({"lesson"})
    found = _differing("launch.", before.launch, after.launch) - {"launch.guesses"}
    found |= {name for name in ("arch", "level") if getattr(before, name) != getattr(after, name)}
    found |= _differing("a.", before.values, after.values)
    if before.compared != after.compared:
        found.add("compare")
    elif before.compared:
        found |= _differing("b.", before.compare_values, after.compare_values)
        if before.compare_arch != after.compare_arch:
            found.add("b.arch")
        sides = [(view.compare_lesson, dict(view.compare_launch)) for view in (before, after)]
        if sides[0] != sides[1]:
            found.add("b.lesson")
    return frozenset(found)


def _differing(side: str, before: Values, after: Values) -> set[str]:
    return {side + name for name in {**before, **after} if before.get(name) != after.get(name)}


def changed(history: History, view: Provenance, at: float) -> History:
    """Another view is shown, for the user changed something at this time."""
    what = changes(history.now, view)
    if not what:
        return history
    if history.past and what == history.what and at - history.at < BURST:
        if not changes(history.past[-1], view):  # dragged back to where it was
            return replace(history, now=history.past[-1], past=history.past[:-1], what=frozenset())
        return replace(history, now=view, at=at)
    past = (*history.past, history.now)[-LONGEST:]
    return History(view, past, (), what, at)


def amended(history: History, view: Provenance) -> History:
    """The view now is this one, though the user changed nothing."""
    return replace(history, now=view, what=frozenset())


def left_at(history: History, time: float) -> History:
    """The moment in the story at which the view now is left."""
    return replace(history, now=replace(history.now, time=time, end=time))


def undone(history: History) -> History:
    """One change back; the same history when there is none."""
    if not history.past:
        return history
    return History(history.past[-1], history.past[:-1], (*history.future, history.now))


def redone(history: History) -> History:
    """One change forward again; the same history when there is none."""
    if not history.future:
        return history
    return History(history.future[-1], (*history.past, history.now), history.future[:-1])
