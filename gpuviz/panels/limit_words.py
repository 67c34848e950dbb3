"""What limits a launch, in words: its resources, the sentence, and what would be if."""

from collections.abc import Mapping, Sequence

from gpuviz.panels.state_inks import NAMES
from gpuviz.timing.device import Device
from gpuviz.timing.explanation import Advice, Explanation, WhatIf
from gpuviz.timing.warp_states import FAR
from gpuviz.words.language import (
    brief,
    duration,
    grouped,
    percent,
    texts,
    three,
    time_unit,
    tr,
    trn,
)

RESOURCES: Mapping[str, str] = texts("rows")["resources"]
"""What can limit a launch."""
_WITHOUT: Mapping[str, str] = texts("rows")["without"]


def limit_sentence(e: Explanation, source: Sequence[str] = ()) -> str:
    """The largest bound, and its cause on a line of the source."""
    found, largest = e.limits, e.limits.bounds[0]
    known = {
        "what": tr(RESOURCES[found.limiter]),
        "share": percent(max(largest.cycles / max(found.cycles, 1.0), 0.01)),
        "n": grouped(e.prediction.cycles),
    }
    if e.reason is None:
        said = tr("Limited by {what}: at work in {share} of {n} cycles", **known)
    else:
        said = tr(
            "Limited by {what}: nothing is at work in more than {share} of {n} cycles; warps wait "
            "most for {reason}",
            **known,
            reason=tr("global memory") if e.reason in FAR else tr(NAMES[e.reason]),
        )
    blocks, places = e.prediction.circumstances.blocks, e.prediction.device.multiprocessors
    if idle := few_blocks(blocks, places):
        said = f"{idle}. {said}"
    line = e.line
    if not line:
        return said
    code = source[line - 1].strip() if line <= len(source) else ""
    where = tr("most of it for line {n}", n=line) + (f": {brief(code)}" if code else "")
    return f"{said}, {where}"


def few_blocks(blocks: int, places: int) -> str:
    """That a launch is too small for a device, "" where it is not."""
    if blocks >= places:
        return ""
    return trn(
        "Only {n} block for {places} multiprocessors",
        "Only {n} blocks for {places} multiprocessors",
        blocks,
        places=places,
    )


def what_if_words(e: Explanation, one: WhatIf) -> str:
    """What a launch would take, and what would limit it then."""
    known = {
        "without": tr(_WITHOUT[one.resource]),
        "a": grouped(e.prediction.cycles),
        "b": grouped(one.cycles),
        "limiter": tr(RESOURCES[one.limiter]) if one.limiter else "",
    }
    if not one.limiter:
        return tr("{without}, {a} becomes {b} cycles; then nothing works most of the time", **known)
    if one.limiter == e.limits.limiter:
        return tr("{without}, {a} becomes {b} cycles; then still limited by {limiter}", **known)
    return tr("{without}, {a} becomes {b} cycles; then limited by {limiter}", **known)


def advice_words(e: Explanation, one: Advice) -> str:
    """What to change, where, and what that gives as modelled."""
    where = tr("line {n}", n=one.line) if one.line else ""
    place = ", ".join(filter(None, (where, one.expression)))
    said = f"{place}: {one.said}" if place else one.said
    if one.cycles is None:
        return said
    if one.cycles > 0.99 * e.prediction.cycles:
        return f"{said} " + tr("As modelled, that alone gains nothing here.")
    gain = tr(
        "Without that, {a} becomes {b} cycles.",
        a=grouped(e.prediction.cycles),
        b=grouped(one.cycles),
    )
    return f"{said} {gain}"


def model_note(device: Device) -> str:
    """Where a modelled time comes from, and how well it meets what was measured."""
    median, nine = device.error
    what = {"device": device.name, "median": median, "nine": nine, "most": device.tensor_error}
    return tr(
        "modelled for an {device}; on launches measured there it errs by {median} % in the median, "
        "by less than {nine} % in nine of ten, with tensor cores by up to {most} %",
        **what,
    )


def size_note(e: Explanation) -> str:
    """How much of the launch was looked at; "" when all of a multiprocessor."""
    made = e.timeline
    said = [tr("a GPU ends this launch by a fault: {fault}", fault=e.fault)] if e.fault else []
    if made.scale != 1.0:
        said.append(
            tr(
                "{n} blocks of a multiprocessor were simulated; it runs {times} times as many",
                n=grouped(len(made.blocks)),
                times=f"{made.scale:.3g}",
            )
        )
    if made.since > 0 or made.recorded < made.cycles:
        said.append(
            tr(
                "instructions are shown from cycle {a} to {b} of {n}",
                a=grouped(made.since),
                b=grouped(made.recorded),
                n=grouped(made.cycles),
            )
        )
    return " · ".join(said)


def time_words(e: Explanation) -> str:
    """The time predicted, with its interval, and what of it is the launch itself."""
    time = tr("{time}, {low} to {high}", **interval_values(e))
    launch = duration(e.prediction.device.launch_us)
    return tr("{time}; {launch} of it for the launch itself", time=time, launch=launch)


def interval_values(e: Explanation) -> dict[str, str]:
    """A time predicted, and from where to where it may lie, in the unit of the time."""
    time = e.prediction.microseconds
    scale, _ = time_unit(time)
    low, high = (three(us / scale) for us in e.interval)
    return {"time": duration(time), "low": low, "high": high}
