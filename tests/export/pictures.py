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
from PySide6.QtGui import QImage

from gpuviz import resources
from gpuviz.draw.marks import Frame
from gpuviz.draw.palette import DARK, LIGHT
from gpuviz.draw.stage import Stage
from gpuviz.qt.painting.raster import to_image
from gpuviz.scenes import lesson
from gpuviz.scenes.perform import Performance, perform

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
    image = to_image(frame, scale).convertToFormat(QImage.Format.Format_RGBA8888)
    flat = np.frombuffer(image.constBits(), np.uint8)
    return flat.reshape(image.height(), image.width(), 4)[..., :3].astype(int)


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
