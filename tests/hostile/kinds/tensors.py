"""Launches with tensor maps and textures that make no sense: of the arguments, made by kernels
field by field, and forged in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from gpuviz.arguments.dtypes import DTYPES
from gpuviz.arguments.specs import MODES
from gpuviz.arguments.tensor_maps import SWIZZLES, TensorMap
from tests.hostile import nasty
from tests.hostile.kind import Kind

_FILE = Path(__file__).parents[2] / "data" / "kernels" / "tensors_and_textures.ptx"
_SIZES = (0, 1, 2, 3, 8, 16, 31, 64, 100, 256, 257, 65536, 2**31, 2**32 - 1, 2**32, 2**40)
_PLACES = (0, 0, 1, 4, 16, -1, -16, 100, 2**31 - 1, -(2**31), 2**30)
_FLOATS = "f32[64]=rand"
_REPLACED = re.compile(r"(tensormap\.replace\.tile\.\w+\S* \[%rd3\], (?:\d, )?)(\d+);")
# The kernels, what they take, and the threads of a block.
_IMAGES = {
    "one": ("image", "x", "out"),
    "fetch": ("image", "out"),
    "two": ("image", "x", "x", "out"),
    "three": ("image", "x", "x", "out"),
    "whole": ("image", "out"),
    "layers": ("image", "out"),
    "gather": ("image", "out"),
    "surface": ("image", "image", "shift"),
}


@cache
def _text() -> str:
    return _FILE.read_text(encoding="utf-8")


def make(random: Random) -> bytes:
    """A line that says how it is launched, and the PTX."""
    text, how = random.choice((_boxes, _back, _made, _made, _forged, _images, _images))(random)
    return f"//{json.dumps(how)}\n{text}".encode(errors="surrogatepass")


def _launch(entry: str, specs: Sequence[str], block: int = 32, shared: int = 0) -> list[str]:
    made = ["--entry", entry, "--grid", "1", "--block", str(block), "--dynamic-shared", str(shared)]
    return [*made, *(x for spec in specs for x in ("--arg", spec))]


def _size(random: Random, good: int) -> int:
    """One that is as it should be, as often as not."""
    return good if random.random() < 0.9 else random.choice(_SIZES)


def _map(random: Random) -> str:
    """A tensor map of the emulator's own form, with sizes of all sorts."""
    rank = random.choice((1, 2, 2, 3, 4, 5, 5, 6))
    sizes = [_size(random, 16) for _ in range(rank)]
    box = [_size(random, random.choice((4, 8))) for _ in range(random.choice((rank,) * 9 + (1,)))]
    options = [f"box={'x'.join(map(str, box))}"]
    if random.random() < 0.4:
        options.append(f"swizzle={random.choice((16, 32, 64, 128, 256, -1))}")
    if random.random() < 0.3:
        strides = [_size(random, random.choice((16, 48, 4096))) for _ in sizes[1:]]
        options.append(f"stride={'x'.join(map(str, strides))}")
    if random.random() < 0.3:
        options.append(f"step={'x'.join(str(_size(random, 1)) for _ in sizes)}")
    if random.random() < 0.2:
        options.append("outside=nan")
    kind = random.choice((*DTYPES, *("f32",) * 9, "f16"))
    fill = random.choice(("rand", "zeros", "arange", "&6+0", "&0+16", nasty.number(random)[:40]))
    return f"tensormap({kind}[{','.join(map(str, sizes))}]={fill}, {', '.join(options)})"


def _place(random: Random) -> str:
    return f"i32={random.choice(_PLACES)}"


def _boxes(random: Random) -> tuple[str, list[str]]:
    rank, moved = random.choice((1, 2, 3, 4, 5, 0)), random.choice((0, 16, 64, 128, 256, 4096))
    specs = [_map(random), f"i32={rank}", *(_place(random) for _ in range(3)), f"i32={moved}"]
    shared = random.choice((0, 1024, 4096, 65536, 232448, 2**31))
    return _text(), _launch("box", [*specs, "f32[65536]=zeros"], shared=shared)


def _back(random: Random) -> tuple[str, list[str]]:
    places = [_place(random), _place(random), f"i32={random.choice((0, 16, 256, 4096))}"]
    specs = [_map(random), _map(random), "f32[4096]=rand", *places]
    return _text(), _launch("back", specs, shared=4096)


def _made(random: Random) -> tuple[str, list[str]]:
    """A map that the kernel makes, with other numbers in some of its fields."""

    def other(found: re.Match[str]) -> str:
        number = random.choice((*_SIZES, *nasty.INTEGERS[:24])) if random.random() < 0.3 else None
        return f"{found[1]}{found[2] if number is None else number & 2**32 - 1};"

    text = _REPLACED.sub(other, _text())
    if random.random() < 0.2:  # a field with another's number, or beyond the last
        text = text.replace("], 0, ", f"], {random.choice((1, 4, 5, 99, 2**31))}, ", 1)
    return text, _launch("made", ["f32[100]=rand", "f32[64]=zeros", "u8[128]=zeros"], 64)


def _forged(random: Random) -> tuple[str, list[str]]:
    """Bytes in place of a map: those of our form with some changed, then taken by the kernel."""
    rank = random.choice((1, 1, 1, 2, 5))
    few = (1, 2, 4, 16, 64, 255)
    tensor = TensorMap(
        random.choice((*DTYPES, "f32", "f32")),
        0,
        tuple(min(_size(random, 100), 2**32 - 1) for _ in range(rank)),
        tuple(_size(random, 400) for _ in range(rank - 1)),
        tuple(min(_size(random, random.choice(few)), 65535) for _ in range(rank)),
        tuple(random.choice((1, 1, 1, 1, 2, 8, 0, 255)) for _ in range(rank)),
        random.choice(SWIZZLES),
        random.random() < 0.2,
    )
    held = np.frombuffer(tensor.encoded(), np.uint8).copy()
    for at in random.sample(range(4, 88), random.choice((0, 0, 1, 2, 8))):
        held[at] = random.choice((0, 1, 255, random.randrange(256)))
    listed = f"u8[128]=[{','.join(map(str, held))}]"
    text = _REPLACED.sub("", _text()) if random.random() < 0.8 else _text()
    return text, _launch("made", ["f32[100]=rand", "f32[64]=zeros", listed], 64)


def _images(random: Random) -> tuple[str, list[str]]:
    entry = random.choice(list(_IMAGES))
    return _text(), _launch(entry, [_image_argument(random, one) for one in _IMAGES[entry]])


def _image_argument(random: Random, wanted: str) -> str:
    match wanted:
        case "image":
            if random.random() < 0.1:  # a handle that is none
                return f"u64={random.choice(nasty.INTEGERS) & 2**64 - 1}"
            channels = random.choice(("", "", "*1", "*2", "*4", "*4", "*3"))
            sizes = ",".join(str(_size(random, 8)) for _ in range(random.choice((1, 2, 2, 3, 3))))
            modes = " ".join(random.sample(MODES, random.choice((0, 1, 2, 4))))
            kind = random.choice((*DTYPES, *("f32",) * 9, "u8", "u8"))
            return f"image {kind}{channels}[{sizes}] {modes}={random.choice(('rand', 'arange'))}"
        case "x":
            return random.choice((_FLOATS, "f32[64]=nan", "f32[64]=inf", "f32[64]=-1e38"))
        case "out":
            return "f32[256]=zeros"
    return f"i32={random.choice((0, 1, -1, 2**31 - 1, -(2**31)))}"


def _told(file: Path) -> list[str]:
    head = file.read_bytes().partition(b"\n")[0]
    made: list[str] = json.loads(head[2:])
    return made


def count(file: Path) -> Sequence[str]:
    """Run it."""
    return "count", str(file), *_told(file), "--arch", "sm_90", "--level", "ptx", "--budget", "0.5"


def emulated(file: Path) -> None:
    """Run it with arguments that are taken as they are said, and all checks."""
    from gpuviz.arch import architecture
    from gpuviz.arguments import parse
    from gpuviz.compile import load_program
    from gpuviz.launch.job import Job
    from gpuviz.ptx.emulator import Options
    from gpuviz.run import emulated
    from gpuviz.traces.check_table import CHECKS

    told = _told(file)
    specs = tuple(map(parse, told[told.index("--arg") + 1 :: 2]))
    grid, block = (1, 1, 1), (int(told[5]), 1, 1)
    job = Job(load_program(file), told[1], grid, block, specs, int(told[7]))
    options = Options(record=(0,), seconds=1.0, checks=tuple(CHECKS))
    emulated.run(job, architecture("sm_90"), level="ptx", options=options)


KIND = Kind("tensors", 300, ".ptx", make, (count,), calls=(emulated,))
