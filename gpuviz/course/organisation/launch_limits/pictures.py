"""A program and its GPU side by side: calls at the left, gates and memory at the right."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpuviz.base.arrays import Bool
from gpuviz.course.organisation.gates import Gates
from gpuviz.course.organisation.launch_attempt import FMA, PUBLISHED, SET, Attempt, number_of
from gpuviz.course.organisation.launch_limits.panels import (
    Box,
    Call,
    Calls,
    LaneStrip,
    Variables,
    Verdict,
)
from gpuviz.draw.ease import smooth
from gpuviz.panels.figures import TextLine
from gpuviz.panels.layout import Node, Part, rows, spare
from gpuviz.panels.panel import Answer, Ink
from gpuviz.panels.picture import Movement
from gpuviz.story.script import Act
from gpuviz.words.language import grouped, tr, trn

_DEVICE, _HOST = tuple("abcd"), ("ha", "hb", "hc", "hd")
_ZEROS = (0.0, 0.0, 0.0, 0.0)
_GAP, _MOST = 0.4, 30.0  # letters between the parts of a box; that it is high at most
COPIES: Mapping[str, tuple[str, ...]] = {
    "symbol": ("cudaMemcpyFromSymbol(hd, d, bytes);", "cudaMemcpyFromSymbol(…);"),
    "default": (
        "cudaMemcpy(hd, d, bytes, cudaMemcpyDefault);",
        "cudaMemcpy(…, cudaMemcpyDefault);",
        "cudaMemcpy(…, Default);",
    ),
    "directed": (
        "cudaMemcpy(hd, d, bytes, cudaMemcpyDeviceToHost);",
        "cudaMemcpy(…, cudaMemcpyDeviceToHost);",
        "cudaMemcpy(…, DeviceToHost);",
    ),
}


@dataclass(frozen=True)
class Acts:
    """Asked for, held against the limits, sent; copied, checked, asked what each call returned."""

    asked: Act
    gates: Act
    sent: Act
    copied: Act
    checked: Act
    heard: Act
    result: Act


def host(attempt: Attempt, acts: Acts, t: float) -> Box:
    """The program's calls, what lies in the host's memory, and its check."""
    made = 2 if t < acts.copied.start else 3
    now = 1 if t < acts.sent.end else 2 if t < acts.checked.start else -1
    come = acts.copied.share(t)
    first_elements = _ZEROS if come < 1 else attempt.host
    shadows = Variables(
        (tr("the symbols' shadows in the host's memory"), tr("the symbols' shadows")),
        _DEVICE,
        ("0",) * 4,
        tuple(tr("the host's shadow of the __device__ array {n}", n=n) for n in _DEVICE),
        "barrier",
        spot="shadow",
    )
    arrays = Variables(
        (tr("the host's arrays, first elements"), tr("the host's arrays")),
        _HOST,
        tuple(map(number_of, first_elements)) if first_elements else ("?",) * 4,
        tuple(
            tr("{name}: {n} floats in the host's memory", name=n, n=grouped(attempt.elements))
            for n in _HOST
        ),
        "load" if attempt.way == "symbol" else "barrier",
        filled=come if attempt.host else 0.0,
        spot="host",
        below=True,
    )
    listing = Calls(_calls(attempt, acts.heard.counted(t, 4)), made, now)
    body = rows(listing, shadows, arrays, _check(attempt, acts, t), gap=_GAP)
    return Box(tr("host"), body, _MOST)


def _calls(attempt: Attempt, heard: float) -> tuple[Call, ...]:
    """The three kinds of calls, and what each returned once it has been asked."""
    grid, shared = shape(attempt.asked.grid), attempt.asked.dynamic_shared
    blocks = str(grid[0]) if len(grid) == 1 else f"dim3({', '.join(map(str, grid))})"
    given = f"{blocks}, {attempt.asked.block[0]}{f', {shared}' if shared else ''}"
    code = (
        *(
            (f"{entry}<<<{given}>>>({names}, n);", f"{entry}<<<{given}>>>(…);", f"{entry}<<<…>>>")
            for entry, names in ((SET, "a, b, c"), (FMA, "a, b, c, d"))
        ),
        COPIES[attempt.way],
    )
    launched = returned(attempt.launch_result, bool(attempt.why))
    copied = returned(attempt.copy_result, None if attempt.way == "directed" else False)
    return tuple(
        Call(forms, *(said if heard > i + 0.5 else ("", "muted")))
        for i, (forms, said) in enumerate(zip(code, (launched, launched, copied), strict=True))
    )


def returned(result: str | None, fails: bool | None) -> tuple[str, Ink]:
    """What a call returned as recorded, or else whether it `fails` (None: nobody says)."""
    if result is not None:
        return result, "good" if result == "cudaSuccess" else "bad"
    if fails is None:
        return tr("undefined"), "warn"
    return (tr("an error"), "bad") if fails else (tr("no error"), "good")


def _check(attempt: Attempt, acts: Acts, t: float) -> Verdict:
    """What the program's check says, and in the end what is to be thought of it."""
    if acts.checked.share(t) < 0.3:
        return Verdict((tr("check: hd = ha × hb + hc?"),), None, "muted")
    if attempt.host is None:
        return Verdict((tr("nobody says what was copied"),), None, "warn")
    a, b, c, d = map(number_of, attempt.host)
    all_, doubted = grouped(attempt.elements), acts.heard.share(t) > 0.8 and not attempt.proven
    if not attempt.passes:
        said = tr("{d} = {a} × {b} + {c}? no", a=a, b=b, c=c, d=d)
        longer = tr("{said}: 0 of {n} elements pass", said=said, n=all_)
        return Verdict((longer, said), False, "bad")
    said = f"{d} = {a} × {b} + {c}"
    if doubted:
        why = (
            tr("{said}, but it never left the host", said=said)
            if attempt.ran
            else tr("{said}, but no kernel has written it", said=said)
        )
        return Verdict((why, tr("proves nothing")), False, "bad")
    if attempt.proven:
        texts = tr("{said}: {n} of {n} elements pass", said=said, n=all_), said
        return Verdict(texts, True, "good")
    texts = tr("{said}: all {n} elements pass, prints “ok”", said=said, n=all_), said
    return Verdict(texts, True, "good")


def gpu(attempt: Attempt, acts: Acts, t: float, guards: Bool | None) -> Box:
    """The limits as gates, the arrays on the device, and the last warp where it has idle lanes."""
    names = ((str(attempt.arch), f"CC {attempt.arch.version}"), *((card,) for card in PUBLISHED))
    compared = acts.gates.counted(t, len(attempt.gates))
    ran = acts.sent.share(t) if attempt.ran else 0.0
    before = (*_ZEROS[:3], attempt.filled)
    memory = Variables(
        (
            tr("__device__ arrays in the GPU's memory, first elements"),
            tr("__device__ arrays, first elements"),
        ),
        _DEVICE,
        tuple(map(number_of, attempt.device if ran >= 0.7 else before)),
        tuple(
            tr("{name}: {n} floats in the GPU's memory", name=n, n=grouped(attempt.elements))
            for n in _DEVICE
        ),
        "store",
        filled=ran,
        spot="device",
    )
    parts: list[Node | Part] = [
        Gates(names, attempt.gates, acts.asked.share(t), compared),
        spare(memory),
    ]
    if guards is not None:
        said = trn(
            "last warp of fma4 that stores: {n} lane has no element",
            "last warp of fma4 that stores: {n} lanes have no element",
            int((~guards).sum()),
        )
        parts.append(spare(rows(Answer(TextLine((said,))), LaneStrip(guards)), 2))
    body = rows(*parts, gap=_GAP)
    return Box(tr("GPU: {arch}", arch=attempt.arch), body, _MOST)


def moving(attempt: Attempt, acts: Acts, t: float) -> tuple[Movement, ...]:
    """The launch on its way to the gates, and back or on; then the copies on theirs."""
    call, one, every = np.array([1]), np.array([0]), np.arange(4)
    if t < acts.sent.start:
        go = float(smooth(acts.asked.share(t)))
        return (Movement("call", call, "launch", one, go, "accent"),)
    if t < acts.sent.end and attempt.why:
        go = float(smooth(min(acts.sent.share(t) * 1.3, 1.0)))
        return (Movement("launch", one, "call", call, go, "bad"),)
    if t < acts.sent.end:
        go = float(smooth(acts.sent.share(t)))
        return (Movement("launch", one, "device", np.array([3]), go, "accent"),)
    go = float(smooth(acts.copied.share(t)))
    if not 0 < go < 1 or not attempt.copies:
        return ()
    if attempt.way == "symbol":
        return (Movement("device", every, "host", every, go, "load"),)
    return (Movement("shadow", every, "host", every, go, "barrier"),)


def shape(size: tuple[int, int, int]) -> tuple[int, ...]:
    """Sizes without the axes at the end that have one place."""
    return size[: max((i + 1 for i, n in enumerate(size) if n > 1), default=1)]
