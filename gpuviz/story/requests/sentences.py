"""What a request does, in a sentence: how its addresses lie, what becomes of the bytes moved."""

import numpy as np

from gpuviz.base.arrays import I64
from gpuviz.memory.request import Request
from gpuviz.memory.units import in_bytes, one
from gpuviz.traces.trace import LANES
from gpuviz.words.language import english, tr, trn

# What one lane asks for, by its type in PTX and its bytes; where the type is another, a word.
_FLOATS = {("f32", 4): "float", ("f32", 8): "float2", ("f32", 16): "float4"}
_FLOATS |= {("f64", 8): "double", ("f64", 16): "double2"}


def title(request: Request) -> str:
    """What the warp does, as a sentence without its full stop."""
    if int(request.active.sum()) == 1:
        if request.is_store:
            return tr("One lane of the warp writes 1 {element}", element=_element(request))
        return tr("One lane of the warp reads 1 {element}", element=_element(request))
    if request.is_store:
        return tr("One warp writes {what}", what=shape(request))
    return tr("One warp reads {what}", what=shape(request))


def shape(request: Request) -> str:
    """How a warp's addresses lie, as the end of a sentence: `every second float`."""
    steps, lanes = np.unique(request.steps), int(request.active.sum())
    things = _elements(request, lanes)
    if len(steps) > 1:
        return _uneven(request, things)
    step = int(steps[0]) if len(steps) else 1
    if step == 0:
        return tr("the same {element} in every lane", element=_element(request))
    if abs(step) > 1:
        return tr("every {nth} {element}", nth=ordinal(abs(step)), element=_element(request))
    if step < 0:
        return tr("{things} in a row, last one first", things=things)
    if request.count > request.ideal:
        return tr("{things} in a row, from inside a {noun}", things=things, noun=one(request.noun))
    return tr("{things} in a row", things=things)


def _uneven(request: Request, things: str) -> str:
    """Addresses whose steps differ: lanes left out, a gap, lanes that changed places, or chaos."""
    index = request.address[request.active] // request.instruction.width
    lane = np.flatnonzero(request.active)
    if len(lane) < LANES and len(np.unique(index - lane)) == 1:
        return tr("{things} of a row, {n} lanes take no part", things=things, n=LANES - len(lane))
    moved = np.flatnonzero(index != np.sort(index))
    if len(moved) == 2 and _in_a_row(np.sort(index)):
        a, b = lane[moved].tolist()
        return tr("{things} in a row, lanes {a} and {b} swapped", things=things, a=a, b=b)
    if np.count_nonzero(request.steps != 1) == 1 and request.steps.max() > 1:
        return tr("{things} in a row with a gap", things=things)
    if _in_a_row(np.sort(index)):
        return tr("{things} in a row, out of order", things=things)
    lines = len(np.unique(request.line))
    if lines == 1:
        return tr("{things} scattered over a line", things=things)
    return tr("{things} scattered over {n} lines", things=things, n=lines)


def _in_a_row(index: I64) -> bool:
    """Whether sorted elements follow each other without a gap."""
    return bool((np.diff(index) == 1).all())


def verdict(request: Request) -> str:
    """What becomes of the bytes that are moved."""
    text = _verdict(request)
    why = _halves(request)
    return f"{text} {why}" if why else text


def _verdict(request: Request) -> str:
    moved, used, count = request.moved, request.used, request.counted(request.count)
    if used == moved:
        if request.is_update:
            return tr("Every byte of its {count} is updated.", count=count)
        if request.is_store:
            return tr("Every byte of its {count} is written.", count=count)
        return tr("Every byte of its {count} is needed.", count=count)
    if request.count - request.ideal == 1 and used == request.ideal * int(request.strip.size[0]):
        if (np.abs(request.steps) == 1).all():
            return tr(
                "It touches {count} where {ideal} would do: the ends are only partly used.",
                count=count,
                ideal=request.ideal,
            )
        if request.active.all():
            return tr(
                "It touches {count} where {ideal} would do.", count=count, ideal=request.ideal
            )
    if used * 2 == moved and len(np.unique(request.strip.used)) == 1:
        noun = one(request.noun)
        if request.is_update:
            return tr("It updates half of each {noun} it touches.", noun=noun)
        if request.is_store:
            return tr("It writes half of each {noun} it touches.", noun=noun)
        return tr("It uses half of each {noun} it fetches.", noun=noun)
    share = (
        tr("one in {n}", n=moved // used) if moved % used == 0 else f"{100 * used / moved:.0f} %"
    )
    if request.is_store or request.is_update:
        what = {"moved": in_bytes(moved), "used": used, "share": share}
        return tr("It touches {moved} and uses {used} of them: {share}.", **what)
    what = {"moved": in_bytes(moved), "used": used, "share": share}
    return tr("It fetches {moved} and uses {used} of them: {share}.", **what)


def _halves(request: Request) -> str:
    """On 1.0 and 1.1: which half warps pay a transaction for each lane, and why."""
    if not request.ordered:
        return ""
    bad = [half for half in (0, 1) if not _is_ordered(request, half)]
    if not bad:
        return ""
    if request.instruction.width < 4:
        return (
            tr("Words of {n} bytes never coalesce here.", n=request.instruction.width)
            if (request.instruction.width > 1)
            else tr("Single bytes never coalesce here.")
        )
    if len(bad) == 2:
        return tr("Neither half warp is in order on an aligned segment: one segment a lane.")
    if bad[0] == 0:
        return tr("The first half warp is not in order: one segment a lane.")
    return tr("The second half warp is not in order: one segment a lane.")


def _is_ordered(request: Request, half: int) -> bool:
    """Whether a half warp is served by segments that more than one lane shares, or has one lane."""
    lanes = slice(half * 16, half * 16 + 16)
    boxes = request.strip.lane_box[lanes][request.active[lanes]]
    return not len(boxes) or int(request.strip.size[boxes].min()) > 32


def _kind(request: Request) -> str:
    """What one lane asks for, in C, or as a word of so many bits."""
    if request.name == "index":
        return "index"
    kind, width = request.instruction.kind, request.instruction.width
    return _FLOATS.get((kind, width)) or ("byte" if width == 1 else f"{8 * width}-bit word")


def _element(request: Request) -> str:
    """One element: `float`."""
    name = _kind(request)
    known = {"index": tr("index"), "byte": tr("byte")}
    if name.endswith("word"):
        return tr("{bits}-bit word", bits=8 * request.instruction.width)
    return known.get(name, name)


def _elements(request: Request, count: int) -> str:
    """So many elements: `32 floats`."""
    name, bits = _kind(request), 8 * request.instruction.width
    known = {
        "index": trn("{n} index", "{n} indices", count),
        "byte": trn("{n} byte", "{n} bytes", count),
    }
    if name.endswith("word"):
        return trn("{n} {bits}-bit word", "{n} {bits}-bit words", count, bits=bits)
    return known.get(name) or english(f"{{n}} {name}", f"{{n}} {name}s", count)


def ordinal(number: int) -> str:
    """`second`, `third`, `4th`, `21st`: of what every so-manieth is taken."""
    if number in (2, 3):
        return (tr("second"), tr("third"))[number - 2]
    if number % 100 not in (11, 12, 13):
        if number % 10 == 1:
            return tr("{n}st", n=number)
        if number % 10 == 2:
            return tr("{n}nd", n=number)
        if number % 10 == 3:
            return tr("{n}rd", n=number)
    return tr("{n}th", n=number)
