"""`gpuviz render`: a picture of a lesson, without a display."""

from __future__ import annotations

import argparse
from pathlib import Path

from gpuviz import words
from gpuviz.arch import architecture
from gpuviz.cli.launch import add_language, add_scene, pairs
from gpuviz.draw.palette import THEMES
from gpuviz.draw.stage import Stage
from gpuviz.errors import InputError
from gpuviz.qt import headless
from gpuviz.scenes import lesson
from gpuviz.scenes.base import Lesson, Story
from gpuviz.scenes.compare import beside, name_of
from gpuviz.scenes.perform import check_values, perform

NAME = "render"
HELP = "draw a lesson at one moment as a PNG file"
EXAMPLE = """example:
  gpuviz render --scene coalescing --set stride=2 --time 4 --theme light -o stride.png
  gpuviz render --scene coalescing --set stride=1 --compare stride=32 -o both.png"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_scene(parser)
    parser.add_argument("--compare", action="append", default=[], metavar="K=V",
                        help="draw a second variant beside the first, with this parameter changed")
    parser.add_argument("--compare-arch", metavar="sm_XX",
                        help="draw the second variant under another architecture")
    parser.add_argument("--arch", default="sm_90", metavar="sm_XX",
                        help="architecture to count by (default %(default)s)")
    parser.add_argument("--level", choices=("sass", "ptx"), default="sass",
                        help="tell of the assembler's code or of the PTX")
    parser.add_argument("--time", type=float, default=None, metavar="T",
                        help="seconds into the story (default: the middle)")
    parser.add_argument("--size", type=_size, default=(1920, 1080), metavar="WxH",
                        help="pixels (default 1920x1080)")
    parser.add_argument("--theme", choices=tuple(THEMES), default="dark", help="colours")
    parser.add_argument("--scale", type=float, default=1.0, help="enlarge letters")
    add_language(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT.png")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    return int(width), int(height)


def run(arguments: argparse.Namespace) -> int:
    """Draw, 0."""
    if not arguments.scene:
        raise InputError("which lesson? give --scene ID (see gpuviz list)")
    if arguments.output.suffix.lower() != ".png":
        raise InputError(f"{arguments.output}: only PNG pictures can be drawn; name it OUT.png")
    words.choose(arguments.language)
    chosen = lesson(arguments.scene)
    story = _story(chosen, arguments)
    width, height = arguments.size
    if not (320 <= width <= 16384 and 200 <= height <= 16384):
        raise InputError(f"--size {width}x{height}: from 320x200 to 16384x16384 pixels")
    t = story.duration / 2 if arguments.time is None else arguments.time
    t = min(max(t, 0.0), story.duration)
    stage = Stage(width, height, THEMES[arguments.theme], arguments.scale)
    headless.save(story.frame(t, stage), arguments.output)
    return 0


def _story(chosen: Lesson, arguments: argparse.Namespace) -> Story:
    """The lesson's story, or two of them side by side."""
    values = check_values(chosen, pairs(arguments.set, "--set"))
    story = perform(chosen, values, arch=arguments.arch, level=arguments.level).story
    if not arguments.compare and not arguments.compare_arch:
        return story
    changed = check_values(chosen, {**values, **pairs(arguments.compare, "--compare")})
    arch = arguments.compare_arch or arguments.arch
    other = perform(chosen, changed, arch=arch, level=arguments.level).story
    names = [name_of(chosen, values, changed), name_of(chosen, changed, values)]
    if arguments.compare_arch:
        names = [f"{name}, {architecture(sm)}"
                 for name, sm in zip(names, (arguments.arch, arch), strict=True)]
    return beside(story, other, *names)

