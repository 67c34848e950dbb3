"""The pictures of a slide: the story's own, with question, answer and counts around it.

`frame(shown, cue, t, stage)` is pure, as a story's is: the same call serves the screen, the
speaker's preview and the export.
"""

from dataclasses import dataclass, replace
from itertools import groupby

from gpuviz.draw.heading import badge, heading, label
from gpuviz.draw.layout import Rect, elide, first_fitting, fit_size
from gpuviz.draw.marks import Boxes, Frame, Mark, Texts
from gpuviz.draw.metrics import text_width
from gpuviz.draw.palette import mix
from gpuviz.draw.stage import Stage
from gpuviz.draw.transform import fitted
from gpuviz.lectures.answer import Answer, Figure, named, shown
from gpuviz.lectures.cues import Cue
from gpuviz.lectures.hands import Hands
from gpuviz.lectures.lecture import LETTERS, Guess, Slide
from gpuviz.lectures.markdown.blocks import Paragraph, Span, blocks, lines
from gpuviz.lectures.markdown.setting import set_words
from gpuviz.lectures.prediction import Prediction, line
from gpuviz.results.badges import BADGES, caption
from gpuviz.story.lesson import Story
from gpuviz.words.language import duration, tr

ASKED, CHOICES, FIGURES, FOOT = 30.0, 46.0, 34.0, 10.0  # heights at scale 1
_REST = 0.3  # how much paler the right choice is where no hands were for it
_SHARE = 0.58  # of the width for what can be guessed; the answer takes the rest
_WORDS = 0.74  # where words are: no count of a GPU stands beside the answer
_Number = tuple[str, str]  # as it is shown, and its badge


def height(stage: Stage, numbers: bool, question: bool) -> float:
    """How much room the band takes below a picture; 0 when there is nothing to say."""
    wanted = FIGURES * numbers + (ASKED + CHOICES) * question
    return (wanted + FOOT) * stage.roomy().scale if wanted else 0.0


def choices(
    given: Stage,
    row: Rect,
    guesses: tuple[Guess, ...],
    answer: Answer | None,
    hands: Hands | None = None,
    prediction: Prediction | None = None,
) -> tuple[Mark, ...]:
    """What can be guessed, in a row, with a bar for the hands of each; once the answer is out, the
    right one is filled, the others fade. A number is predicted along a line beside them, on which
    the answer comes to stand, too.
    """
    stage = given.roomy()
    size = stage.text(22)
    texts = [shown(g) if isinstance(g, int | float) else g for g in guesses]
    share = _WORDS if all(isinstance(guess, str) for guess in guesses) else _SHARE
    told: tuple[Mark, ...] = ()
    if answer is not None:
        compared = prediction is not None and prediction.value is not None
        upper = row._replace(y=row.y - row.height * 0.06, height=row.height * 0.6)
        upper = upper if compared else row
        told = _told(stage, upper.beside(row.width * share)[1], answer)
    if prediction is not None and (answer is None or prediction.value is not None):
        value = float(answer.value) if answer is not None else None
        area = line_area(given, row)
        if value is not None:
            area = Rect(area.x, row.y + row.height * 0.5, area.width, row.height * 0.4)
        told += tuple(line(stage, area, prediction, value))
    gap = size * 0.6
    widest = max(text_width(text, size, True) for text in texts) + size * 5
    box = min(widest, row.width * share / len(texts) - gap)
    inner = box - size * 1.9  # beside the letter
    fitting = min(fit_size(text, inner, size, stage.text(13), bold=True) for text in texts)
    marks: list[Mark] = []
    for number, text in enumerate(texts):
        area = Rect(row.x + number * (box + gap), row.y, box, row.height * 0.86)
        right = answer.right if answer is not None else None
        marks += _choice(stage, area, number, (text, fitting), right, hands)
    return (*marks, *told)


def line_area(given: Stage, row: Rect) -> Rect:
    """Where a number is predicted, beside the choices of a row."""
    side = given.roomy().text(22)
    area = row.beside(row.width * _SHARE)[1]
    return Rect(area.x + side, row.y - row.height * 0.12, area.width - 2 * side, row.height * 1.1)


def _choice(
    stage: Stage,
    area: Rect,
    number: int,
    said: tuple[str, float],
    answer: int | None,
    hands: Hands | None,
) -> tuple[Mark, ...]:
    """One of the guesses: its letter, what it `said` in letters of a size at most, and at the right
    how many hands were for it.
    """
    size, palette, (text, most) = stage.text(22), stage.palette, said
    right, now = number == answer, hands is not None and number == hands.now
    faded = answer is not None and not right
    fill, bar = palette.panel, palette.accent_soft
    if right:
        fill, bar = palette.accent, palette.accent
        if hands is not None and hands.total:
            fill = mix(palette.accent, palette.ink_on(palette.accent), _REST)
    edge = palette.accent if right or now else palette.border
    ink = palette.ink_on(palette.accent) if right else palette.faint if faded else palette.ink
    radius = size * 0.3
    wide = 5.0 if now else 2.0
    marks: list[Mark] = [Boxes(area.array(), fill, stroke=edge, stroke_width=wide, radius=radius)]
    if hands is not None and (share := hands.share(number)):
        inside = area.inset(wide)
        marks.append(Boxes(inside._replace(width=inside.width * share).array(), bar, radius=radius))
    middle, letter = area.center[1], "✓" if right else LETTERS[number % len(LETTERS)]
    quiet = ink if right or faded else palette.accent
    marks.append(label(area.x + size * 0.55, middle, letter, quiet, size * 0.8, True))
    left, inner = area.x + size * 1.5, area.width - size * 1.9  # beside the letter
    room = inner
    if hands is not None and (hands.total or hands.now >= 0):
        count, small = f"{hands.counts[number]}{'_' * now}", stage.text(17)
        shade = ink if right else palette.muted
        marks.append(label(left + inner, middle, count, shade, small, align="right"))
        room -= text_width(count, small) + small * 0.3
    fitting = fit_size(text, room, most, stage.text(13), bold=True)
    shortened = elide(text, room, fitting, bold=True)
    # In the middle, as without hands, unless these are in the way.
    at = left + min(inner / 2, room - text_width(shortened, fitting, True) / 2)
    marks.append(label(at, middle, shortened, ink, fitting, True, "center"))
    return tuple(marks)


def _told(stage: Stage, row: Rect, answer: Answer) -> tuple[Mark, ...]:
    """The answer and where it is from, at the right end of the row."""
    size = stage.text(16)
    middle, x = row.y + row.height * 0.43, row.right
    number = shown(answer.value)
    model = tr(BADGES["model"])
    parts: list[_Number] = [(number, model)]
    if answer.measured is not None and answer.origin is not None:
        parts.append((shown(answer.measured), answer.origin.badge))
    room = row.width - sum(_width(stage, part) for part in parts)
    parts[0] = (
        first_fitting(
            (f"{number} {answer.unit}", number), room + text_width(number, size, True), size, True
        )
        or number,
        model,
    )
    marks: list[Mark] = []
    for part in reversed(parts):
        x -= _width(stage, part)
        marks += _number(stage, x, middle, part)
    return tuple(marks)


def _width(stage: Stage, part: _Number) -> float:
    """What a number and its badge take, with the space behind them."""
    small = stage.text(13)
    return (
        text_width(part[0], stage.text(16), True)
        + text_width(part[1], small)
        + small * 1.2
        + stage.text(16) * 1.3
    )


def _number(stage: Stage, x: float, middle: float, part: _Number) -> tuple[Mark, ...]:
    """A number and where it is from, from x on."""
    text, word = part
    size, palette = stage.text(16), stage.palette
    behind = x + text_width(text, size, True) + size * 0.4
    return (label(x, middle, text, palette.ink, size, True), *badge(stage, behind, middle, word))


def figures(given: Stage, row: Rect, found: tuple[Figure, ...]) -> tuple[Mark, ...]:
    """Counts in a line: what is predicted and what was measured, each with its badge."""
    stage = given.roomy()
    size, palette = stage.text(16), stage.palette
    small, middle, x = stage.text(13), row.y + row.height / 2, row.x
    marks: list[Mark] = []
    for name, group in groupby(found, key=lambda figure: figure.label):
        text, parts = f"{name}:", [part for figure in group for part in _values(figure)]
        wide = text_width(text, size) + size * 0.5
        if not parts or x + wide + sum(_width(stage, part) for part in parts) > row.right + size:
            continue  # what does not fit is left out: half a number is worse than none
        marks.append(label(x, middle, text, palette.muted, size))
        x += wide
        for part in parts:
            marks += _number(stage, x, middle, part)
            x += _width(stage, part)
        x += size * 0.7
    origins = (f.origin for f in found if f.measured is not None)
    origin = next((one for one in origins if one is not None), None)
    if origin is not None and marks:
        said = caption(origin)
        text = first_fitting((said, origin.gpu), row.right - x, small)
        marks.append(label(row.right, middle, text, palette.muted, small, align="right"))
    return tuple(marks)


def _values(figure: Figure) -> list[_Number]:
    """A run's numbers with their badges; those that there are not are left out."""
    run = f"{figure.run} " if figure.run else ""
    found: list[_Number] = []
    if figure.predicted is not None:
        found.append((run + shown(figure.predicted), tr(BADGES["model"])))
    if figure.measured is not None and figure.origin is not None:
        value = (
            shown(figure.measured)
            if figure.predicted is not None
            else run + duration(figure.measured)
        )
        found.append((value, figure.origin.badge))
    return found


_CLOSE = 1e-6
_TITLE = 0.12  # of the height, in which a title stands
_LARGE = 1000  # pixels from which on a screen is a large one


@dataclass(frozen=True, eq=False)
class SlideState:
    """A slide with all that its pictures need; no story while it is being run, or of words.

    `trouble` says why there is no story, or no answer. `hands` are those that the class has raised;
    `prediction` is where it drags to what it predicts, None where nobody can, as on paper.
    """

    slide: Slide
    story: Story | None = None
    answer: Answer | None = None
    figures: tuple[Figure, ...] = ()
    trouble: str = ""
    hands: Hands | None = None
    prediction: Prediction | None = None


def letters(height: float, compared: bool) -> float:
    """How far letters are enlarged on a screen of that height, to be read from the back row.

    It is as far as every lesson stands without leaving something out (tests/course, back row). Two
    variants beside each other have less room each, and letters that grow more.
    """
    large = height >= _LARGE
    if compared:
        return 1.7 if large else 1.5
    return 1.3 if large else 1.15


def frame(shown: SlideState, cue: Cue, t: float, stage: Stage) -> Frame:
    """The picture of a slide at a moment of its story."""
    if shown.story is None:
        return _words(shown, stage)
    question = shown.slide.question
    room = height(_for_band(shown, stage), bool(shown.slide.numbers), question is not None)
    part = replace(stage, height=stage.height - room)
    if question is not None:
        part = replace(part, question=question.ask, revealed=not cue.asks)
    inner = shown.story.frame(t, part)
    return stage.frame(*inner.marks, *_band(shown, cue, t, stage, room))


def inked(shown: SlideState, cue: Cue, t: float, stage: Stage) -> Frame:
    """As `frame`, with the ink that is kept with the slide, on the stage that it was drawn on."""
    ink = shown.slide.ink
    if ink is None:
        return frame(shown, cue, t, stage)
    drawn = frame(shown, cue, t, ink.stage(stage.palette))
    marks = (*drawn.marks, *ink.marks(stage.palette))
    return fitted(replace(drawn, marks=marks), stage.width, stage.height)


def titled(drawn: Frame, x: float, y: float) -> bool:
    """Whether a point is on the title: the bold line that a picture begins with."""
    title = next((m for m in drawn.marks if isinstance(m, Texts) and m.bold), None)
    if title is None or title.at[0, 1] > drawn.height * _TITLE:
        return False
    left, middle = title.at[0].tolist()
    wide = text_width(title.strings[0], title.size, True)
    return bool(left <= x <= left + wide and abs(y - middle) <= title.size * 0.7)


def answered(cue: Cue, t: float) -> bool:
    """Whether the answer is out: the reveal has been played, or a later part is."""
    return not cue.asks and not (cue.reveals and t < cue.end - _CLOSE)


def line_of(shown: SlideState, cue: Cue, stage: Stage) -> Rect | None:
    """Where a number is predicted by dragging, None while the class is asked for none."""
    if shown.prediction is None or not cue.asks or shown.story is None:
        return None
    return line_area(_for_band(shown, stage), _row(shown, stage))


def _row(shown: SlideState, whole: Stage) -> Rect:
    """Where the choices of a question stand."""
    stage = _for_band(shown, whole)
    room = height(stage, bool(shown.slide.numbers), True)
    margin, scale = stage.roomy().margin, stage.roomy().scale
    top = stage.height - room + ASKED * scale
    return Rect(margin, top, stage.width - 2 * margin, CHOICES * scale)


def _for_band(shown: SlideState, stage: Stage) -> Stage:
    """The stage with letters for the whole width, not for a half of it."""
    if not shown.slide.halved:
        return stage
    share = letters(stage.height, False) / letters(stage.height, True)
    return replace(stage, scale=stage.scale * share)


def _band(shown: SlideState, cue: Cue, t: float, stage: Stage, room: float) -> tuple[Mark, ...]:
    stage = _for_band(shown, stage)
    margin = stage.roomy().margin
    area = Rect(margin, stage.height - room, stage.width - 2 * margin, room - margin * 0.6)
    marks: tuple[Mark, ...] = ()
    if (question := shown.slide.question) is not None:
        asked, area = area.above(ASKED * stage.roomy().scale)
        row, area = area.above(CHOICES * stage.roomy().scale)
        out = shown.answer if answered(cue, t) else None
        marks = choices(stage, row, named(question), out, shown.hands, shown.prediction)
        if not cue.asks:  # what is answered stands beside its answer
            size, ink = stage.roomy().text(18), stage.palette.ink
            said = elide(question.ask, asked.width, size)
            marks += (label(asked.x, asked.center[1], said, ink, size),)
    if shown.slide.numbers and not cue.asks:
        marks += figures(stage, area, shown.figures)
    return marks


def _words(shown: SlideState, given: Stage) -> Frame:
    """A slide of words, or what is said while there is no story."""
    stage, slide = given.roomy(), shown.slide
    if not slide.words:
        head, _ = heading(stage, slide.name, shown.trouble)
        return stage.frame(*head)
    area = Rect(0, 0, stage.width, stage.height).inset(stage.width * 0.08, stage.height * 0.03)
    title = (Paragraph(spans=(Span(slide.title),), level=1),) if slide.title else ()
    told = blocks(slide.words) if slide.markdown else lines(slide.words)
    return stage.frame(*set_words((*title, *told), area, stage, dict(slide.pictures)))
