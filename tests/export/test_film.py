import io
import weakref
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageSequence

from gpuviz.base.errors import Cancelled, InputError, UnavailableError
from gpuviz.export import film
from gpuviz.export.film import EncoderFactory, Kind, changed, moments
from gpuviz.export.gif import Gif, Indexer, film_palette
from gpuviz.export.png import Apng
from gpuviz.export.reading import read
from gpuviz.export.video import MP4, WEBM
from gpuviz.files.writing import whole
from gpuviz.views.provenance import Provenance

RECORD = Provenance("coalescing", {"words": "x" * 600}, "sm_90")
FORMATS: dict[str, EncoderFactory] = {".gif": Gif, ".apng": Apng, ".mp4": MP4, ".webm": WEBM}
IMAGES = {key: FORMATS[key] for key in (".gif", ".apng")}


def picture(t: float) -> np.ndarray:
    """A box that jumps four times a second, 48 x 32."""
    drawn = np.full((32, 48, 3), (20, 30, 40), np.uint8)
    left = int(t * 4) % 10 * 4
    drawn[8:16, left : left + 8] = (250, 120, 10 * left // 4)
    return drawn


def encode(path: Path, *film_of: Any, **more: Any) -> None:
    with whole(path) as file:
        film.encode(file, *film_of, **more)


def write(folder: Path, suffix: str, times: tuple[float, ...], **more: Any) -> Path:
    path = folder / f"film{suffix}"
    kind = Kind(48, 32, 20, comment=RECORD.text())
    encode(path, FORMATS[suffix], kind, times, picture, **more)
    return path


def durations(image: Image.Image) -> tuple[list[np.ndarray], list[float]]:
    shown, times = [], []
    for frame in ImageSequence.Iterator(image):
        shown.append(np.array(frame.convert("RGB")))
        times.append(frame.info["duration"])
    return shown, times


@pytest.mark.parametrize("suffix", IMAGES)
def test_pictures_come_back_exactly_and_in_time(suffix: str, tmp_path: Path) -> None:
    with Image.open(write(tmp_path, suffix, moments(0.5, 2.5, 20))) as image:
        assert image.info["loop"] == 0
        shown, times = durations(image)
    assert len(shown) == 8, "a picture is stored when it differs"
    assert times == [250.0] * 8
    for number, got in enumerate(shown):
        assert (got == picture(0.5 + number / 4)).all()


@pytest.mark.parametrize("suffix", FORMATS)
def test_films_say_where_they_are_from(suffix: str, tmp_path: Path) -> None:
    if suffix not in IMAGES:
        pytest.importorskip("av")
    assert read(write(tmp_path, suffix, (0.0, 0.25))) == RECORD


@pytest.mark.parametrize("suffix", FORMATS)
def test_films_are_the_same_at_every_run(suffix: str, tmp_path: Path) -> None:
    if suffix not in IMAGES:
        pytest.importorskip("av")
    first = write(tmp_path, suffix, moments(0, 1, 20)).read_bytes()
    assert write(tmp_path, suffix, moments(0, 1, 20)).read_bytes() == first


@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_videos_have_every_picture(suffix: str, tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    with av.open(str(write(tmp_path, suffix, moments(0, 2, 20)))) as container:
        assert float(container.streams.video[0].average_rate) == 20
        shown = [f.to_ndarray(format="rgb24").astype(int) for f in container.decode(video=0)]
    assert len(shown) == 40
    for number, got in enumerate(shown):  # colour is stored at half the resolution
        assert np.abs(got - picture(number / 20)).mean() < 6


def test_odd_sizes_are_refused(tmp_path: Path) -> None:
    for suffix in (".mp4", ".webm"):
        with pytest.raises(InputError, match="49x32.*even"):
            encode(tmp_path / "a", FORMATS[suffix], Kind(49, 32, 20), (0.0,), picture)


def test_without_pyav_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(UnavailableError, match=r"gpuviz\[film\]"):
        write(tmp_path, ".mp4", (0.0,))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", IMAGES)
def test_pictures_are_let_go(suffix: str, tmp_path: Path) -> None:
    """However long the film, few pictures are alive at once."""
    alive: list[weakref.ref[np.ndarray]] = []

    def watched(t: float) -> np.ndarray:
        drawn = picture(t)
        alive.append(weakref.ref(drawn))
        assert sum(reference() is not None for reference in alive) <= 4
        return drawn

    encode(tmp_path / "a", FORMATS[suffix], Kind(48, 32, 4), moments(0, 30, 4), watched)
    assert len(alive) >= 120


def test_cancelling_leaves_nothing_behind(tmp_path: Path) -> None:
    told: list[float] = []
    with pytest.raises(Cancelled):
        write(
            tmp_path, ".gif", moments(0, 1, 20), progress=told.append, cancel=lambda: len(told) == 3
        )
    assert told == [0.05, 0.1, 0.15]
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="absent"):
        write(tmp_path / "absent", ".gif", (0.0,))


@given(st.floats(0, 50), st.floats(0, 20), st.integers(1, 60))
def test_moments_are_spaced_evenly(start: float, length: float, fps: int) -> None:
    times = moments(start, start + length, fps)
    assert times[0] == start and abs(len(times) - max(length * fps, 1)) <= 1
    assert all(abs(b - a - 1 / fps) < 1e-9 for a, b in pairwise(times))
    assert moments(0, 10, 30)[-1] == pytest.approx(10 - 1 / 30)


def test_frequent_colours_are_exact_and_others_near() -> None:
    random = np.random.default_rng(1)
    noisy = random.integers(0, 256, (64, 64, 3), np.uint8)
    noisy[:32] = (17, 99, 201)
    palette = film_palette([noisy])
    assert len(palette) <= 255
    shown = palette[Indexer(palette)(noisy)]
    assert (shown[:32] == noisy[:32]).all()
    every = np.abs(noisy[32:].astype(int)[:, :, None] - palette.astype(int)) ** 2
    assert (((shown[32:].astype(int) - noisy[32:]) ** 2).sum(2) == every.sum(3).min(2)).all()


@given(st.data())
def test_patches_hold_all_changes(data: st.DataObject) -> None:
    before = np.zeros((6, 9), np.uint8)
    after = before.copy()
    for y, x in data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)))):
        after[y, x] = 1
    patch = changed(before, after)
    if patch is None:
        assert (after == before).all()
    else:
        part = patch.of(after)
        assert part.sum() == after.sum()
        assert part[0].any() and part[-1].any() and part[:, 0].any() and part[:, -1].any()


def test_a_gif_of_a_single_picture_that_stays(tmp_path: Path) -> None:
    path = tmp_path / "one.gif"
    encode(path, Gif, Kind(48, 32, 50, loop=False), moments(0, 0.2, 50), picture)
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        assert "loop" not in image.info
        assert durations(image)[1] == [200]
