"""Why warps wait, as counters of a GPU tell it: reasons, by what is waited for.

In each cycle a counter names one reason for every resident warp that issues nothing. A reading
(`smsp__average_warps_issue_stalled_*_per_issue_active`) is their number over the instructions
issued: cycles that a warp waits for each instruction. All of them, and one for the issue itself,
are what Nsight Compute calls "warp cycles per issued instruction".
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

REASONS: Mapping[str, tuple[str, ...]] = {
    "memory": ("long_scoreboard", "lg_throttle", "tex_throttle"),
    "shared": ("short_scoreboard", "mio_throttle"),
    "barrier": ("barrier", "membar", "sleeping"),
    "dependence": ("wait", "gmma"),
    "issue": ("not_selected", "math_pipe_throttle", "dispatch_stall"),
    "fetch": ("no_instruction", "branch_resolving", "imc_miss"),
    "drain": ("drain",),
}
"""What counters tell apart, by kind of wait: a result and room in the queue to it are one kind, as
a GPU takes more into its queues than is modelled.
"""

PREFIX = "stalled_"
METRICS: Mapping[str, str] = {
    PREFIX + reason: f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio"
    for reasons in REASONS.values()
    for reason in reasons
}
"""The metric of each reason, by the key it is read under."""

ALL = "waits_all"
KEYS: Mapping[str, tuple[str, ...]] = {
    **{f"waits_{kind}": tuple(PREFIX + r for r in rs) for kind, rs in REASONS.items()},
    ALL: tuple(METRICS),
}
"""The readings of each kind of wait, by the key of their sum."""

T = TypeVar("T")


def waits(readings: Mapping[str, float]) -> dict[str, float]:
    """Cycles for each instruction issued by `waits_*`, from readings by `stalled_*`; those with
    the issue itself as `ALL`. What none of was read is left out.
    """
    found = {}
    for key, parts in KEYS.items():
        known = [readings[part] for part in parts if part in readings]
        if known:
            found[key] = sum(known) + (key == ALL)
    return found


def first_of(key: str, said: Mapping[str, T]) -> Iterable[T]:
    """What is said of the readings of a kind."""
    return (said[part] for part in KEYS.get(key, ()) if part in said)
