"""Times the launches of tests/data/timing/h200_variants.json on a GPU, with CuPy.

python -m benchmarks.variants events OUT.json    median and least of 30 by events, in microseconds,
                                                 caches as they are, and after 512 MiB were read
ncu --profile-from-start off --clock-control none --cache-control all|none --csv --page raw
    --metrics ... python -m benchmarks.variants once    each launch once, for its counters
"""

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np

from gpuviz.compile import load_program

DATA = Path(__file__).parent.parent / "tests" / "data" / "timing"
LAUNCHES = json.loads((DATA / "h200_variants.json").read_text())["launches"]
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u32": np.uint32}
MODULES: dict[Any, Any] = {}
KEPT: dict[Any, Any] = {}


def function(source: str, entry: str, defines: dict[str, Any]) -> Any:
    key = source, *sorted(defines.items())
    if key not in MODULES:
        said = {name: str(value) for name, value in defines.items()}
        program = load_program(DATA / "kernels" / source, arch="sm_90", defines=said)
        MODULES[key] = cp.cuda.function.Module()
        MODULES[key].load(program.cubin)
    return MODULES[key].get_function(entry)


def host(kind: str, count: int, seed: int) -> Any:
    key = kind, count if kind in ("i32", "u32") else 0, seed
    if key not in KEPT or KEPT[key].size < count:
        random = np.random.default_rng(seed)
        if kind in ("i32", "u32"):
            KEPT[key] = random.integers(0, count, count).astype(DTYPES[kind])
        else:
            KEPT[key] = random.random(count, np.float32).astype(DTYPES[kind])
    return KEPT[key][:count]


def argument(text: str, at: int) -> Any:
    left, value = text.split("=")
    if "[" not in left:
        return DTYPES[left](float(value) if left[0] == "f" else int(value))
    kind, count = left.rstrip("]").split("[")
    made = cp.empty(int(count), DTYPES[kind])
    if value == "zeros":
        made.data.memset(0, made.nbytes)
    else:
        made.set(host(kind, int(count), at))
    return made


def launches() -> Iterator[tuple[dict[str, Any], Callable[[], None]]]:
    for one in LAUNCHES:
        args = tuple(argument(text, at) for at, text in enumerate(one["args"]))
        kernel = function(one["source"], one["entry"], one.get("defines", {}))
        yield one, partial(kernel, tuple(one["grid"]), tuple(one["block"]), args)
        del args
        cp.get_default_memory_pool().free_all_blocks()


def timed(launch: Callable[[], None], before: Callable[[], None], times: int = 30) -> list[float]:
    found = []
    start, stop = cp.cuda.Event(), cp.cuda.Event()
    for _ in range(times + 3):
        before()
        start.record()
        launch()
        stop.record()
        stop.synchronize()
        found.append(1000.0 * cp.cuda.get_elapsed_time(start, stop))
    found = found[3:]
    return [round(float(np.median(found)), 3), round(min(found), 3)]


def events(out: str) -> None:
    flushed = cp.empty(1 << 27, np.float32)
    flushed.data.memset(0, flushed.nbytes)
    sink = cp.zeros(32, np.float32)
    read = function("probes.cu", "read_much", {})

    def flush() -> None:
        read((1 << 17,), (256,), (flushed, sink, np.int32(1 << 25)))

    properties = cp.cuda.runtime.getDeviceProperties(0)
    found: dict[str, Any] = {
        "device": properties["name"].decode(),
        "l2": properties["l2CacheSize"],
        "events_us": {},
    }
    one = function("probes.cu", "one_int", {})
    nothing = cp.zeros(32, np.int32)
    found["empty"] = timed(lambda: one((1,), (32,), (nothing, np.int32(0))), lambda: None)
    for launch, go in launches():
        found["events_us"][launch["name"]] = {
            "warm": timed(go, lambda: None),
            "cold": timed(go, flush),
        }
    Path(out).write_text(json.dumps(found, indent=1))


def once() -> None:
    for _, go in launches():
        go()  # warm, and the code loaded
        cp.cuda.runtime.deviceSynchronize()
        cp.cuda.runtime.profilerStart()
        go()
        cp.cuda.runtime.deviceSynchronize()
        cp.cuda.runtime.profilerStop()


if __name__ == "__main__":
    events(sys.argv[2]) if sys.argv[1] == "events" else once()
