"""What is asked before a picture or a film is written, as records that can be remembered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gpuviz.base import records
from gpuviz.base.errors import FormatError
from gpuviz.draw.palette import THEME_NAMES, THEMES
from gpuviz.export.export import Options
from gpuviz.export.film import moments
from gpuviz.export.formats import GIF, PNG, SUFFIXES, Format, named
from gpuviz.export.page_data import moments_of
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import LARGEST, SMALLEST, timed
from gpuviz.words.language import later

SHOWN, CUSTOM, BOTH = "shown", "custom", "both"
SIZES = (SHOWN, "1280x720", "1920x1080", "3840x2160", CUSTOM)
PIXELS = (1, 2, 3, 4)
THEME_CHOICES = {**THEME_NAMES, SHOWN: later("as shown"), BOTH: later("dark and light: two files")}
_ROOMY = (1920, 1080)  # a stage this large has room for everything
_MOST_LETTERS = 4.0
_STRETCHES = ("whole", "step", "range")


@dataclass(frozen=True)
class Size:
    """The stage of a picture in logical pixels: one of `SIZES`; `width`, `height` if custom."""

    name: str = SHOWN
    width: int = 1920
    height: int = 1080

    def of(self, view: View, even: bool = False) -> tuple[int, int]:
        """Width and height for a view."""
        width, height = self.width, self.height
        if self.name == SHOWN:
            width, height = view.provenance.width, view.provenance.height
        elif self.name != CUSTOM:
            width, height = map(int, self.name.split("x"))
        return (width // 2 * 2, height // 2 * 2) if even else (width, height)


@dataclass(frozen=True)
class PictureSettings:
    """How a picture is wanted."""

    suffix: str = PNG.suffix
    size: str = SHOWN
    width: int = 1920
    height: int = 1080
    pixels: int = 2
    theme: str = SHOWN
    transparent: bool = False

    @property
    def format(self) -> Format:
        """The format of the suffix."""
        return named(self.suffix)

    def view(self, view: View) -> View:
        """The view in this size and theme."""
        return _looks(view, Size(self.size, self.width, self.height).of(view), self.theme)

    def options(self) -> Options:
        """How to write it."""
        return Options(float(self.pixels), self.transparent)


@dataclass(frozen=True)
class FilmSettings:
    """How a film or a page is wanted. `stretch` is "whole", "step" or "range"."""

    suffix: str = GIF.suffix
    size: str = "1280x720"
    width: int = 1280
    height: int = 720
    fps: int = 20
    loop: bool = True
    theme: str = SHOWN
    stretch: str = "whole"
    start: float = 0.0
    end: float = 0.0

    @property
    def format(self) -> Format:
        """The format of the suffix."""
        return named(self.suffix)

    def views(self, view: View) -> dict[str, View]:
        """The view in this size, stretch and theme; two when two are wanted, by their themes."""
        size = Size(self.size, self.width, self.height).of(view, self.format.even)
        start, end = self.bounds(view)
        themes = ("dark", "light") if self.theme == BOTH else (self.theme,)
        return {
            t if self.theme == BOTH else "": timed(_looks(view, size, t), start, end)
            for t in themes
        }

    def bounds(self, view: View) -> tuple[float, float]:
        """The stretch of time in seconds."""
        if self.stretch == "step" and view.story.steps:
            step = view.story.steps[view.story.step_at(view.provenance.time)]
            return step.start, step.end
        if self.stretch == "range":
            return self.start, self.end
        return 0.0, view.story.duration

    def options(self) -> Options:
        """How to write it."""
        return Options(fps=self.fps, loop=self.loop)

    def count(self, view: View) -> int:
        """How many pictures each file will have."""
        start, end = self.bounds(view)
        if self.format.holds == "page":
            return len(moments_of(timed(view, start, end), self.options()))
        return len(moments(start, end, self.fps))


def _looks(view: View, size: tuple[int, int], theme: str) -> View:
    """Beyond what is seen from afar letters grow with the picture: more pixels, not more room."""
    made = view.provenance
    palette = made.theme if theme == SHOWN else theme
    grown = max(min(size[0] / _ROOMY[0], size[1] / _ROOMY[1]), 1.0)
    letters = min(made.letters * grown, max(made.letters, _MOST_LETTERS))
    return replace(
        view,
        provenance=replace(made, width=size[0], height=size[1], theme=palette, letters=letters),
    )


Settings = TypeVar("Settings", PictureSettings, FilmSettings)
_ALLOWED: Mapping[str, Sequence[object]] = {
    "suffix": SUFFIXES,
    "size": SIZES,
    "theme": (*THEMES, SHOWN, BOTH),
    "stretch": _STRETCHES,
    "pixels": PIXELS,
    "fps": range(1, 121),
    "width": range(SMALLEST[0], LARGEST + 1),
    "height": range(SMALLEST[1], LARGEST + 1),
}


def as_text(settings: PictureSettings | FilmSettings) -> str:
    """To be remembered."""
    return records.text(settings)


def remembered(text: str, usual: Settings) -> Settings:
    """What `as_text` wrote; what is damaged or no longer allowed is as usual."""
    try:
        found = records.read(text, dict[str, Any], "settings")
    except FormatError:
        return usual
    kept, _ = records.fields(found, type(usual))
    allowed = {key: value for key, value in kept.items() if value in _ALLOWED.get(key, (value,))}
    return replace(usual, **allowed)
