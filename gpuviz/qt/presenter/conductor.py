"""Leads through a lecture: which slide, which cue, and what is known of it."""

from dataclasses import replace
from typing import Literal

from PySide6.QtCore import QObject, Signal

from gpuviz.base.errors import InputError
from gpuviz.lectures.answer import answer, asked_anew, figures
from gpuviz.lectures.cues import Cue, cues
from gpuviz.lectures.hands import Hands
from gpuviz.lectures.lecture import Lecture, Slide
from gpuviz.lectures.picture import SlideState
from gpuviz.lectures.prediction import Prediction, reach_of
from gpuviz.lectures.variation import Variation
from gpuviz.qt.playing.player import Player
from gpuviz.qt.presenter.slide_measurements import SlideMeasurements
from gpuviz.qt.presenter.slide_runs import SlideRuns, VariedRuns
from gpuviz.story.exhibit import Exhibit

Blank = Literal["", "black", "white"]
_LATE = 10**6  # a cue behind all others
_CLOSE = 1e-6  # seconds


class Conductor(QObject):
    """Every way to move ends in a slide and one of its cues; the player is the clock."""

    moved = Signal()  # another slide or cue is shown
    changed = Signal()  # the picture is another one, though the place is the same
    blanked = Signal()  # the screen went blank, or came back
    over = Signal()  # the speaker went on after the last slide

    def __init__(
        self,
        lecture: Lecture,
        slide_runs: SlideRuns,
        varied_runs: VariedRuns,
        measurements: SlideMeasurements,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.lecture = lecture
        self.player = Player(self)
        self.blank: Blank = ""
        self._slide_runs, self._measurements = slide_runs, measurements
        self._varied_runs = varied_runs
        self.variation: Variation | None = None  # what is shown in place of the plan
        self._hands: dict[tuple[int, str], Hands] = {}
        self._predicted: dict[tuple[int, str], float] = {}
        self._left = 0, 0.0  # the cue and the moment at which the plan was left
        self.slide = self._cue = 0
        self._ended = False
        self.shown = SlideState(lecture.slides[0])
        slide_runs.changed.connect(self._arrive)
        varied_runs.changed.connect(self._follow)
        measurements.changed.connect(self._tell)
        self.player.t_changed.connect(self._tick)

    @property
    def cue(self) -> Cue:
        """The cue shown."""
        return self.cues[min(self._cue, len(self.cues) - 1)]

    @property
    def cues(self) -> tuple[Cue, ...]:
        """Those of the slide."""
        return cues(self.shown.slide, self.shown.story)

    @property
    def planned(self) -> Slide:
        """The slide as the lecture has it."""
        return self.lecture.slides[self.slide]

    @property
    def varied(self) -> Exhibit | None:
        """What was performed in place of what was planned, None until it has been."""
        if self.variation is None:
            return None
        return self._varied_runs.showing(replace(self.planned, view=self.variation.view))

    @property
    def shown_as(self) -> tuple[int, str]:
        """What is shown, to be told from others: the slide, and the view it was changed to."""
        varied = self.variation
        return self.slide, varied.view.text() if varied is not None else ""

    @property
    def hands(self) -> Hands | None:
        """The hands that were counted for what is shown."""
        return self._hands.get(self.shown_as)

    def set_hands(self, hands: Hands) -> None:
        """Show hands beside the choices."""
        self._hands[self.shown_as] = hands
        self.shown = replace(self.shown, hands=hands)
        self.changed.emit()

    def predict(self, value: float) -> None:
        """What the class predicts in numbers."""
        one = self.shown.prediction
        if one is not None:
            self._predicted[self.shown_as] = value
            self.shown = replace(self.shown, prediction=replace(one, value=value))
            self.changed.emit()

    @property
    def place(self) -> tuple[int, int]:
        """The number of the slide and that of its cue."""
        return self.slide, min(self._cue, len(self.cues) - 1)

    def start(self, slide: int = 0) -> None:
        """Show a slide, or the nearest one that can be shown."""
        self._enter(self._nearest(slide), 0)

    def forward(self) -> None:
        """To the end of what is being played; else the next cue, the next slide, the end.

        Behind the last slide the screen is black first, so that nobody is thrown out by one click.
        """
        if self._ended:
            self.over.emit()
        elif self._unfinished:
            self._clear()
            self.player.pause()
            self.player.seek(self.cue.end)
        elif self.place[1] + 1 < len(self.cues):
            self._clear()
            self._show(self.place[1] + 1)
        else:
            following = self._playable(self.slide + 1, 1)
            if following > self.slide:
                self._clear()
                self._enter(following, 0)
            elif self.blank:
                self._clear()
            else:
                self._ended = True
                self.set_blank("black")

    def back(self) -> None:
        """The cue before, at its end; the slide before, at its end."""
        cue = self.place[1]
        if self._ended:
            self.set_blank("")
        elif cue > 0:
            self._clear()
            self._show(cue - 1, still=True)
        else:
            before = self._playable(self.slide - 1, -1)
            if before < self.slide:
                self._clear()
                self._enter(before, _LATE)

    def go(self, slide: int) -> None:
        """The beginning of a slide; one there is not is no slide to go to."""
        if 0 <= slide < len(self.lecture.slides):
            self._clear()
            self._enter(self._nearest(slide), 0)

    def vary(self, variation: Variation | None) -> None:
        """Show the slide in another way, as soon as that has been performed; None, or one that
        changes nothing: as planned, where that was left.
        """
        if variation is None or not variation.changed:
            self._return()
            return
        if self.variation is None:
            self._left = self._cue, self.player.t
        self.variation = variation
        self._varied_runs.need(replace(self.planned, view=variation.view))
        self._follow()

    def following(self) -> tuple[SlideState, Cue] | None:
        """What comes after the cue shown, None after the last."""
        cue = self.place[1]
        if cue + 1 < len(self.cues):
            return self.shown, self.cues[cue + 1]
        slide = self._playable(self.slide + 1, 1)
        if slide <= self.slide:
            return None
        shown = self._known(slide)
        return shown, cues(shown.slide, shown.story)[0]

    def set_blank(self, blank: Blank) -> None:
        """Show nothing but a colour, or the picture again when that is shown already."""
        self.blank = "" if blank == self.blank else blank
        self._ended = self._ended and bool(self.blank)
        self.player.pause()
        self.blanked.emit()

    def close(self) -> None:
        """Stop the clock."""
        self.player.pause()

    @property
    def _unfinished(self) -> bool:
        """Whether the cue is being played, or was when the screen went blank."""
        told = self.shown.story is not None and self.cue.moves
        return told and self.player.t < self.cue.end - _CLOSE

    def _clear(self) -> None:
        """End a blank: whoever moves wants to see where to."""
        if self.blank:
            self.set_blank("")

    def _nearest(self, slide: int) -> int:
        """The slide, or the next one that has something to show, or the one before."""
        slides = self.lecture.slides
        order = (*range(slide, len(slides)), *reversed(range(slide)))
        return next((number for number in order if slides[number].playable), self.slide)

    def _playable(self, slide: int, way: int) -> int:
        """The nearest slide in a direction that has something to show; where it is, if none has."""
        slides = self.lecture.slides
        while 0 <= slide < len(slides):
            if slides[slide].playable:
                return slide
            slide += way
        return self.slide

    def _follow(self) -> None:
        """What is wanted in place of the plan may be ready."""
        wanted, made = self.variation, self.varied
        if wanted is None or made is None:
            self.changed.emit()
            return
        over = not self.player.state.playing and self.player.t >= self.cue.end - _CLOSE
        self._measurements.show(made)
        self.shown = self._known(self.slide)
        self.player.tell(made.story, keep=True)
        if wanted.asked:
            self._show(0)
        elif over:
            self.player.seek(self.cue.end)
        self.changed.emit()

    def _return(self) -> None:
        """The slide as planned, where it was left."""
        made, before = self._slide_runs.showing(self.slide), self.variation
        self.variation = None
        self._varied_runs.forget()
        if before is None or made is None:
            return
        self._measurements.show(made)
        self.shown = self._known(self.slide)
        self.player.pause()
        self.player.tell(made.story)
        self._cue, t = self._left
        self.player.seek(t)
        self.moved.emit()

    def _enter(self, slide: int, cue: int) -> None:
        self.slide = slide
        self.variation = None
        self._varied_runs.forget()
        self._slide_runs.need(slide)
        self._measurements.show(self._slide_runs.showing(slide))
        self.shown = self._known(slide)
        if self.shown.story is not None:
            self.player.tell(self.shown.story)
        else:
            self.player.forget()
        self._show(cue, still=cue > 0)

    def _show(self, cue: int, still: bool = False) -> None:
        """Begin a cue; one that is gone back to stands at its end."""
        # While there is no story the end of a slide is not known: it is gone to when there is one.
        self._cue = cue if self.shown.story is None else min(cue, len(self.cues) - 1)
        now = self.cue
        self.player.pause()
        self.player.seek(now.end if still else now.start)
        if now.moves and not still:
            self.player.toggle()
        self.moved.emit()

    def _tick(self, t: float) -> None:
        """A cue ends where the next one begins."""
        if self.player.state.playing and t >= self.cue.end:
            self.player.pause()
            self.player.seek(self.cue.end)

    def _arrive(self, number: int) -> None:
        """A slide is ready: if it is waited for it begins."""
        if number == self.slide and self.shown.story is None:
            self._enter(number, self._cue)
        else:
            self.changed.emit()  # what comes next may be another picture

    def _tell(self) -> None:
        """New measurements of what is shown."""
        self.shown = self._known(self.slide)
        self.changed.emit()

    def _known(self, number: int) -> SlideState:
        """A slide with everything that is known of it."""
        slide, made = self.lecture.slides[number], self._slide_runs.showing(number)
        varied = self.variation if number == self.slide else None
        trouble = ""
        if varied is not None:
            made = self.varied
            if made is None:
                return self.shown  # until it has been performed
            slide, trouble = _changed(slide, varied, made)
        if made is None:
            return SlideState(slide, trouble=self._slide_runs.why_not(number))
        measured = self._measurements.of(made)
        made = self._measurements.told(made)
        found = None
        if slide.question is not None:
            try:
                found = answer(slide.question, made.runs, measured)
            except InputError as error:
                trouble = str(error)
        counted = figures(slide.numbers, made.runs, measured, slide.counted)
        here = number == self.slide
        hands = self.hands if here else None
        reach = reach_of(slide.question.choices) if slide.question is not None else None
        value = self._predicted.get(self.shown_as) if here else None
        prediction = Prediction(reach, value) if reach is not None else None
        return SlideState(slide, made.story, found, counted, trouble, hands, prediction)


def _changed(slide: Slide, varied: Variation, made: Exhibit) -> tuple[Slide, str]:
    """The slide as it is shown instead, and what stands against asking its question anew."""
    question, trouble = None, ""
    if varied.asked and slide.question is not None:
        try:
            question = asked_anew(slide.question, made.runs, varied.words)
        except InputError as error:
            trouble = str(error)
    return replace(slide, view=varied.view, question=question), trouble
