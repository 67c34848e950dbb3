"""A lecture as a record: slides, each a view of a lesson with its stops, notes and question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from gpuviz.base.errors import InputError
from gpuviz.files.folders import LECTURE
from gpuviz.lectures.ink import Ink
from gpuviz.views.make_view import lesson_for
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import tr

SUFFIX = LECTURE
TIME = "time"
LIMITER = "limiter"  # asked for in place of a count
PHASES = "phases"  # likewise
LETTERS = "abcdefghij"  # of choices; A and B are the sides of a comparison
CONFLICTS = "conflicts"  # wavefronts beyond the ideal
Per = Literal["request", "launch"]
Show = Literal["", "timeline"]
Counted = Literal["all", "first", "A"]
Guess = int | float | str


@dataclass(frozen=True)
class Problem:
    """Something in a file that could not be taken as it is; lines count from 1.

    `elsewhere` are files outside of the lecture's folder, which its reader may agree to.
    """

    line: int
    text: str
    elsewhere: tuple[Path, ...] = ()

    def __str__(self) -> str:
        """`line 12: …`."""
        return f"line {self.line}: {self.text}"


@dataclass(frozen=True)
class Question:
    """What a class is asked before a picture tells; the answer is counted, never written down."""

    ask: str  # the question
    choices: tuple[Guess, ...]  # what can be guessed; one of them has to be the answer
    # What is counted, a key of `memory.counting` (`global_load_sectors`), or
    # `shared_load_conflicts` and the like: wavefronts beyond the ideal; or "limiter": what limits
    # the launch, of a slide that shows its time. The choices are resources then; or "phases": those
    # of mbarriers that are over in the end, in the blocks that are drawn.
    count: str
    per: Per = "request"  # of each request on average, or of the whole launch
    run: str = ""  # which run, by its role ("tiled") or side ("B"); the first one when empty
    line: int = 0  # of the instructions of this CUDA line alone; 0: of all


@dataclass(frozen=True)
class PlotSpec:
    """What is plotted beside a lesson: a `count`, `per` request on average or launch, over the
    values that `vary` names as `gpuviz sweep` does: `stride=1..32*2`.
    """

    vary: str
    count: str
    per: Per = "request"


@dataclass(frozen=True)
class Slide:
    """One slide: a view of a lesson, or words alone."""

    title: str = ""  # what it is called in the speaker's list; the head of a slide of words
    # The lesson with its values; None when it is of words, or could not be read.
    view: Provenance | None = None
    # Moments in seconds at which the story waits, the first being where it begins; none: it is told
    # from its beginning to its end.
    stops: tuple[float, ...] = ()
    steps: bool = False  # whether it waits at every step of the story instead
    # Asked at the first stop; the story up to the next stop is the reveal.
    question: Question | None = None
    # Counts shown below the picture, keys of `memory.counting`, or "time".
    numbers: tuple[str, ...] = ()
    words: str = ""  # the paragraphs of a slide of words
    markdown: bool = False  # whether they are Markdown
    # The files of the pictures in there, by the names they have there.
    pictures: tuple[tuple[str, Path], ...] = ()
    notes: str = ""  # what the speaker reads
    problems: tuple[Problem, ...] = ()  # what of it could not be read
    raw: str = ""  # the text it was read from
    # "timeline" in place of the lesson's picture: a launch over time, then what limits it.
    show: Show = ""
    run: str = ""  # of which launch, by its role ("tiled"); the first one when empty
    minutes: float = 0.0  # how long it is meant to take; 0: its share of the lecture's
    ink: Ink | None = None  # what was drawn over its picture, and kept
    taken: float = 0.0  # seconds that it took when the lecture was rehearsed last; 0: it was not
    plot: PlotSpec | None = None  # what is plotted beside the lesson

    def with_view(self, view: Provenance) -> Slide:
        """The slide with another view; what is plotted beside a lesson stays with that lesson."""
        same = self.view is not None and self.view.lesson == view.lesson and not view.compared
        return replace(self, view=view, plot=self.plot if same else None, problems=())

    @property
    def playable(self) -> bool:
        """Whether there is anything to show."""
        return self.view is not None or bool(self.words or (self.title and not self.problems))

    @property
    def halved(self) -> bool:
        """Whether it shows two pictures beside each other."""
        return self.view is not None and (self.view.compared or self.plot is not None)

    @property
    def counted(self) -> Counted:
        """Whose counts it shows: those of all runs, of each side's first, or of A."""
        if self.view is None or not self.halved:
            return "all"
        if self.view.compare_lesson:
            return "first"
        return "all" if self.view.compared else "A"

    @property
    def name(self) -> str:
        """Its title, or that of its lesson, or what is wrong with it."""
        if self.title or self.view is None:
            return self.title or next(map(str, self.problems), "")
        try:
            return tr(lesson_for(self.view).title)
        except InputError:  # a kernel's file that went away meanwhile
            return self.view.lesson


@dataclass(frozen=True)
class Lecture:
    """A lecture; `problems` are those of its head, `minutes` how long it is meant to take.

    `agreed` are the files outside of its folder that its reader agreed to.
    """

    title: str
    slides: tuple[Slide, ...] = ()
    author: str = ""
    minutes: float = 0.0
    language: str = ""
    problems: tuple[Problem, ...] = ()
    raw: str = ""
    agreed: frozenset[Path] = frozenset()

    @property
    def elsewhere(self) -> tuple[Path, ...]:
        """Files that its slides name, but may not read before its reader agrees."""
        every = (file for problem in self.all_problems for file in problem.elsewhere)
        return tuple(dict.fromkeys(every))

    @property
    def all_problems(self) -> tuple[Problem, ...]:
        """Those of the head and of every slide."""
        return (*self.problems, *(p for slide in self.slides for p in slide.problems))

    def insert(self, at: int, slide: Slide) -> Lecture:
        """With a slide before the one of that number."""
        return replace(self, slides=(*self.slides[:at], slide, *self.slides[at:]))

    def remove(self, at: int) -> Lecture:
        """Without a slide."""
        self._check(at)
        return replace(self, slides=self.slides[:at] + self.slides[at + 1 :])

    def move(self, at: int, to: int) -> Lecture:
        """With a slide at another place."""
        self._check(at)
        return self.remove(at).insert(min(max(to, 0), len(self.slides) - 1), self.slides[at])

    def change(self, at: int, how: Callable[[Slide], Slide]) -> Lecture:
        """With a slide changed."""
        self._check(at)
        changed = how(self.slides[at])
        return replace(self, slides=(*self.slides[:at], changed, *self.slides[at + 1 :]))

    def _check(self, at: int) -> None:
        if not 0 <= at < len(self.slides):
            raise InputError(f"there is no slide {at + 1}: the lecture has {len(self.slides)}")
