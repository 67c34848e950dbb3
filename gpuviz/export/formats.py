"""The formats that views are written in: a row each. A new one is a file beside this and a row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Literal

from gpuviz.base.errors import InputError
from gpuviz.export import counts, gif, page, png, svg, video
from gpuviz.export.export import Export, FindRecord, Options, Write, in_one_piece
from gpuviz.export.film import writer
from gpuviz.views.provenance import Provenance
from gpuviz.words.language import later

Holds = Literal["picture", "film", "page", "data", "timeline"]
MOST_PIXELS = 1 << 28
FASTEST = 120  # pictures a second


@dataclass(frozen=True, eq=False)
class Format:
    """One row."""

    # suffix, name: of the file; what people choose it by, in English: `PNG: pixels`.
    suffix: str
    name: str
    # "picture" and "data" are of a moment, "film" and "page" of a stretch of time, "timeline" of
    # the launch that a moment shows.
    holds: Holds
    write: Write  # writes a view
    options: tuple[str, ...] = ()  # names of the `Options` that it heeds
    painted: bool = False  # whether it takes a `Painter`, that is, the libraries of the window
    fastest: int = FASTEST  # pictures a second, at most
    widest: int = 1 << 31  # pixels along a side, at most
    even: bool = False  # whether its pictures are of even width and height
    # What it lacks on this machine and how to get it, "" when nothing.
    lacking: Callable[[], str] = str
    mime: str = ""  # what a clipboard calls it, "" when it is not exchanged that way
    begins: bytes = b""  # how its files begin, where `record` has to know
    # Finds the record of the view in a file, None when there is no room for it.
    record: FindRecord | None = in_one_piece

    @property
    def short(self) -> str:
        """Its name in a word: `PNG`."""
        return self.name.partition(":")[0]

    @property
    def stretch(self) -> bool:
        """Whether it tells of a stretch of time, not of a moment."""
        return self.holds in ("film", "page")

    def check(self, view: Provenance, options: Options) -> None:
        """InputError when it cannot hold such a view: too many pixels, or too fast."""
        if self.holds == "film" and not 1 <= options.fps <= self.fastest:
            raise InputError(
                f"{options.fps} pictures a second: a {self.suffix} film takes 1 to {self.fastest}"
            )
        if "pixels" not in self.options:
            return
        check_pixels(view.width, view.height, options.pixels)
        size = round(view.width * options.pixels), round(view.height * options.pixels)
        if max(size) > self.widest:
            raise InputError(
                f"a {self.short} of {size[0]}x{size[1]} pixels: at most {self.widest} along each "
                "side"
            )


def check_pixels(width: int, height: int, pixels: float) -> None:
    """InputError when a picture of this size would have too many pixels, or too few."""
    if not 0.1 <= pixels <= 8 or width * height * pixels**2 > MOST_PIXELS:
        raise InputError(
            f"{pixels:g} pixels for each of {width}x{height}: that is too large or "
            "too small; from 0.1 to 8, and at most 16384x16384 in all"
        )


def _pdf(export: Export, file: IO[bytes]) -> None:
    """The picture at the view's own moment, as one page: shapes and texts stay such."""
    view = export.view
    file.write(export.paints().pdf((export.still,), view.story.title, view.provenance.text()))


_STILL, _FILM = ("pixels", "transparent"), ("pixels", "fps", "loop")
PNG = Format(
    ".png", later("PNG: pixels"), "picture", png.write, _STILL, painted=True, mime="image/png"
)
_SHAPES = later("SVG: shapes, for the web and drawing")
SVG = Format(".svg", _SHAPES, "picture", svg.write, ("transparent",), mime="image/svg+xml")
PDF = Format(
    ".pdf", later("PDF: shapes, for papers"), "picture", _pdf, ("transparent",), painted=True
)
GIF = Format(
    ".gif",
    later("GIF: plays everywhere"),
    "film",
    writer(gif.Gif),
    _FILM,
    painted=True,
    fastest=gif.FASTEST,
    widest=gif.WIDEST,
    mime="image/gif",
    begins=gif.BEGINS,
    record=gif.record,
)
APNG = Format(".apng", later("APNG: every colour"), "film", writer(png.Apng), _FILM, painted=True)


def _video(name: str, codec: video.Codec) -> Format:
    made = Format(codec.suffix, name, "film", writer(codec), ("pixels", "fps"), painted=True)
    return replace(made, even=True, lacking=codec.lacking)


MP4, WEBM = _video(later("MP4: film"), video.MP4), _video(later("WebM: film"), video.WEBM)
HTML = Format(".html", later("HTML: a page to click through"), "page", page.write, ("fps",))
CSV = Format(".csv", "CSV", "data", counts.csv, record=None)
NCU = Format(".ncu.csv", later("CSV as Nsight Compute writes it"), "data", counts.ncu, record=None)
JSON = Format(".json", "JSON", "data", counts.json)
MARKDOWN = Format(".md", "Markdown", "data", counts.markdown, record=None)


def _timeline(export: Export, file: IO[bytes]) -> None:
    from gpuviz.export import perfetto  # the model of time is loaded where it is asked for

    perfetto.write(export, file)


TIMELINE = Format(".trace.json", later("Timeline: for Perfetto and Chrome"), "timeline", _timeline)

FORMATS = (PNG, SVG, PDF, GIF, APNG, MP4, WEBM, HTML, CSV, NCU, JSON, MARKDOWN, TIMELINE)
SUFFIXES = tuple(row.suffix for row in FORMATS)


def holding(*kinds: Holds) -> tuple[Format, ...]:
    """The formats that hold this."""
    return tuple(row for row in FORMATS if row.holds in kinds)


def named(suffix: str) -> Format:
    """The format of a suffix, which there is."""
    return FORMATS[SUFFIXES.index(suffix)]


def format_of(path: Path) -> Format:
    """The format of a file to write; InputError when there is none of its suffix."""
    fitting = [suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)]
    suffix = max(fitting, key=len, default=path.suffix.lower())
    if not fitting:
        said = f"the format {suffix} cannot be written" if suffix else "which format?"
        raise InputError(f"{path}: {said}; name it OUT.png (PNG), or one of: {' '.join(SUFFIXES)}")
    return named(suffix)
