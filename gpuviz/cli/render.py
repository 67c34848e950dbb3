"""`gpuviz render`: a lesson, or a launch of one's own kernel, as a picture, a film, a page or data,
without a display.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import get_args

from gpuviz.base.errors import Error, InputError
from gpuviz.cli.consent import agreed
from gpuviz.cli.launch import check_idle, pairs, shown
from gpuviz.cli.options import declare_launch
from gpuviz.cli.painter import painter, painter_for
from gpuviz.course import SCENES
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.export.export import Options, Painter
from gpuviz.export.formats import PDF, Holds, format_of, holding
from gpuviz.export.reading import read
from gpuviz.export.save import save
from gpuviz.files import writing as files
from gpuviz.lectures.bundle import find, opened
from gpuviz.lectures.pages import MissingPage, Page, pages, with_notes
from gpuviz.run.session import Session
from gpuviz.views.lesson_view import View
from gpuviz.views.make_view import timed, view_of
from gpuviz.views.provenance import Provenance
from gpuviz.words import language
from gpuviz.words.terminal import err

Drawn = Iterator[Page | MissingPage]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    declare_launch(
        parser,
        "render",
        arch={"default": None},
        **{"from": {"dest": "source", "type": Path}},
        level={"choices": ("sass", "ptx")},
        time={"type": finite},
        range={"type": finite},
        fps={"type": int, "default": 20},
        size={"type": _size},
        pixels={"type": finite, "default": 1.0},
        theme={"choices": tuple(THEMES)},
        scale={"type": _scale},
        format={"default": "png"},
        output={"type": Path, "required": True},
    )
    suffixes = {kind: " ".join(row.suffix for row in holding(kind)) for kind in get_args(Holds)}
    parser.epilog = Template(parser.epilog or "").substitute(suffixes)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    try:
        return int(width), int(height)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not WIDTHxHEIGHT, as in 1920x1080") from None


def finite(text: str) -> float:
    """A number that is neither infinite nor NaN."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return number


def _scale(text: str) -> float:
    if not 0.5 <= (number := finite(text)) <= 4:
        raise argparse.ArgumentTypeError(f"{text} is not from 0.5 to 4")
    return number


def run(arguments: argparse.Namespace) -> int:
    """Draw; 0, or 2 when some of all lessons could not be drawn."""
    language.choose(arguments.language)
    if arguments.all:
        return _all(arguments)
    if arguments.lecture:
        looks = Provenance("", {}, "sm_90", theme="projector")
        return render_lecture(arguments, _looks(looks, arguments))
    if not (arguments.scene or arguments.source or arguments.file):
        raise InputError("which lesson? give --scene ID (see gpuviz list), or --all, or a FILE")
    check_idle(arguments)
    files.check_place(arguments.output)
    with painter_for(format_of(arguments.output)) as painter:
        _draw(_asked(arguments), arguments, arguments.output, painter)
    return 0


def _all(arguments: argparse.Namespace) -> int:
    """Every lesson in this one process; what fails is told, and the others are still drawn."""
    if arguments.scene or arguments.source or arguments.set or arguments.compare:
        raise InputError(
            "--all draws every lesson as it is: leave --scene, --from, --set and --compare away"
        )
    form = format_of(Path(f"LESSON.{arguments.format.lstrip('.')}"))
    if arguments.output.exists() and not arguments.output.is_dir():
        raise InputError(f"{arguments.output} is a file: with --all OUT is a folder")
    files.make_folder(arguments.output)
    failed = 0
    with painter_for(form) as painter:
        for one in SCENES:
            try:
                shown = _looks(Provenance(one.id, {}, "sm_90"), arguments)
                _draw(shown, arguments, arguments.output / f"{one.id}{form.suffix}", painter)
            except Error as error:
                failed += 1
                err(f"gpuviz: {one.id}: {error}")
    return 2 if failed else 0


def _asked(arguments: argparse.Namespace) -> Provenance:
    """What the arguments ask for, on the ground of an exported file if one is named."""
    if arguments.source:
        base = read(arguments.source)
        if arguments.language == language.ENGLISH and base.language in language.languages():
            language.choose(base.language)
        if arguments.scene and arguments.scene != base.lesson:
            raise InputError(
                f"{arguments.source} shows the lesson {base.lesson}, not "
                f"{arguments.scene}: leave --scene away"
            )
    elif arguments.file:
        return _own(arguments)
    else:
        base = Provenance(arguments.scene, {}, "sm_90")
    values = {**base.values, **pairs(arguments.set, "--set")}
    compared = {**base.compare_values, **pairs(arguments.compare, "--compare")}
    return _looks(replace(base, values=values, compare_values=compared), arguments)


def _own(arguments: argparse.Namespace) -> Provenance:
    """A launch of a kernel file; a second view of it, where one is compared with."""
    from gpuviz.story.kernel_launch import record_of

    arguments.arch = arguments.arch or "sm_90"
    view, beside = pairs(arguments.view, "--view"), pairs(arguments.compare, "--compare")
    launch = record_of(shown(arguments))
    made = Provenance("kernel", view, arguments.arch, compare_values=beside, launch=launch)
    return _looks(made, arguments)


def _looks(base: Provenance, arguments: argparse.Namespace) -> Provenance:
    """The same as told by the arguments that were given."""
    width, height = arguments.size or (base.width, base.height)
    given = {
        "arch": arguments.arch,
        "level": arguments.level,
        "theme": arguments.theme,
        "compare_arch": arguments.compare_arch,
        "letters": arguments.scale,
    }
    told = {key: value for key, value in given.items() if value is not None}
    return replace(base, width=width, height=height, **told)


def _draw(
    asked: Provenance, arguments: argparse.Namespace, out: Path, painter: Painter | None
) -> None:
    options = Options(arguments.pixels, arguments.transparent, arguments.fps, not arguments.once)
    save(_at(view_of(asked), arguments, format_of(out).stretch), out, options, painter)


def _at(view: View, arguments: argparse.Namespace, stretch: bool) -> View:
    """The view at the moment, or over the stretch of time, that is asked for."""
    made = view.provenance
    if stretch:
        kept = (made.time, made.end) if made.end > made.time else (0.0, view.story.duration)
        start, end = arguments.range or kept
        if start >= end:
            raise InputError(f"--range {start:g} {end:g}: the end has to come after the beginning")
        if end <= 0 or start >= view.story.duration:
            raise InputError(
                f"--range {start:g} {end:g}: the story goes from 0 to {view.story.duration:g}"
            )
        return timed(view, start, end)
    if arguments.time is None and arguments.source:
        return timed(view, made.time)
    return timed(view, view.story.duration / 2 if arguments.time is None else arguments.time)


def render_lecture(arguments: argparse.Namespace, looks: Provenance) -> int:
    """Draw what can be drawn; 2 when some slides could not be, which are told."""
    if arguments.scene or arguments.source or arguments.set or arguments.compare:
        raise InputError(
            "--lecture draws a lecture as it is: leave --scene, --from, --set and --compare away"
        )
    is_pdf = arguments.output.suffix.lower() == PDF.suffix
    if arguments.notes and not is_pdf:
        raise InputError(f"--notes makes one PDF: name it OUT.pdf, not {arguments.output}")
    if is_pdf:
        files.check_place(arguments.output)
    else:
        files.make_folder(arguments.output)
    session, file = Session(), find(arguments.lecture)
    told = opened(file, session, agreed(arguments, file), arguments.language)
    library = session.library(file)
    if arguments.language == language.ENGLISH and told.language in language.languages():
        language.choose(told.language)
    drawn = pages(told, looks, library)
    if is_pdf:
        with painter() as painting:
            return _print(told.title, drawn, arguments, painting)
    return _save(drawn, arguments)


def _print(title: str, drawn: Drawn, arguments: argparse.Namespace, painter: Painter) -> int:
    """All pages in one file."""
    missing: list[MissingPage] = []
    frames = [frame for page in _found(drawn, missing) for frame in _printed(page, arguments.notes)]
    if frames:
        files.write(arguments.output, painter.pdf(frames, title))
    return 2 if missing else 0


def _printed(page: Page, notes: bool) -> Iterator[Frame]:
    """The picture of a page; with notes only the last one of each slide."""
    if not notes:
        yield page.view.still
    elif page.last:
        yield with_notes(page.view.still, page.notes, THEMES[page.view.provenance.theme])


def _save(drawn: Drawn, arguments: argparse.Namespace) -> int:
    """Each page in a file of its own."""
    form = format_of(Path(f"SLIDE.{arguments.format.lstrip('.')}"))
    missing: list[MissingPage] = []
    options = Options(arguments.pixels, arguments.transparent)
    with painter_for(form) as painting:
        for page in _found(drawn, missing):
            save(page.view, arguments.output / f"{page.name}{form.suffix}", options, painting)
    return 2 if missing else 0


def _found(drawn: Drawn, missing: list[MissingPage]) -> Iterator[Page]:
    """The pages there are; slides without are told at once, and kept."""
    for page in drawn:
        if isinstance(page, Page):
            yield page
        else:
            missing.append(page)
            err(f"gpuviz: slide {page.number}: {page.why}")
