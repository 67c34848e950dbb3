"""What a launch made of its buffers, on the command line: shown, written to files, checked."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpuviz.base.errors import InputError
from gpuviz.cli.launch import pairs
from gpuviz.files import writing as files
from gpuviz.results.buffers import BufferResult, number, results_of
from gpuviz.results.table import text as table
from gpuviz.run.run import Run
from gpuviz.words.language import english

_HEAD = 6  # elements shown of a buffer


def asks(arguments: argparse.Namespace) -> bool:
    """Whether something is asked of the buffers."""
    return bool(arguments.out or arguments.expect)


def checked(run: Run, arguments: argparse.Namespace) -> tuple[BufferResult, ...]:
    """The buffers of a run, written to the files asked for.

    Raises
    ------
    InputError : not all blocks were executed, there is no such buffer, or a file cannot be used
    """
    if asks(arguments) and not run.whole:
        raise InputError(
            "--out and --expect need all blocks executed: give --blocks all, or a smaller launch"
        )
    if not run.whole:
        return ()
    found = results_of(run, pairs(arguments.expect, "--expect"))
    by_name = {one.name: one for one in found}
    for name, file in pairs(arguments.out, "--out").items():
        if name not in by_name:
            known = ", ".join(by_name) or "none"
            raise InputError(f"--out {name}: there is no such buffer; there are: {known}")
        _write(by_name[name].after, Path(file))
    return found


def _write(values: Any, path: Path) -> None:
    if path.suffix not in (".npy", ".bin"):
        raise InputError(f"--out writes .npy and .bin files, not {path}")
    if path.suffix == ".bin":
        files.write(path, values.tobytes())
        return
    with files.whole(path) as file:
        np.save(file, values, allow_pickle=False)


def wrong(found: Sequence[BufferResult]) -> bool:
    """Whether a buffer is not what was expected, rounding aside."""
    return any(one.wrong for one in found)


def as_json(found: Sequence[BufferResult]) -> list[dict[str, Any]]:
    """The buffers as plain values, of each the first elements."""
    return [
        {
            "name": one.name,
            "dtype": str(one.after.dtype),
            "count": one.after.size,
            "changed": one.changed,
            "before": None if one.before is None else _plain(one.before[:_HEAD]),
            "after": _plain(one.after[:_HEAD]),
        }
        | ({} if one.expected is None else {"expected": _expectation(one)})
        for one in found
    ]


def _expectation(one: BufferResult) -> dict[str, Any]:
    assert one.expected is not None and one.apart is not None
    at = one.worst
    return {
        "wrong": one.wrong,
        "bound": one.bound,
        "largest_difference": 0.0 if at is None else _plain(one.apart[at]),
        "at": at,
        "is": None if at is None else _plain(one.after[at]),
        "should_be": None if at is None else _plain(one.expected[at]),
    }


def _plain(values: Any) -> Any:
    """Plain numbers; what is none as text, as JSON has no such numbers."""
    if isinstance(values, np.ndarray):
        return [_plain(value) for value in values]
    found = values.item()
    return found if np.isfinite(found) else str(found)


def as_text(found: Sequence[BufferResult]) -> str:
    """A table of the buffers, and a sentence for each that something was expected of."""
    rows = [
        (
            one.name,
            f"{one.after.size:,} {one.after.dtype}",
            "" if one.changed is None else f"{one.changed:,}",
            "" if one.before is None else _first(one.before),
            _first(one.after),
        )
        for one in found
    ]
    shown = table(("buffer", "elements", "changed", "before", "after"), rows, ">2")
    told = [_told(one) for one in found if one.expected is not None]
    return "\n".join([shown, *([""] if told else []), *told])


def _first(values: Any) -> str:
    more = " ..." if values.size > _HEAD else ""
    shown = (f"{v:.5g}" if values.dtype.kind == "f" else str(v) for v in values[:_HEAD])
    return " ".join(shown) + more


def _told(one: BufferResult) -> str:
    at = one.worst
    if at is None:
        return f"{one.name}: every element is as expected"
    assert one.apart is not None and one.expected is not None
    largest = (
        f"the largest difference is {one.apart[at]:.4g} at [{at}]: it is "
        f"{number(one.after[at])}, expected {number(one.expected[at])}"
    )
    if not one.wrong:
        return f"{one.name}: as expected within rounding; {largest}"
    many = english("{n} element is wrong", "{n} elements are wrong", one.wrong, n=f"{one.wrong:,}")
    return f"{one.name}: {many}; {largest}"
