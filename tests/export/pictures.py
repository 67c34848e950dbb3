"""Pictures of lessons, and what another program makes of an exported file."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpuviz.base import resources
from gpuviz.course import lesson
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.export import save as export
from gpuviz.export.export import Options
from gpuviz.qt.painting.qt_painter import QtPainter
from gpuviz.story.perform import Performance, perform
from gpuviz.views.lesson_view import View

PAINTER = QtPainter()
LESSONS = ("coalescing", "banks", "matmul-tiled")
STAGE = Stage(960, 540, LIGHT)
DARK_STAGE = Stage(960, 540, DARK)


@cache
def performed(name: str) -> Performance:
    return perform(lesson(name), {})


def middle(name: str, stage: Stage = STAGE) -> Frame:
    story = performed(name).story
    return story.frame(story.duration / 2, stage)


def by_qt(frame: Frame, scale: float = 1.0) -> np.ndarray:
    """(H, W, 3) pixels as the window paints them."""
    return PAINTER.pixels(frame, scale)[..., :3].astype(int)


def save(view: View, path: Path, options: Options | None = None) -> None:
    """Write a view as the window writes it."""
    export.save(view, path, options, PAINTER)


def program(*names: str) -> str:
    """A program of this machine, or the test is skipped."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"none of {', '.join(names)} is installed")
    return found


def run(folder: Path, *command: str | Path) -> str:
    """Run a program that finds the shipped fonts; what it prints."""
    fonts = folder / "fonts.conf"
    fonts.write_text(
        f"<fontconfig><dir>{resources.path('fonts').resolve()}</dir>"
        f"<cachedir>{folder / 'fontconfig'}</cachedir></fontconfig>"
    )
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, "FONTCONFIG_FILE": str(fonts)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pixels(file: Path) -> np.ndarray:
    """(H, W, 3) pixels of a picture file."""
    with Image.open(file) as image:
        return np.array(image.convert("RGB")).astype(int)


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Mean difference of two pictures, in steps of 255."""
    assert one.shape == other.shape
    return float(np.abs(one - other).mean())
