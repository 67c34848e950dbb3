"""Which GPUs there are and what the one in use is doing, as one record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpuviz.words.language import later, tr

if TYPE_CHECKING:
    from gpuviz.gpu.consent import Code
    from gpuviz.recordings.measurement import DeviceFacts

Activity = Literal["looking", "idle", "once", "continuous"]
USES = (0.1, 0.25, 0.5, 1.0)  # shares of its time that a GPU may be kept busy
NOT_ASKED = later("no GPU has been asked")


@dataclass(frozen=True)
class State:
    """What there is and what it does; `why` there is no GPU, `trouble` with the last launch, and
    code of strangers that did not run because it is not agreed to.
    """

    devices: tuple[DeviceFacts, ...] = ()
    device: DeviceFacts | None = None
    why: str = NOT_ASKED
    activity: Activity = "idle"
    trouble: str = ""
    use: float = 0.1
    recorded: str = ""
    unagreed: tuple[Code, ...] = ()


def why_of(state: State) -> str:
    """Why there is no GPU, in the language in use."""
    return tr(state.why)
