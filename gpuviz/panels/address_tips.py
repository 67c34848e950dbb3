"""What hovering the parts of an address map says: lanes, words, transactions."""

from __future__ import annotations

from gpuviz.memory.request import Request
from gpuviz.traces.trace import LANES
from gpuviz.words.language import tr


def lane_tip(request: Request, lane: int) -> str:
    """What hovering a lane or its band says."""
    thread = request.warp * LANES + lane
    if not request.active[lane]:
        return tr("lane {lane} · thread {thread} · takes no part", lane=lane, thread=thread)
    box, first = int(request.strip.lane_box[lane]), int(request.address[lane])
    return "\n".join(
        (
            tr(
                "lane {lane} · thread {thread} of block {block}",
                lane=lane,
                thread=thread,
                block=request.block,
            ),
            tr(
                "{place} · bytes {a} to {b} · address {address}",
                place=request.place(lane),
                a=first,
                b=first + request.instruction.width - 1,
                address=f"{request.buffer.address + first:#x}",
            ),
            f"{request.numbered(int(request.turn[box]))} · {tr('line {n}', n=request.line[box])}",
        )
    )


def cell_tip(request: Request, cell: int) -> str:
    """What hovering a word says."""
    strip = request.strip
    lane, box = int(strip.cell_lane[cell]), int(strip.cell_box[cell])
    if lane >= 0:
        return lane_tip(request, lane)
    first = int(strip.start[box] + strip.cell_at[cell])
    which = tr("bytes {a} to {b} of {name}", a=first, b=first + strip.unit - 1, name=request.name)
    part = request.numbered(int(request.turn[box]))
    if request.is_store:
        why = tr("touched with {part}, but no lane of this request asks for them", part=part)
    else:
        why = tr("fetched with {part}, but no lane of this request asks for them", part=part)
    return f"{which}\n{why}"


def box_tip(request: Request, box: int) -> str:
    """What hovering a transaction says."""
    start, size = int(request.strip.start[box]), int(request.strip.size[box])
    return tr(
        "{part} · {size} bytes from {place} · {used} of them used",
        part=request.numbered(int(request.turn[box])),
        size=size,
        place=f"{request.name} + {start:#x}",
        used=request.strip.used[box],
    )
