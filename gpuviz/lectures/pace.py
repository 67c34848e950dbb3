"""How long the slides of a lecture are meant to take, and how far behind its speaker is."""

from collections.abc import Iterator, Mapping

from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.words.language import tr

ON_TIME = 15.0  # seconds that nobody calls late, or early


def planned(lecture: Lecture) -> tuple[float, ...]:
    """Seconds for each slide: its own, or an equal share of what the lecture has left; 0 where
    nothing is said.
    """
    own = [slide.minutes * 60 for slide in lecture.slides]
    others = sum(not seconds and slide.playable for seconds, slide in _with(own, lecture))
    share = max(lecture.minutes * 60 - sum(own), 0.0) / others if others else 0.0
    return tuple(s or (share if slide.playable else 0.0) for s, slide in _with(own, lecture))


def _with(own: list[float], lecture: Lecture) -> Iterator[tuple[float, Slide]]:
    return zip(own, lecture.slides, strict=True)


def behind(plan: tuple[float, ...], slide: int, passed: float) -> float:
    """Seconds that the speaker is behind when on a slide; ahead when less than 0."""
    begins, ends = sum(plan[:slide]), sum(plan[: slide + 1])
    return max(passed - ends, 0.0) - max(begins - passed, 0.0)


def clock(seconds: float) -> str:
    """Minutes and seconds: `1:05`."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}"


def told(late: float) -> str:
    """How far behind or ahead, in words."""
    if abs(late) < ON_TIME:
        return tr("on time")
    if late > 0:
        return tr("{time} behind", time=clock(late))
    return tr("{time} ahead", time=clock(-late))


def beside(taken: float, plan: float) -> str:
    """What a slide took and was meant to take: `1:35 of 2:00`; "" where neither is known."""
    if taken and plan:
        return tr("{taken} of {planned}", taken=clock(taken), planned=clock(plan))
    return clock(taken) if taken else ""


def table(lecture: Lecture, taken: Mapping[int, float]) -> Iterator[str]:
    """A line for each slide that was shown, and one for all, in plain text."""
    plan = planned(lecture)
    for number, seconds in sorted(taken.items()):
        name = lecture.slides[number].name
        yield f"{number + 1:>3}  {beside(seconds, plan[number]):>16}  {name}"
    yield f"     {beside(sum(taken.values()), sum(plan)):>16}"
