"""How inputs end, and what counts as well."""

from __future__ import annotations

import re
from dataclasses import dataclass

SECONDS = 30.0  # of processor time: making machine code of some takes half of that on slow machines
MEBIBYTES = 1024  # more than there was before
LONGEST = 16_000  # letters of a message
GOOD = ("value", "no", "message", "lacking", "fault")
_STATUS = {0: "value", 1: "no", 2: "message", 3: "lacking"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OWN_MISTAKE = "a mistake of gpuviz, not yours"
_WARNING = re.compile(r"^.*gpuviz/\S+\.py:\d+: \w*Warning: .*", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How an input ended that came in by a door.

    `end` is one of GOOD, or else a mistake of gpuviz: "traceback", "hang", "memory", "died",
    "escape" (terminal controls), "chatter" (warnings, or a message without end), "elsewhere" (a
    file where none belongs). `seconds` are of processor time.
    """

    kind: str
    seed: str
    door: str
    end: str
    said: str = ""
    seconds: float = 0.0
    mebibytes: float = 0.0

    @property
    def good(self) -> bool:
        """Whether gpuviz withstood it."""
        return self.end in GOOD


def told(status: int, out: str, err: str) -> tuple[str, str]:
    """The end of a command by its exit status and its words, and what to show of them."""
    if _OWN_MISTAKE in err or "Traceback (most recent call last)" in err:
        return "traceback", err
    if status not in _STATUS:
        return "died", f"exit status {status}: {err}"
    return _speech(_STATUS[status], out, err)


def _speech(end: str, out: str, err: str) -> tuple[str, str]:
    """The end, unless what was said is unfit for a terminal."""
    if found := _CONTROL.search(out) or _CONTROL.search(err):
        near = found.string[max(found.start() - 60, 0) : found.end() + 60]
        return "escape", repr(near)
    if found := _WARNING.search(err):
        return "chatter", found[0]
    if len(err) > LONGEST:
        return "chatter", f"{len(err)} letters: {err[:300]}"
    if end == "message" and not err.strip():
        return "chatter", "exit status 2 without a word"
    return end, err
