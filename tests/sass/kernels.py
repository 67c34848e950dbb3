"""Many small kernels, compiled together: one call of the compiler and one of the disassembler."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from gpuviz.arguments import parse
from gpuviz.compile import Program, compile_cuda, load_program
from gpuviz.launch.job import Job, triple

DATA = Path(__file__).parent.parent / "data"
OWN = Path(__file__).parent / "kernels"
TOO_BIG = {"big_unroll"}  # thousands of instructions once unrolled


def _launches(file: Path, folder: Path) -> dict[str, dict[str, Any]]:
    found = json.loads(file.read_text())["launches"]
    return {entry["name"]: entry | {"path": folder / entry["source"]} for entry in found}


MEASURED = _launches(DATA / "h200_sass_launches.json", DATA / "kernels")
OTHERS = _launches(OWN / "launches.json", OWN)
LAUNCHES = MEASURED | OTHERS


@cache
def together(arch: str) -> Program:
    """One program of all kernels, each in a namespace of its own."""
    includes: dict[str, None] = {}
    parts = []
    for name, entry in LAUNCHES.items():
        if name not in TOO_BIG:
            text = entry["path"].read_text()
            includes |= dict.fromkeys(re.findall(r"^#include.*$", text, re.MULTILINE))
            text = re.sub(r"^#include.*$", "", text, flags=re.MULTILINE)
            undone = "".join(f"#undef {m}\n" for m in re.findall(r"^#define (\w+)", text, re.M))
            parts.append(f"namespace n_{name} {{\n{text}\n}}\n{undone}")
    return compile_cuda("\n".join([*includes, *parts]), arch=arch, name="together.cu")


def job(name: str, program: Program | None = None) -> Job:
    """The launch of a kernel, in its own program unless one is given."""
    entry = LAUNCHES[name]
    return Job(
        program or load_program(entry["path"]),
        name,
        triple(tuple(entry["grid"]), "grid"),
        triple(tuple(entry["block"]), "block"),
        tuple(map(parse, entry["args"])),
        entry.get("dynamic_shared", 0),
    )
