"""Links to views."""

from __future__ import annotations

from pathlib import Path
from random import Random
from urllib.parse import quote

from tests.hostile import nasty
from tests.hostile.kind import Kind
from tests.hostile.kinds.trace import draw
from tests.hostile.mutation import changed_text, encoded

_LINKS = (
    "gpuviz://coalescing?stride=2&.t=4",
    "gpuviz://banks?stride=33&.arch=sm_30&.level=ptx&b.stride=1&.compare_arch=sm_20",
    "gpuviz://kernel-1?.launch.file=mine.cu&.launch.entry=in_order&.launch.name=x"
    "&.launch.grid=2,1,1&.launch.block=64,1,1&.launch.shared=0"
    "&.launch.arguments=f32%5B256%5D%3D%40data.npy%20f32%5B256%5D%3Dzeros",
    "gpuviz://trace-1?.launch.trace=t.gputrace",
    "gpuviz://occupancy",
    "gpuviz://matmul-tiled?tile=8",
)
_NAMES = (
    *("stride", "offset", ".t", ".arch", ".level", "b.stride", ".compare_arch", ".launch.file"),
    *(".launch.trace", ".launch.entry", ".launch.grid", ".launch.block", ".launch.arguments"),
    *(".launch.shared", ".", "", ".launch.", "b.", "%00", ".new"),
)


def make(random: Random) -> bytes:
    """A line of text."""
    text = random.choice(_LINKS)
    for _ in range(random.choice((0, 1, 2))):
        value = random.choice((nasty.number, nasty.word))(random)[:20_000]
        said = quote(value, errors="surrogatepass") if random.random() < 0.7 else value
        text += f"{'&' if '?' in text else '?'}{random.choice(_NAMES)}={said}"
    if random.random() < 0.6:
        text = changed_text(random, text, most=3)
    return encoded(text)


def opened(file: Path) -> None:
    """`gpuviz LINK`, as far as the window."""
    from gpuviz.cli import COMMANDS
    from gpuviz.cli.link_or_file import link_or_file

    link_or_file([_text(file)], COMMANDS)


def shown(file: Path) -> None:
    """As the window shows what was pasted."""
    from gpuviz.views.link import link, parse

    wanted = parse(_text(file))
    parse(link(wanted))
    draw(wanted)


def _text(file: Path) -> str:
    return file.read_bytes().decode(errors="surrogateescape")


KIND = Kind("link", 180, ".txt", make, calls=(opened, shown))
