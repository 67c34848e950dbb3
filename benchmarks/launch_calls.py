"""What CUDA's runtime returns for launches within and beyond limits, and for copies of symbols.

    python benchmarks/launch_calls.py -o resources/recordings/launch_calls.json

Needs a GPU and nvcc. Builds launch_calls.cu, tries every launch that the lesson `launch-limits` can
ask for, and keeps what each call returned. With CUPTI the copies have the names a profiler's log
gives them.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from gpuviz.course.organisation.launch_attempt import attempted
from gpuviz.course.organisation.launch_limits.lesson import LESSON
from gpuviz.recordings.launch_calls import CopyCall, LaunchCall, LaunchCalls, write
from gpuviz.story.lesson import Plan

HERE = Path(__file__).parent
KINDS = {  # CUpti_ActivityMemcpyKind
    1: "host to device",
    2: "device to host",
    8: "device to device",
    9: "host to host",
}
SHARED = (0, 48, 49, 64, 100, 163, 227, 228, 240)  # KiB of dynamic shared memory


def launches() -> list[Plan]:
    """Every launch of the presets and of all choices, each once."""
    choices = {p.id: [c.value for c in p.choices] for p in LESSON.parameters if p.choices}
    names = "elements", "threads", "along"
    every = [
        {**LESSON.defaults(), **dict(zip(names, one, strict=True)), "shared": 0}
        for one in product(*(choices[name] for name in names))
    ]
    every += [{**LESSON.defaults(), "elements": 4096, "along": "y", "shared": n} for n in SHARED]
    every += [{**LESSON.defaults(), **preset.values} for preset in LESSON.presets]
    plans = {(p.grid, p.block, p.dynamic_shared): p for p in map(attempted, every)}
    return list(plans.values())


def told(plan: Plan) -> str:
    elements = plan.arguments[-1].partition("=")[2]
    return " ".join(map(str, (*plan.grid, *plan.block, plan.dynamic_shared, elements)))


def cupti() -> list[str]:
    """Flags to build with CUPTI, none where it is not found."""
    toolkits = sorted(Path("/usr/local").glob("cuda*"))
    roots = [root for one in toolkits for root in (one / "extras" / "CUPTI", one)]
    site = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    roots += [*site.glob("cu*"), site / "cuda_cupti"]
    for root in roots:
        libraries = [
            f
            for folder in ("lib64", "lib", "targets/x86_64-linux/lib")
            for f in (root / folder).glob("libcupti.so*")
        ]
        if (root / "include" / "cupti.h").is_file() and libraries:
            linked = ["-Xlinker", str(libraries[0]), "-Xlinker", f"-rpath,{libraries[0].parent}"]
            return ["-DWITH_CUPTI", f"-I{root / 'include'}", *linked]
    return []


def built(folder: Path) -> Path:
    """The program; without CUPTI where it does not build with it."""
    program = folder / "launch_calls"
    command = ["nvcc", "-O2", "-std=c++17", "-arch=native", str(HERE / "launch_calls.cu")]
    for flags in (cupti(), []):
        made = subprocess.run(
            [*command, *flags, "-o", str(program)], capture_output=True, text=True
        )
        if made.returncode == 0:
            print("built with", flags or "no CUPTI", file=sys.stderr)
            return program
        print(made.stderr, file=sys.stderr)
    raise SystemExit("launch_calls.cu does not build")


def read(lines: list[str]) -> LaunchCalls:
    """The calls that the program told."""
    found: dict[str, list[Any]] = {}
    for line in lines:
        for what, one in json.loads(line).items():
            found.setdefault(what, []).append(one)
            if what == "sent":
                print("to a symbol:", one, file=sys.stderr)
    device = found["device"][0]
    cuda = "{}.{}".format(device["runtime"] // 1000, device["runtime"] % 1000 // 10)
    return LaunchCalls(
        device["name"],
        device["capability"],
        cuda,
        datetime.now(UTC).date().isoformat(),
        tuple(map(launch_of, found["launch"])),
        tuple(map(copy_of, found["copy"])),
    )


def launch_of(one: dict[str, Any]) -> LaunchCall:
    results = {*one["attribute"], one["set"], one["fma4"]} - {"cudaSuccess"}
    assert len(results) <= 1, one
    return LaunchCall(
        tuple(one["grid"]),
        tuple(one["block"]),
        one["dynamic_shared"],
        one["elements"],
        one["fma4"],
        one["synchronize"],
        one["first"] > 0 and one["last"] > 0,
    )


def copy_of(one: dict[str, Any]) -> CopyCall:
    (result,) = set(one["results"])
    return CopyCall(
        one["way"],
        one["ran"],
        result,
        tuple(one["values"]),
        one["wrong"],
        one["elements"],
        tuple(KINDS.get(kind, str(kind)) for kind in dict.fromkeys(one["kinds"])),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", type=Path, required=True)
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as folder:
        program = built(Path(folder))
        asked = "\n".join(map(told, launches()))
        ran = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    print(ran.stdout, file=sys.stderr)
    write(output, read(ran.stdout.splitlines()))


if __name__ == "__main__":
    main()
