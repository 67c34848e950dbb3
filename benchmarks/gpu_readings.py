"""Measure the launches or patterns of a file on this GPU, and write them with their readings.

    python benchmarks/gpu_readings.py PLAN.json OUT.json

PLAN.json is a file that `gpuviz verify` reads, with or without measured values.
"""

import argparse
import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuviz.gpu import live
from gpuviz.gpu.client import Gpu, launch_of
from gpuviz.gpu.counters import FORMS
from gpuviz.gpu.faults import CountersUnavailable
from gpuviz.recordings.measurement import CounterValue
from gpuviz.run import verification


def head(gpu: Gpu) -> dict[str, Any]:
    facts = gpu.facts()
    return {
        "device": facts.name,
        "compute_capability": facts.capability,
        "driver": facts.driver,
        "collected": datetime.date.today().isoformat(),
        "tool": "CUPTI range profiler, kernel replay, one launch each",
        "metrics": {key: forms[0] + ".sum" for key, forms in FORMS.items()},
    }


def values(readings: dict[str, CounterValue]) -> dict[str, float]:
    found = {key: r.value for key, r in readings.items() if r.value is not None}
    return {key: int(v) if v.is_integer() else v for key, v in found.items()}


def launches(gpu: Gpu, plan: Path) -> list[dict[str, Any]]:
    measured = verification.load(plan)
    jobs = (replace(verification.job_of(measured, one), whose="named") for one in measured.launches)
    return [
        {**row, "measured": values(gpu.count(launch_of(job)))}
        for row, job in zip(rows_of(plan, "launches"), jobs, strict=True)
    ]


def patterns(gpu: Gpu, plan: Path) -> list[dict[str, Any]]:
    cases = live.remeasured(verification.load(plan), gpu).cases
    return [
        {**row, "wavefronts": case.wavefronts}
        for row, case in zip(rows_of(plan, "cases"), cases, strict=True)
    ]


def rows_of(plan: Path, kind: str) -> list[dict[str, Any]]:
    """The rows with all that they say, also what is not read."""
    found: list[dict[str, Any]] = json.loads(plan.read_text())[kind]
    return found


def write(out: Path, top: dict[str, Any], key: str, rows: list[dict[str, Any]]) -> None:
    """One row a line, so that differences are readable."""
    body = ",\n".join("  " + json.dumps(row) for row in rows)
    out.write_text(f'{json.dumps(top, indent=1)[:-2]},\n "{key}": [\n{body}\n ]\n}}\n')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    kind = "launches" if "launches" in json.loads(given.plan.read_text()) else "cases"
    with Gpu() as gpu:
        if gpu.facts().counters:
            raise CountersUnavailable(gpu.facts().counters)
        rows = launches(gpu, given.plan) if kind == "launches" else patterns(gpu, given.plan)
        write(given.out, head(gpu), kind, rows)


if __name__ == "__main__":
    main()
