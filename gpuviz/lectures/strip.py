"""The strip above a picture, by which a slide is changed while it is shown."""

from dataclasses import dataclass, replace

from gpuviz.draw.heading import label
from gpuviz.draw.layout import Rect, elide, fit_size
from gpuviz.draw.marks import Boxes, Frame, Mark
from gpuviz.draw.metrics import text_width
from gpuviz.draw.stage import Stage
from gpuviz.lectures.variation import Field
from gpuviz.words.language import tr

_FIELDS, _LINE, _PAD = 46.0, 20.0, 5.0  # heights at scale 1
_NARROW, _WIDE = 92.0, 190.0  # of a field, at scale 1
_GAP = 7.0


@dataclass(frozen=True, eq=False)
class Strip:
    """The fields, the one chosen, what is being typed into it, and how things stand in words.

    `wrong` says whether these words tell of something that cannot be.
    """

    fields: tuple[Field, ...]
    chosen: int = 0
    typed: str = ""
    said: str = ""
    wrong: bool = False


def height(stage: Stage) -> float:
    """How much of the screen it takes."""
    return (_FIELDS + _LINE + 2 * _PAD) * stage.roomy().scale


def frame(given: Stage, strip: Strip) -> Frame:
    """Its picture, as wide as the stage."""
    stage, tall = given.roomy(), height(given)
    marks: list[Mark] = []
    placed = _places(stage, strip)
    for number, area in placed:
        marks += _field(stage, area, strip, number)
    marks += _beyond(stage, placed, len(strip.fields))
    y = (_PAD + _FIELDS + _LINE * 0.6) * stage.scale
    size, ink = stage.text(13), stage.palette.muted
    keys = tr("← → choose    ↑ ↓ 0–9 change    Esc as planned")
    width = given.width - 2 * stage.margin
    right = text_width(keys, size)
    marks.append(label(given.width - stage.margin, y, keys, ink, size, align="right"))
    color = stage.palette.bad if strip.wrong else stage.palette.ink
    said = elide(strip.said, width - right - size, size, bold=True)
    marks.append(label(stage.margin, y, said, color, size, bold=True))
    return replace(given, height=tall).frame(
        Boxes(Rect(0, 0, given.width, tall).array(), stage.palette.panel),
        *marks,
        Boxes(Rect(0, tall - 2, given.width, 2).array(), stage.palette.accent),
    )


def hit(given: Stage, strip: Strip, x: float, y: float) -> tuple[int, int] | None:
    """The field at a point, and which way a click there changes it: up 1, down -1, else 0."""
    stage = given.roomy()
    for number, area in _places(stage, strip):
        if area.x <= x < area.right and area.y <= y < area.bottom:
            if number != strip.chosen or x < area.right - _arrows(stage):
                return number, 0
            return number, 1 if y < area.center[1] else -1
    return None


def _places(stage: Stage, strip: Strip) -> tuple[tuple[int, Rect], ...]:
    """The fields that there is room for, that chosen among them, each with its place."""
    gap, scale = _GAP * stage.scale, stage.scale
    room = stage.width - 2 * stage.margin
    most = max(int((room + gap) // (_NARROW * scale + gap)), 1)
    count = min(most, len(strip.fields))
    start = min(max(strip.chosen - count // 2, 0), len(strip.fields) - count)
    width = min((room + gap) / count - gap, _WIDE * scale)
    return tuple(
        (start + n, Rect(stage.margin + n * (width + gap), _PAD * scale, width, _FIELDS * scale))
        for n in range(count)
    )


def _arrows(stage: Stage) -> float:
    """The width of the arrows of the field chosen."""
    return stage.text(20)


def _field(stage: Stage, area: Rect, strip: Strip, number: int) -> tuple[Mark, ...]:
    """A field: its name, what it is, and what was planned where that differs."""
    field, chosen, palette = strip.fields[number], number == strip.chosen, stage.palette
    small, pad = stage.text(13), stage.text(7)
    inner = area.width - 2 * pad - chosen * _arrows(stage)
    name = f"{field.label} ({field.planned})" if field.planned else field.label
    text = f"{strip.typed}_" if chosen and strip.typed else field.value
    size = fit_size(text, inner, stage.text(21), stage.text(14), bold=True)
    ink = palette.accent if field.planned else palette.ink
    edge = palette.accent if chosen else palette.border
    box = Boxes(
        area.array(),
        palette.ground,
        stroke=edge,
        stroke_width=3.0 if chosen else 1.0,
        radius=small * 0.4,
    )
    x = area.x + pad
    marks: tuple[Mark, ...] = (
        box,
        label(x, area.y + area.height * 0.26, elide(name, inner, small), palette.muted, small),
        label(x, area.y + area.height * 0.67, elide(text, inner, size, bold=True), ink, size, True),
    )
    if not chosen:
        return marks
    at = area.right - _arrows(stage) / 2
    up, down = (palette.accent if field.options else palette.faint,) * 2
    return (
        *marks,
        label(at, area.y + area.height * 0.3, "▲", up, small, align="center"),
        label(at, area.y + area.height * 0.72, "▼", down, small, align="center"),
    )


def _beyond(stage: Stage, placed: tuple[tuple[int, Rect], ...], count: int) -> tuple[Mark, ...]:
    """Signs at the ends where there are further fields."""
    size, ink = stage.text(18), stage.palette.accent
    marks: list[Mark] = []
    if placed[0][0] > 0:
        marks.append(
            label(stage.margin * 0.5, placed[0][1].center[1], "‹", ink, size, True, "center")
        )
    if placed[-1][0] < count - 1:
        x = stage.width - stage.margin * 0.5
        marks.append(label(x, placed[0][1].center[1], "›", ink, size, True, "center"))
    return tuple(marks)
