"""A timeline as a trace that Perfetto and Chrome's tracing open.

The JSON of "Trace Event Format" (Google, 2016), which ui.perfetto.dev reads: metadata events (ph M)
name processes and threads, complete events (ph X) are what a thread does from `ts` for `dur`
microseconds, counters (ph C) are values over time. A thread here is a place for a warp.
"""

import json
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from gpuviz.export.export import Export
from gpuviz.panels.limit_words import limit_sentence, model_note
from gpuviz.panels.state_inks import NAMES
from gpuviz.timing.timeline import Timeline, tracks
from gpuviz.timing.warp_states import HELD, State

_COUNTED = 2000  # columns of a counter
_WARPS, _SHARED = 1, 2  # process numbers
_EXPLAINING = 0.9  # of the time it takes


def write(export: Export, file: IO[bytes]) -> None:
    """The launch that is shown at the moment: all spans, one event a line; cycles stand in the
    arguments.
    """
    subject = export.view.subject(lambda share: export.progress(_EXPLAINING * share), export.cancel)
    e = subject.explained
    about = {
        "program": "gpuviz",
        "kernel": subject.kernel,
        "modelled": model_note(e.timeline.device),
        "limits": limit_sentence(e, subject.source.splitlines()),
        "cycles": e.prediction.cycles,
        "microseconds": e.prediction.microseconds,
        "interval": e.interval,
    }
    head = json.dumps({"displayTimeUnit": "ns", "otherData": about})[:-1]
    view = export.view.provenance.text()
    file.write(f'{{"view": {view},\n{head[1:]}, "traceEvents": [\n'.encode())
    for number, event in enumerate(_events(e.timeline)):
        file.write((",\n" if number else "").encode() + json.dumps(event).encode())
    file.write(b"\n]}\n")


def _events(made: Timeline) -> Iterator[dict[str, Any]]:
    yield _named("process_name", _WARPS, 0, f"multiprocessor of an {made.device.name} (modelled)")
    yield _named("process_name", _SHARED, 0, "what its warps share (modelled)")
    for place in range(made.places):
        slot, warp = divmod(place, made.warps)
        yield _named("thread_name", _WARPS, place + 1, f"slot {slot} warp {warp}")
    yield from _spans(made)
    cycle = 1e-3 / made.device.clock_ghz  # in microseconds
    columns = max(min(_COUNTED, int(made.recorded - made.since)), 1)
    edges = np.linspace(made.since, made.recorded, columns + 1)[:-1] * cycle
    for one in tracks(made, made.since, made.recorded, columns):
        name = f"{one.resource} %"
        for at, share in zip(edges.tolist(), one.used.tolist(), strict=True):
            args = {name: round(100 * share, 1)}
            yield {"name": name, "ph": "C", "ts": round(at, 6), "pid": _SHARED, "args": args}


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _spans(made: Timeline) -> Iterator[dict[str, Any]]:
    spans, events, cycle = made.spans, made.events, 1e-3 / made.device.clock_ghz
    columns = (spans.start, spans.end, spans.place, spans.state, spans.event, spans.cause)
    for start, end, place, number, event, cause in zip(*(c.tolist() for c in columns), strict=True):
        state = State(number)
        instruction = made.code[int(events.instruction[event if cause < 0 else cause])]
        block, warp = made.block_and_warp(event)
        args: dict[str, Any] = {"cycle": start, "cycles": end - start, "block": block, "warp": warp}
        if state == State.ISSUE or state in HELD or cause >= 0:
            args |= {"instruction": instruction.text, "line": instruction.line}
        yield {
            "name": instruction.name if state == State.ISSUE else NAMES[state],
            "cat": "issue" if state == State.ISSUE else "wait",
            "ph": "X",
            "ts": round(start * cycle, 6),
            "dur": round((end - start) * cycle, 6),
            "pid": _WARPS,
            "tid": place + 1,
            "args": args,
        }
