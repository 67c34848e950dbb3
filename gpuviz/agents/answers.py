"""What is answered, as plain values: what matters first, each number with what it is of, and tables
only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gpuviz.agents.launches import CountedLaunch
from gpuviz.api.tables import Counts
from gpuviz.assertions.claim import Judgement
from gpuviz.cli.advise import trial_json
from gpuviz.cli.checking import errors
from gpuviz.compile import demangled
from gpuviz.launch.unresolved import Unresolved
from gpuviz.memory.counts import by_name
from gpuviz.memory.line_costs import AccessCost, LineCost
from gpuviz.panels.limit_words import (
    advice_words,
    limit_sentence,
    model_note,
    size_note,
    what_if_words,
)
from gpuviz.panels.state_inks import NAMES
from gpuviz.recordings.measurement import largest_difference
from gpuviz.results import comparison
from gpuviz.rewrites.proof import Advised
from gpuviz.timing.explanation import Explanation
from gpuviz.traces.trace import Finding

Answer = dict[str, Any]
_MOST = 8  # entries of a list, unless more are asked for
_LEAST = 0.05  # of a warp's time, to be told


def opened(found: Mapping[str, Any]) -> Answer:
    """The kernels of a file and the launches that its host code makes: of what `check` found."""
    kernels = [
        {
            "kernel": one["name"],
            "takes": one["takes"],
            **(
                {}
                if one["supported"]
                else {"unsupported": [f"line {p['line']}: {p['why']}" for p in one["unsupported"]]}
            ),
        }
        for one in found["kernels"]
    ]
    launches = [
        {
            "line": one["line"],
            "kernel": one["instance"] or one["kernel"],
            "grid": one["grid"] or one["texts"][0],
            "block": one["block"] or one["texts"][1],
        }
        for one in found["launches"]
    ]
    said = {
        "note": found["note"],
        "left_out": found["left_out"][:_MOST],
        "not_launched": [str(Unresolved(**one)) for one in found["unresolved"]][:_MOST],
    }
    return {"kernels": kernels, "launches": launches} | _said(said)


def launched(number: str, launch: CountedLaunch) -> Answer:
    """What was launched, how far it was counted, and what to look at first."""
    run, shape = launch.run, launch.run.trace.launch
    wrong = _costly(launch)
    found = run.trace.findings
    first = [_finding(found[0])] if found else [_cost(*one) for one in wrong[:1]]
    return {
        "launch": number,
        "kernel": demangled(shape.kernel).partition("(")[0],
        "grid": list(shape.grid),
        "block": list(shape.block),
        "arch": run.arch,
        "counts": Counts(run).brief(),
        "errors": errors(found),
        "warnings": len(found) - errors(found),
        "costly_accesses": len(wrong),
    } | _said({"first": first, **fidelity(launch)})


def fidelity(launch: CountedLaunch) -> Answer:
    """How far the numbers of a launch go; nothing where they are exact and nothing was guessed."""
    run = launch.run
    return _said(
        {
            "rests_on_guesses": dict(launch.job.guesses),
            "counted": run.coverage.note if run.coverage and run.sampled else "",
            "level": "the PTX as written, not machine code" if run.level == "ptx" else "",
            "notes": list(run.notes),
            "not_checked": "" if run.checked else "nothing was looked for: the launch is large",
            "ends": "a fault would end it on a GPU; counted past it" if launch.ended else "",
            "file_changed": "the file changed since: launch again" if launch.changed else "",
        }
    )


def findings(launch: CountedLaunch, most: int = _MOST) -> Answer:
    """What is wrong: faults first, then the accesses that cost more than they need to."""
    found, wrong = launch.run.trace.findings, _costly(launch)
    return {
        "faults": [_finding(one) for one in found[:most]],
        "costs": [_cost(*one) for one in wrong[:most]],
        "looked_for": list(launch.run.checked),
    } | _said({"more": max(len(found) - most, 0) + max(len(wrong) - most, 0), **fidelity(launch)})


def _costly(launch: CountedLaunch) -> list[tuple[LineCost, AccessCost]]:
    return [(line, access) for line in launch.costs for access in line.accesses if access.wasteful]


def _cost(line: LineCost, access: AccessCost) -> Answer:
    share = access.cycles / line.cycles * line.share if line.cycles else 0.0
    return _said(
        {
            "line": line.line,
            "code": line.text.strip(),
            "access": access.operand.text if access.operand else access.instruction.text,
            "kind": access.reason.kind,
            "cause": access.reason.said,
            access.unit: access.cost,
            "ideal": access.ideal,
            "share_of_memory_work": round(share, 3),
            "lesson": access.reason.lesson,
        }
    )


def _finding(one: Finding) -> Answer:
    return _said(
        {
            "severity": one.severity,
            "check": one.check,
            "line": one.line,
            "what": one.message,
            "times": one.count,
            "remedy": one.remedy,
        }
    )


def why(launch: CountedLaunch, e: Explanation) -> Answer:
    """Where the time goes, as modelled."""
    source = launch.run.trace.source.splitlines()
    return {
        "microseconds": round(e.prediction.microseconds, 2),
        "modelled": model_note(e.prediction.device),
        "limits": limit_sentence(e, source),
        "change": [advice_words(e, one) for one in e.advice],
        "without": [what_if_words(e, one) for one in e.what_ifs],
        "a_warp_waits": {
            NAMES[state]: round(share, 2) for state, share in e.waits.items() if share >= _LEAST
        },
    } | _said({"size": size_note(e), **fidelity(launch)})


def advised(found: Advised, most: int = 3) -> Answer:
    """Rewrites that are right and faster with their diffs, and what became of the others."""
    tried = [trial_json(found, one) for one in found.trials]
    faster = [one for one in tried if one["verdict"] == "faster"]
    return {
        "microseconds": round(found.microseconds, 2),
        "modelled": model_note(found.explained.prediction.device),
        "right_and_faster": faster[:most],
        "tried_and_left": [
            f"{one['does']}: {one['verdict']}" + (f" ({one['why']})" if one["why"] else "")
            for one in [*faster[most:], *(one for one in tried if one["verdict"] != "faster")]
        ],
    }


def compared(
    a: CountedLaunch, b: CountedLaunch, times: tuple[Explanation, Explanation] | str
) -> Answer:
    """Two launches: time first, or why none is modelled; whether they leave the same behind; what
    counts changed.
    """
    pairs = [*comparison.counts(a.run, b.run), *comparison.work(a.run, b.run)]
    changed = sorted((p for p in pairs if p.a != p.b), key=_far, reverse=True)
    return _said(
        {
            "time": times if isinstance(times, str) else _times(*times),
            "outputs": _outputs(a, b),
            "errors": {"a": errors(a.run.trace.findings), "b": errors(b.run.trace.findings)},
            "changed": dict(comparison.as_json(changed[:_MOST])),
            "a": fidelity(a),
            "b": fidelity(b),
        }
    )


def _far(pair: comparison.Pair) -> float:
    """How far two numbers are apart, whichever is larger; what one side has none of comes last."""
    low, high = sorted((pair.a or 0.0, pair.b or 0.0))
    return high / low if low else 0.0


def _times(a: Explanation, b: Explanation) -> Answer:
    ours, theirs = a.prediction.microseconds, b.prediction.microseconds
    return {
        "b_over_a": round(theirs / ours, 3),
        "a_microseconds": round(ours, 2),
        "b_microseconds": round(theirs, 2),
        "modelled": model_note(a.prediction.device),
    }


def _outputs(a: CountedLaunch, b: CountedLaunch) -> Answer | str:
    """Whether the buffers that both have are left alike, where both ran whole from the same."""
    if not (a.run.whole and b.run.whole):
        return "not compared: not all blocks were run"
    if a.job.arguments != b.job.arguments:
        return "not compared: the launches were given different arguments"
    ours, theirs = a.run.outputs, b.run.outputs
    return {name: _alike(ours[name], theirs[name]) for name in ours if name in theirs}


def _alike(a: Any, b: Any) -> str:
    if a.shape != b.shape or a.dtype != b.dtype:
        return "of another size or type"
    if a.tobytes() == b.tobytes():
        return "equal, bit by bit"
    return f"differ, by {largest_difference(a, b):.3g} at most"


def judged(found: Sequence[Judgement]) -> Answer:
    """Claims, and whether each holds."""
    return {
        "all_hold": all(one.holds for one in found),
        "claims": [{"claim": one.claim, "holds": one.holds, "told": one.text} for one in found],
    }


def table(launch: CountedLaunch, line: int = 0) -> Answer:
    """All counts of a launch, or those of one line's instructions."""
    if not line:
        return {"totals": {str(key): n for key, n in launch.run.counts.totals.items() if n}}
    rows = [row for row in launch.run.counts.rows if row.instruction.line == line]
    return {"instructions": [{"text": r.instruction.text} | by_name(r.counts) for r in rows]}


def _said(told: Mapping[str, Any]) -> Answer:
    """Without what says nothing."""
    return {key: value for key, value in told.items() if value}
