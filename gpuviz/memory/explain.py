"""The counts of one instruction in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from gpuviz.arch import Architecture
from gpuviz.memory.counting import CountRow


def explain(row: CountRow, arch: Architecture | None = None) -> str:
    """One sentence on the average request of an instruction; "" if it made none.

    >>> explain(row)  # doctest: +SKIP
    '32 lanes touch 8 sectors, 4 would do; the bytes asked for are 50 % of those fetched'

    Without `arch` the transactions are called sectors, as from compute capability 5.0 on.
    """
    space, op = row.instruction.space, row.instruction.op
    prefix = f"{space}_{'atomic' if space == 'shared' and op == 'reduction' else op}_"
    mean = _per_request(row.counts, prefix)
    if not mean:
        return ""
    if space == "constant":
        return f"{_amount(mean['wavefronts'], 'different address', 'es')} a request"
    if space == "shared":
        return _shared(mean)
    return _moved(mean, row.instruction.width, op, arch)


def _per_request(counts: Mapping[str, int], prefix: str) -> dict[str, float]:
    """Each quantity divided by the number of requests."""
    requests = counts.get(prefix + "requests", 0)
    own = {k.removeprefix(prefix): v for k, v in counts.items() if k.startswith(prefix)}
    return {k: v / requests for k, v in own.items()} if requests else {}


def _shared(mean: Mapping[str, float]) -> str:
    """Wavefronts of a shared-memory request."""
    taken = _amount(mean["wavefronts"], "wavefront")
    extra = mean["wavefronts"] - mean["wavefronts_ideal"]
    if not extra:
        return f"{taken} a request, no bank conflict"
    ideal = _number(mean["wavefronts_ideal"])
    return f"{taken} a request, {ideal} would do without bank conflicts"


def _moved(mean: Mapping[str, float], width: int, op: str, arch: Architecture | None) -> str:
    """Transactions of a global or local request."""
    unit = "transaction" if arch is not None and not arch.has_sectors else "sector"
    lanes = _amount(mean["bytes"] / width, "lane")
    verb = "touches" if lanes == "1 lane" else "touch"
    text = f"{lanes} {verb} {_amount(mean['sectors'], unit)}"
    if mean["sectors"] > mean["sectors_ideal"]:
        text += f", {_number(mean['sectors_ideal'])} would do"
    return text + (_used(mean, op) if unit == "sector" else "")


def _used(mean: Mapping[str, float], op: str) -> str:
    """Bytes asked for beside bytes moved; more than 100 % when lanes ask for the same bytes."""
    share = 100 * mean["bytes"] / (mean["sectors"] * 32)
    moved = "fetched" if op in ("load", "copy") else "in those sectors"
    shared = " (lanes share them)" if share > 100 else ""
    return f"; the bytes asked for are {_number(share)} % of those {moved}{shared}"


def _amount(value: float, noun: str, plural: str = "s") -> str:
    """3 sectors; 1 sector; 4.5 sectors."""
    return f"{_number(value)} {noun}{'' if value == 1 else plural}"


def _number(value: float) -> str:
    """At most two decimals, none when whole."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
