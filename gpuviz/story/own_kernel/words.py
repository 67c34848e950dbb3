"""What events are called on the time line, in a few words."""

from __future__ import annotations

from gpuviz.memory.bank_request import BankRequest
from gpuviz.memory.transaction_names import counted
from gpuviz.story.own_kernel.events import ALL, Events
from gpuviz.words.language import tr


def label(events: Events, number: int) -> str:
    """What an event is: `load`."""
    did = events.did(number)
    if did is None:
        return tr("barrier")
    if did.op in ("atomic", "reduction"):
        return tr("atomic")
    if did.space == "shared":
        return tr("shared store") if did.op in ("store", "copy") else tr("shared load")
    return tr("store") if did.op == "store" else tr("load")


def detail(events: Events, number: int) -> str:
    """What it is in the PTX, and what becomes of it: `ld.global.f32 · 8 sectors`."""
    did = events.did(number)
    if did is None:
        return tr("the block waits for all its warps")
    made = events.request(number)
    parts = [did.text]
    if isinstance(made, BankRequest):
        parts.append(counted("wavefront", made.count))
    elif made is not None:
        parts.append(made.counted(made.count))
    if events.warp == ALL:
        parts.append(tr("warp {warp}", warp=events.warp_of(number)))
    return " · ".join(parts)
