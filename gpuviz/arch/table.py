"""The facts of every compute capability, as resources/architectures.toml has them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpuviz.arch.facts import Architecture, Family
from gpuviz.base import records, resources
from gpuviz.base.errors import InputError

Version = tuple[int, int]
_TABLES = resources.table("architectures.toml")
SOURCES: Mapping[str, str] = _TABLES["sources"]


def _version(text: str) -> Version:
    major, minor = map(int, text.split("."))
    return major, minor


def _families(rows: Sequence[Mapping[str, Any]]) -> dict[Version, Family]:
    """Each by the first compute capability that it holds for, with all of its fields."""
    plain: dict[str, dict[str, Any]] = {}
    for row in rows:
        plain[row["from"]] = {**plain.get(row.get("like", ""), {}), **row}
    return {_version(cc): records.record(one, Family, f"family {cc}") for cc, one in plain.items()}


_FAMILIES = _families(_TABLES["families"])


def _member(row: str) -> Architecture:
    """One row of the table of members with what its family shares."""
    version, name, threads, blocks, regs, block, shared, optin, *cited = row.replace(
        "|", " "
    ).split()
    cc = _version(version)
    family = _FAMILIES[max(first for first in _FAMILIES if first <= cc)]
    return Architecture(
        cc=cc,
        name=name,
        max_threads=int(threads),
        max_blocks=int(blocks),
        registers=int(regs) * 1024,
        registers_per_block=int(block) * 1024,
        shared=int(shared) * 1024,
        shared_per_block_optin=int(optin) * 1024,
        sources=tuple(cited),
        notes=_TABLES["disputes"].get(version, ""),
        **vars(family),
    )


ARCHITECTURES = tuple(_member(row) for row in _TABLES["members"]["table"].strip().splitlines()[1:])
_BY_CC = {a.cc: a for a in ARCHITECTURES}
_NAME = re.compile(r"(?:sm_|compute_)?(\d{1,2}?)\.?(\d)[af]?")


def architecture(name: str) -> Architecture:
    """The facts for "9.0", "90", "sm_90", "sm_90a" or "compute_90".

    Raises
    ------
    InputError : when the name is not one of these, or the capability is not in the table
    """
    match = _NAME.fullmatch(name.strip().lower())
    found = _BY_CC.get((int(match[1]), int(match[2]))) if match else None
    if found is None:
        known = ", ".join(a.version for a in ARCHITECTURES)
        raise InputError(f"architecture {name!r} is not known; choose one of {known}")
    return found
