"""`gpuviz present`: give a lecture, full screen, with a window of notes for the speaker."""

import argparse
from pathlib import Path

from gpuviz.base.errors import Elsewhere, InputError
from gpuviz.cli import consent
from gpuviz.cli.consent import refusal, settle
from gpuviz.cli.options import at_least_one, declare
from gpuviz.files import writing as files
from gpuviz.files.allowed_paths import Reach
from gpuviz.gpu.client import Gpu
from gpuviz.gpu.consent import ConsentList, kept
from gpuviz.gpu.faults import NoDevice
from gpuviz.lectures.bundle import BundleContents, find, opened, shipped, unpacked
from gpuviz.lectures.bundle_contents import gather, write
from gpuviz.lectures.lecture import Lecture
from gpuviz.lectures.lecture_texts import title_in
from gpuviz.lectures.own_files import plans_of
from gpuviz.lectures.writing import in_file
from gpuviz.recordings import recording
from gpuviz.run.session import Library, Session
from gpuviz.story.foreign import codes_of
from gpuviz.words import language
from gpuviz.words.language import english
from gpuviz.words.terminal import err, out


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    said = "a .gpuviz-lecture file, or the name of one that ships"
    parser.add_argument("lecture", nargs="?", metavar="FILE", help=said)
    slide = {"type": at_least_one, "default": 1}
    declare(parser, "present", slide=slide, recording={"type": Path}, pack={"type": Path})


def run(arguments: argparse.Namespace) -> int:
    """Give it until it is over; with --check, 1 when something could not be read."""
    if arguments.lecture is None:
        for path in shipped():
            out(f"{path.stem:28} {title_in(path, arguments.language)}")
        return 0
    session = Session()
    for path in arguments.recording:
        recording.read(path)  # what cannot be read is said now
    session.choose_recordings(reversed(arguments.recording))
    file = find(arguments.lecture)
    lecture = opened(file, session, consent.agreed(arguments, file), arguments.language)
    for problem in lecture.all_problems:
        err(f"gpuviz: {arguments.lecture}, {problem}")
    if arguments.pack is not None:
        files.check_place(arguments.pack)
        reach = Reach(unpacked(file)[0].absolute().parent, consent.allowed(arguments))
        packing = gather(lecture, reach, library=session.library(file))
        _tell(packing)
        if packing.outside:
            raise Elsewhere(f"the bundle of {file.name}", packing.outside)
        write(packing, arguments.pack)
        return 0
    if arguments.check:
        return 1 if lecture.all_problems else 0
    if arguments.slide > len(lecture.slides):
        slides = english("{n} slide", "{n} slides", len(lecture.slides))
        raise InputError(f"--slide {arguments.slide}: the lecture has {slides}")
    language.choose(
        lecture.language if lecture.language in language.languages() else arguments.language
    )
    library = session.library(file)
    may_run = _agreed(lecture, library, arguments.trust)
    from gpuviz import app

    return app.present(
        lecture,
        library,
        may_run,
        arguments.slide - 1,
        in_file(file, lecture.agreed),
        arguments.rehearse,
    )


def _tell(packing: BundleContents) -> None:
    """List what goes in: name, size, and where it is from."""
    wide = max(len(file.name) for file in packing.files)
    for file in packing.files:
        out(f"{file.name:{wide}} {len(file.content):>12,} B  {file.origin or ''}".rstrip())
    for problem in packing.problems:
        err(f"gpuviz: {problem}")


def _agreed(lecture: Lecture, library: Library, trust: bool) -> ConsentList:
    """What may run of the lecture's own kernels; nothing is asked in front of a class."""
    plans = tuple(plans_of(lecture))
    if not plans:
        return kept()
    try:
        with Gpu() as gpu:
            device = gpu.facts()
    except NoDevice:
        return kept()
    agreed, left = settle(codes_of(plans, device, library.file, library), trust)
    if left:
        err(f"gpuviz: {refusal(left)}")
    return agreed
