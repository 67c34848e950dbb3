"""One picture for light and dark: every colour is a pair, and CSS chooses (`light-dark(…)`).

A lesson draws the same marks in every theme, in other colours. So a picture is drawn in both, and
each colour of a mark becomes the number of a pair; what writes SVG writes that number as a colour,
and the pair takes its place in the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gpuviz.base.arrays import Rgba
from gpuviz.draw.marks import Frame, Mark, Raster
from gpuviz.draw.palette import DARK, LIGHT, code
from gpuviz.draw.stage import Stage
from gpuviz.export import svg
from gpuviz.export.page_data import Picture, hovers
from gpuviz.export.svg_marks import elements, raster

_COLOURS = ("fill", "stroke", "color", "hatch")
_CODE = re.compile(r'"#([0-9a-f]{6})"')
_OPAQUE = 255


@dataclass(eq=False)
class Pairs:
    """The pairs of colours met so far, by the number that stands for each."""

    known: dict[tuple[int, int], int] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def numbers(self, light: Rgba, dark: Rgba) -> Rgba:
        """(..., 4) colours whose three bytes are the number of a pair; nothing stays nothing."""
        if light.ndim == 1:  # one for all, as most are
            a, b = _as_ints(light), _as_ints(dark)
            return np.array(self._coded(int(a), int(b)), dtype=np.uint8)
        both = np.stack([_as_ints(light), _as_ints(dark)], axis=-1).reshape(-1, 2)
        every, which = np.unique(both, axis=0, return_inverse=True)
        coded = np.array([self._coded(int(a), int(b)) for a, b in every], dtype=np.uint8)
        return np.asarray(coded[which.reshape(-1)].reshape(light.shape), dtype=np.uint8)

    def _coded(self, light: int, dark: int) -> tuple[int, int, int, int]:
        if not (light | dark) & 0xFF:
            return 0, 0, 0, 0
        if (light, dark) not in self.known:
            self.known[light, dark] = len(self.said)
            self.said.append(f'"light-dark({_hex(light)},{_hex(dark)})"')
        number = self.known[light, dark]
        return number >> 16, number >> 8 & 0xFF, number & 0xFF, _OPAQUE

    def said_in(self, text: str) -> str:
        """A text of SVG with its pairs in place of their numbers."""
        return _CODE.sub(lambda found: self.said[int(found[1], 16)], text)


def _as_ints(colours: Rgba) -> npt.NDArray[np.int64]:
    return np.asarray(np.ascontiguousarray(colours).view(">u4")[..., 0].astype(np.int64))


def _hex(rgba: int) -> str:
    """`#rrggbb`, with its opacity where it has one."""
    return f"#{rgba >> 8:06x}" if rgba & 0xFF == _OPAQUE else f"#{rgba:08x}"


def pair(light: Rgba, dark: Rgba) -> str:
    """Two colours as one of CSS."""
    return f"light-dark({code(light)},{code(dark)})"


def picture(draw: Callable[[Stage], Frame], stage: Stage) -> Picture:
    """What is drawn on a stage, in both themes."""
    light, dark = (draw(replace(stage, palette=palette)) for palette in (LIGHT, DARK))
    pairs = Pairs()
    both = tuple(_both(a, b, pairs) for a, b in zip(light.marks, dark.marks, strict=True))
    coded = replace(light, marks=both)
    patterns = {
        pairs.said_in(f'"#{name[6:12]}"')[1:-1]: rgba
        for name, rgba in svg.hatches((coded,)).items()
    }
    named = {said: f"hatch-{_plain(said)}" for said in patterns}
    drawn = tuple(_elements(light, dark, coded, pairs, named))
    made = {
        named[said]: pairs.said_in(svg.pattern(named[said], rgba))
        for said, rgba in patterns.items()
    }
    return Picture(drawn, tuple(hovers(light)), made)


def _plain(said: str) -> str:
    return re.sub(r"[^0-9a-f]", "", said.removeprefix("light-dark"))


def _both(light: Mark, dark: Mark, pairs: Pairs) -> Mark:
    """A mark whose colours are numbers of pairs; the cells of a raster stay as they are."""
    assert is_dataclass(light) and type(light) is type(dark)
    if isinstance(light, Raster):
        return light
    changed: dict[str, Any] = {}
    for each in fields(light):
        if each.name in _COLOURS and (one := getattr(light, each.name)) is not None:
            a, b = np.broadcast_arrays(one, getattr(dark, each.name))
            changed[each.name] = pairs.numbers(a, b)
    return replace(light, **changed)


def _elements(
    light: Frame, dark: Frame, coded: Frame, pairs: Pairs, hatches: dict[str, str]
) -> Iterator[str]:
    """The elements of all marks; a raster is written once for each theme."""
    for number, mark in enumerate(coded.marks):
        if isinstance(mark, Raster):
            for frame, name in ((light, "in-light"), (dark, "in-dark")):
                for element in raster(cast(Raster, frame.marks[number]), enlarge=False):
                    yield element.replace("<image", f'<image class="{name}"', 1)
            continue
        for element in elements(replace(coded, marks=(mark,))):
            said = pairs.said_in(element)
            if "url(#hatch-" in said:
                said = re.sub(
                    r"url\(#hatch-([0-9a-f]{6})ff\)",
                    lambda found: f"url(#{hatches[pairs.said[int(found[1], 16)][1:-1]]})",
                    said,
                )
            yield said
