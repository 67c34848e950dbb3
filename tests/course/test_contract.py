"""What every lesson promises, for every preset: pictures that are pure, legible, and keep secrets.

A lesson keeps it by being in the table; nothing is to be copied into its own tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from gpuviz.course import SCENES, lesson
from gpuviz.draw import spoken
from gpuviz.draw.marks import Frame, Texts
from gpuviz.draw.palette import DARK, LIGHT, PROJECTOR
from gpuviz.draw.stage import Stage
from gpuviz.qt.look.fonts import load_fonts
from gpuviz.story.compare import beside, name_of
from gpuviz.story.lesson import Lesson, Story
from gpuviz.words import language
from tests.course.performed import performed
from tests.course.pictures import check_purity, check_steps, misplaced, words

STAGES = {
    "window": Stage(700, 330, DARK),
    "small": Stage(760, 480, LIGHT),
    "half": Stage(620, 600, DARK),
    "large": Stage(1270, 700, DARK),
    "full": Stage(1920, 1080, LIGHT),
    "class": Stage(1920, 1080, PROJECTOR, 1.3),
    "projector": Stage(1280, 720, PROJECTOR, 1.15),
}
BACK_ROW = ("class", "projector")
FEW = ("window", "class")  # sizes of quick tests; the others when there is time
MOMENTS = (0.0, 0.3, 0.6, 1.0)
LEAST_LETTER = 12  # pixels
LEAST = 1 / 45  # of the height, for the back row
# Numbers inside cells are as large as these allow, and colour and place say the same: the threads
# in the 32 lanes of a warp, lanes in 32 rows of banks or as many of matrices, and values of a
# matrix of many elements.
CELLS = {"hierarchy", "banks", "matmul-boundary", "histogram", "fragments"}

QUESTION = "How many of them does this request of the warp take?"
CHOICES = ("4", "8", "16", "one for each lane")
# A count in words, as counters, tables and captions tell it: `3 of 8 sectors`, `12 × fewer`.
COUNT = re.compile(
    r"\b\d[\d\u202f,.]*\s+(of\s+\d[\d\u202f,]*\s+)?(different\s+)?"
    r"(sectors?|segments?|transactions?|lines?|wavefronts?|passes|pass|conflicts?|requests?|loads?"
    r"|reads?|times|additions|instructions)\b"
    r"|\b(sector|segment|line|wavefront|transaction) \d|-way\b|\bideal\b|\bfewer\b|\bwould do\b"
    r"|\bclosed form\b|\bby arithmetic\b|\bconflict|[<>]?\d+ % of|for nothing$"
    r"|does not (use|write)$|\bread (once|twice|\d)"
)
# A column's title says what is counted, not how many there are.
TITLES = {
    "asked for once, and again",
    "different 32 B pieces",
    "no conflicts",
}  # a rung of the ladder

# Words that no Spanish sentence of the program has; and what stays as it is.
ENGLISH = re.compile(
    r"\b(the|of|is|are|and|with|lanes?|threads?|blocks?|requests?|lines?|sectors|words?|banks?)\b",
    re.IGNORECASE,
)
NAMES = re.compile(
    r"“[^”]*”|Threads and blocks[^·]*|CUDA memory considerations|sum \+= .*|fma4<<<.*>>>"
)

CASES = [(one, number) for one in SCENES for number in range(-1, len(one.presets))]
IDS = [f"{one.id}-{one.presets[n].label if n >= 0 else 'as it begins'}" for one, n in CASES]
MARKED = [  # presets are emulated and looked at with the slow tests
    pytest.param(*case, id=name, marks=[pytest.mark.slow] * (case[1] >= 0))
    for case, name in zip(CASES, IDS, strict=True)
]


@pytest.mark.parametrize("one, preset", MARKED)
def test_every_lesson_keeps_the_contract(one: Lesson, preset: int, qapp: QApplication) -> None:
    load_fonts()
    values = one.presets[preset].values if preset >= 0 else {}
    story = performed(one, values).story
    check_steps(story)
    check_purity(story)
    drawn = _drawn(story, {name: STAGES[name] for name in FEW})
    assert [*_illegible(one, drawn)] == []
    assert [*_unspoken(_frames(story, STAGES["full"]))] == []
    if preset < 0:
        assert [*_told(drawn)] == []
        assert [*_moved(story, STAGES["large"])] == []


@pytest.mark.slow
@pytest.mark.parametrize("one, preset", CASES, ids=IDS)
def test_other_sizes_are_legible_and_keep_secrets(
    one: Lesson, preset: int, qapp: QApplication
) -> None:
    load_fonts()
    values = one.presets[preset].values if preset >= 0 else {}
    sizes = {name: stage for name, stage in STAGES.items() if name not in FEW}
    drawn = _drawn(performed(one, values).story, sizes)
    assert [*_illegible(one, drawn)] == []
    if preset < 0:
        assert [*_told(drawn)] == []


@pytest.fixture
def spanish() -> Iterator[None]:
    language.choose("es")
    yield
    language.choose(language.ENGLISH)


@pytest.mark.slow
@pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)
def test_longer_words_have_their_place_and_none_is_left_in_english(
    one: Lesson, spanish: None, qapp: QApplication
) -> None:
    load_fonts()
    story = one.narrate(one.defaults(), performed(one, {}).runs)
    sizes = {name: STAGES[name] for name in ("window", "half")}
    assert [*_illegible(one, _drawn(story, sizes))] == []
    assert {*_english(story)} == set(), "wrap it in tr(), and translate it"


@pytest.mark.parametrize("name", sorted(CELLS))
def test_small_numbers_in_cells_are_needed(name: str, qapp: QApplication) -> None:
    load_fonts()
    stage, one = STAGES["class"], lesson(name)
    sizes = [
        mark.size
        for preset in one.presets
        for _, frame in _frames(performed(one, preset.values).story, stage)
        for mark in frame.marks
        if isinstance(mark, Texts) and _in_cells(mark)
    ]
    assert LEAST_LETTER <= min(sizes) < stage.height * LEAST


# Pictures at the moments, each with its share of the story.
Frames = list[tuple[float, Frame]]
# Those at each size, by its name and whether a class is asked.
Drawn = dict[tuple[str, bool], Frames]


def _frames(story: Story, stage: Stage) -> Frames:
    return [(share, story.frame(share * story.duration, stage)) for share in MOMENTS]


def _drawn(story: Story, sizes: dict[str, Stage]) -> Drawn:
    return {
        (name, asks): _frames(story, _asking(stage) if asks else stage)
        for name, stage in sizes.items()
        for asks in (False, True)
    }


def _asking(stage: Stage) -> Stage:
    return replace(stage, question=QUESTION, choices=CHOICES)


def _illegible(one: Lesson, drawn: Drawn) -> Iterator[str]:
    """Words outside the picture, over each other, or too small; while a class is asked, too."""
    for (name, asks), frames in drawn.items():
        least = STAGES[name].height * LEAST if name in BACK_ROW else LEAST_LETTER
        for share, frame in frames:
            where = f"{name} at {share:.1f}{' asked' * asks}"
            yield from (f"{problem}, {where}" for problem in misplaced(frame))
            yield from (f"{text} too small, {where}" for text in _small(one, frame, least))


def _small(one: Lesson, frame: Frame, least: float) -> Iterator[tuple[str, ...]]:
    for mark in frame.marks:
        if not isinstance(mark, Texts) or not any(mark.strings) or mark.size >= least:
            continue
        if not (one.id in CELLS and _in_cells(mark) and mark.size >= LEAST_LETTER):
            yield mark.strings[:3]


def _in_cells(mark: Texts) -> bool:
    """Whether these are numbers in the middle of cells."""
    return mark.align == "center" and all(text.isdigit() for text in mark.strings)


def _english(story: Story) -> Iterator[str]:
    """What is said in English, but for titles of documents, and code."""
    shown = [text for _, frame in _frames(story, STAGES["full"]) for text in words(frame)]
    said = (story.title, story.sentence, story.expected, *(s.label for s in story.steps), *shown)
    yield from (text for text in said if ENGLISH.search(NAMES.sub("", text)))


def _unspoken(frames: Frames) -> Iterator[str]:
    """What the picture in words lacks: its texts, and something that hovering tells."""
    hints = set[str]()
    for share, frame in frames:
        said = " ".join(spoken.lines(frame))
        yield from (
            f"{t!r} is not said at {share:.1f}" for t in words(frame) if t.strip() not in said
        )
        hints |= set(spoken.hints(frame, 1))
    if not hints:
        yield "hovering tells nothing"


def _told(drawn: Drawn) -> Iterator[str]:
    """Counts that stand in a picture while it asks for them; and a question that does not."""
    every = " ".join(f"{letter} {text}" for letter, text in zip("ABCD", CHOICES, strict=True))
    hidden = set[str]()
    for name in {name: None for name, _ in drawn}:
        for (share, plain), (_, frame) in zip(drawn[name, False], drawn[name, True], strict=True):
            texts = words(frame)
            if f"{QUESTION} {every}" not in " ".join(texts):
                yield f"the question is not asked, {name} at {share:.1f}"
            telling = {text for text in texts if COUNT.search(text)} - TITLES
            yield from (f"{text!r} tells, {name} at {share:.1f}" for text in telling)
            hidden |= set(words(plain)) - set(texts)
    if not any(re.search(r"\d", text) for text in hidden):
        yield "nothing is kept back: what is looked for is not there to be found"


def _moved(story: Story, stage: Stage) -> Iterator[str]:
    """What a picture says before and after the answer, and not in the same place."""
    for share in MOMENTS:
        t = share * story.duration
        asked = _placed(story.frame(t, _asking(stage)))
        revealed = _placed(story.frame(t, replace(_asking(stage), revealed=True)))
        if QUESTION in revealed:
            yield f"the question stays at {share:.1f}"
        for text in asked.keys() & revealed.keys():
            own = text in CHOICES or text in "ABCD" or not re.search(r"[a-zA-Z]", text)
            if not own and not asked[text] <= revealed[text]:
                yield f"{text!r} moves at {share:.1f}"


def _placed(frame: Frame) -> dict[str, set[tuple[int, int]]]:
    """Every text with its places in whole pixels."""
    found: dict[str, set[tuple[int, int]]] = {}
    for mark in frame.marks:
        if isinstance(mark, Texts):
            for text, (x, y) in zip(mark.strings, mark.at.tolist(), strict=True):
                if text:
                    found.setdefault(text, set()).add((round(x), round(y)))
    return found


HALVES = Stage(898, 352, DARK)  # what is left for A | B in a window of 1280 x 720


@pytest.mark.slow
@pytest.mark.parametrize("one", SCENES, ids=lambda one: one.id)
def test_words_of_two_presets_side_by_side_stay_apart(one: Lesson, qapp: QApplication) -> None:
    load_fonts()
    sides = [{**one.defaults(), **preset.values} for preset in one.presets[:2]]
    told = [performed(one, values).story for values in sides]
    names = [name_of(one, a, b) for a, b in zip(sides, reversed(sides), strict=True)]
    pair = beside(*told, *names)
    assert [p for _, frame in _frames(pair, HALVES) for p in misplaced(frame)] == []
