"""Measure the launches or patterns of a file on this GPU, and write them with their readings.

    python benchmarks/gpu_readings.py PLAN.json OUT.json [--only PREFIX]

PLAN.json is a file that `gpuviz verify` reads, with or without measured values. With --only, the
readings of keys with that prefix replace those in the file, and the others stay.
"""

import argparse
import datetime
import json
from pathlib import Path
from typing import Any

from gpuviz.runners import live, verification
from gpuviz.runners.counters import FORMS, LIVE_FORMS
from gpuviz.runners.faults import CountersUnavailable
from gpuviz.runners.gpu.client import Gpu, launch_of
from gpuviz.runners.measurement import Reading

KEPT = ("name", "source", "entry", "grid", "block", "args", "defines", "dynamic_shared")


def head(gpu: Gpu) -> dict[str, Any]:
    facts = gpu.facts()
    return {
        "device": facts.name, "compute_capability": facts.capability, "driver": facts.driver,
        "collected": datetime.date.today().isoformat(),
        "tool": "CUPTI range profiler, kernel replay, one launch each",
        "metrics": {key: forms[0] + ".sum" for key, forms in FORMS.items()},
    }  # fmt: skip


def values(readings: dict[str, Reading]) -> dict[str, float]:
    found = {key: r.value for key, r in readings.items() if r.value is not None}
    return {key: int(v) if v.is_integer() else v for key, v in found.items()}


def launches(gpu: Gpu, plan: Path, prefix: str) -> list[dict[str, Any]]:
    measured = verification.load(plan)
    rows = []
    for launch in measured.launches:
        readings = gpu.count(launch_of(verification.job_of(measured, launch)), live=bool(prefix))
        new = {k: v for k, v in values(readings).items() if k.startswith(prefix)}
        old = launch.get("measured", {}) if prefix else {}
        rows.append({**launch, "measured": {**old, **new}})
    return rows


def patterns(gpu: Gpu, plan: Path) -> list[dict[str, Any]]:
    return [dict(case) for case in live.remeasured(verification.load(plan), gpu).cases]


def write(out: Path, top: dict[str, Any], key: str, rows: list[dict[str, Any]]) -> None:
    """One row a line, so that differences are readable."""
    body = ",\n".join("  " + json.dumps(row) for row in rows)
    out.write_text(f"{json.dumps(top, indent=1)[:-2]},\n \"{key}\": [\n{body}\n ]\n}}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    content = json.loads(given.plan.read_text())
    if given.only and any(key.startswith(given.only) for key in FORMS.keys() - LIVE_FORMS.keys()):
        print(f"only the one-pass counters of {given.only} are read anew")
    with Gpu() as gpu:
        if gpu.facts().counters:
            raise CountersUnavailable(gpu.facts().counters)
        kind = "launches" if "launches" in content else "cases"
        rows = launches(gpu, given.plan, given.only) if kind == "launches" else patterns(
            gpu, given.plan)
        top = {k: v for k, v in content.items() if k != kind} if given.only else head(gpu)
    write(given.out, top, kind, rows)


if __name__ == "__main__":
    main()
