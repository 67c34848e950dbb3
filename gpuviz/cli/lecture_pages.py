"""`gpuviz render --lecture`: the steps of a lecture as pictures, or one PDF to print."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from gpuviz.base.errors import InputError
from gpuviz.cli.consent import agreed
from gpuviz.cli.painter import painter, painter_for
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import THEMES
from gpuviz.export.export import Options, Painter
from gpuviz.export.formats import PDF, format_of
from gpuviz.export.save import save
from gpuviz.files import writing as files
from gpuviz.lectures.bundle import find, opened
from gpuviz.lectures.pages import MissingPage, Page, pages, with_notes
from gpuviz.run.session import Session
from gpuviz.views.provenance import Provenance
from gpuviz.words import language
from gpuviz.words.terminal import err

OPTIONS = """
--lecture FILE  every step of a lecture; OUT is a folder, or one .pdf of all
--notes         with --lecture and a .pdf: a page a slide, with the speaker's notes
--allow
"""
Drawn = Iterator[Page | MissingPage]


def render(arguments: argparse.Namespace, looks: Provenance) -> int:
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
