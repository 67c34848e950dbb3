"""A `Frame` as an SVG file that browsers, Inkscape and librsvg draw alike.

Texts stay texts, in the shipped fonts where they are installed and in common ones of much the same
width elsewhere. Nothing is scripted and nothing is loaded.
"""

from collections.abc import Iterable
from html import escape
from typing import IO

from gpuviz.base.arrays import Rgba
from gpuviz.draw.marks import Boxes, Frame
from gpuviz.draw.palette import code
from gpuviz.export.export import Export
from gpuviz.export.svg_marks import HATCH_STEP, HATCH_WIDTH, elements, hatch_id, number, paint
from gpuviz.views.provenance import KEYWORD, Provenance

TEXT_FONTS = (
    "Inter,'Inter Variable','Segoe UI','Helvetica Neue',Arial,'Liberation Sans',"
    "'Noto Sans',sans-serif"
)
CODE_FONTS = "'JetBrains Mono',Consolas,Menlo,'Liberation Mono','DejaVu Sans Mono',monospace"
STYLE = (
    f"text{{font-family:{TEXT_FONTS};font-feature-settings:'tnum','calt' 0;white-space:pre;"
    "text-rendering:geometricPrecision}"
    f".bold{{font-weight:600}}text.code{{font-family:{CODE_FONTS}}}"
)


def document(frame: Frame, provenance: Provenance | None = None, title: str = "") -> str:
    """The whole file, with the record of where it comes from."""
    width, height = number(frame.width), number(frame.height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">'
    )
    parts = [
        head,
        f"<title>{escape(title, quote=False)}</title>" if title else "",
        _metadata(provenance),
        f"<style>{STYLE}</style>",
        patterns(hatches((frame,))),
        ground(frame),
        *elements(frame),
        "</svg>\n",
    ]
    return "\n".join(part for part in parts if part)


def ground(frame: Frame) -> str:
    """What lies behind everything; nothing where it is transparent."""
    if not frame.ground[3]:
        return ""
    size = f'width="{number(frame.width)}" height="{number(frame.height)}"'
    return f"<rect {size}{paint('fill', frame.ground)}/>"


def hatches(frames: Iterable[Frame]) -> dict[str, Rgba]:
    """The colours of all hatches, by the name of their pattern."""
    return {
        hatch_id(mark.hatch): mark.hatch
        for frame in frames
        for mark in frame.marks
        if isinstance(mark, Boxes) and mark.hatch is not None
    }


def patterns(found: dict[str, Rgba]) -> str:
    """The patterns of hatches: diagonal lines that run on from box to box."""
    return f"<defs>{''.join(pattern(*one) for one in found.items())}</defs>" if found else ""


def pattern(name: str, rgba: Rgba) -> str:
    """A hatch: lines where x + y is 1 more than a multiple of the step, as the painter has them."""
    n = HATCH_STEP
    seen = f' stroke-opacity="{number(rgba[3] / 255)}"' if rgba[3] < 255 else ""
    return (
        f'<pattern id="{name}" x="1" width="{n}" height="{n}" patternUnits="userSpaceOnUse">'
        f'<path d="M-2 2L2 -2M-2 {n + 2}L{n + 2} -2M{n - 2} {n + 2}L{n + 2} {n - 2}" '
        f'stroke="{code(rgba)}"{seen} stroke-width="{HATCH_WIDTH}"/></pattern>'
    )


def _metadata(provenance: Provenance | None) -> str:
    if provenance is None:
        return ""
    return f'<metadata id="{KEYWORD}">{provenance.text()}</metadata>'


def write(export: Export, file: IO[bytes]) -> None:
    """The picture at the view's own moment."""
    view = export.view
    file.write(document(export.still, view.provenance, view.story.title).encode())
