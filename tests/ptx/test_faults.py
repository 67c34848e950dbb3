"""What a sanitizer would tell: each message names the line, the place and who did it."""

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import Cancelled, KernelFault, LaunchError
from gpuviz.memory.counting import Counter
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.simt import machine
from gpuviz.traces.check_table import ALL
from tests.ptx.launching import DIALECTS, KERNELS, compiled, launch

pytestmark = pytest.mark.parametrize("arch", DIALECTS)
SOURCE = (KERNELS / "faulty.cu").read_text().splitlines()


def floats(count):
    return np.zeros(count, np.float32)


def ints(count):
    return np.zeros(count, np.int32)


FAULTS = [
    (
        "past_end",
        2,
        [floats(100), floats(128), 0],
        [
            4,
            "global",
            "0 bytes past the end of buffer arg0 (400 bytes)",
            "block (1, 0, 0)",
            "thread (36, 0, 0)",
            "0x7f0000000190",
        ],
    ),
    ("before_start", 1, [floats(64)], [8, "12 bytes before buffer arg0", "thread (0, 0, 0)"]),
    (
        "misaligned",
        1,
        [np.zeros(300, np.int8), ints(64)],
        [11, "misaligned 4-byte access", "byte 21 of buffer arg0", "thread (5, 0, 0)"],
    ),
    ("null", 1, [ints(64)], [15, "in no buffer", "address 0x4", "thread (9, 0, 0)"]),
    (
        "shared_past_end",
        1,
        [ints(64), 0],
        [
            20,
            "shared",
            "past the end of shared_past_end::part",
            "address 0x80",
            "thread (32, 0, 0)",
        ],
    ),
    ("shared_past_end", 1, [ints(64), -4], [20, "shared", "16 bytes before", "thread (0, 0, 0)"]),
    ("local_past_end", 1, [ints(64), 1], [27, "local", "32 bytes", "0x20", "thread (7, 0, 0)"]),
    ("constant_past_end", 1, [ints(64), 1], [31, "const", "table (16 bytes)", "thread (4, 0, 0)"]),
    (
        "half_barrier",
        2,
        [ints(64)],
        [
            40,
            "deadlock in block (0, 0, 0)",
            "40 threads wait at barrier 0",
            "24 threads wait at barrier 3",
            "first is thread (40, 0, 0)",
        ],
    ),
    ("wild_pointer", 1, [ints(64), np.uint64(1234)], [64, "pointer 0x4d2", "thread (0, 0, 0)"]),
    ("bottomless", 1, [ints(64)], [61, "recursion", "524,288 bytes", "thread (0, 0, 0)"]),
    ("trapped", 1, [ints(64)], [68, "trap", "thread (7, 0, 0)"]),
    ("unsafe_copy", 1, [floats(80), floats(64)], [74, "shared", "misaligned 8-byte"]),
]


@pytest.mark.parametrize("kernel, grid, arguments, parts", FAULTS)
def test_faults(arch, kernel, grid, arguments, parts):
    line, *words = parts
    with pytest.raises(KernelFault) as caught:
        launch("faulty", kernel, grid, 64, *arguments, arch=arch)
    message = str(caught.value)
    assert [w for w in (f"CUDA line {line}", *words) if w not in message] == [], message


@pytest.mark.parametrize("kernel, lines", [("endless", (50, 51)), ("endless_quietly", (57, 58))])
def test_endless_loops_meet_the_budget(arch, kernel, lines):
    arguments = [ints(32)] if kernel == "endless" else [ints(32), 0]
    with pytest.raises(KernelFault, match="may never end") as caught:
        launch(
            "faulty", kernel, 1, 32, *arguments, arch=arch, options=Options(instructions=100_000)
        )
    assert any(f"CUDA line {line}" in str(caught.value) for line in lines)


def found(*given, **more):
    return launch(*given, options=Options(checks=ALL), **more).trace.findings


def test_shared_memory_nobody_wrote(arch):
    (finding,) = found("faulty", "unwritten", 3, 32, ints(32), arch=arch)
    assert finding.kind == "uninitialised shared read" and finding.line == 37
    assert (finding.block, finding.thread) == ((0, 0, 0), (31, 0, 0))
    assert finding.address == 128 and finding.count == 3
    assert finding.check == "init" and finding.remedy


def test_barriers_in_two_branches(arch):
    (finding,) = found("faulty", "two_barriers", 1, 64, ints(64), arch=arch)
    assert finding.kind == "barriers apart" and finding.line in (45, 46)
    assert finding.severity == "error" and finding.check == "sync"


def test_early_exit_is_no_fault(arch):
    assert found("warps", "early_exit", 1, 100, ints(70), ints(70), 70, arch=arch) == ()


def test_what_nobody_asks_for_is_not_looked_for(arch):
    assert launch("faulty", "unwritten", 3, 32, ints(32), arch=arch).trace.findings == ()


def test_a_fault_is_a_finding_as_well(arch):
    with pytest.raises(KernelFault) as caught:
        launch("faulty", "past_end", 2, 64, floats(100), floats(128), 0, arch=arch)
    finding = caught.value.finding
    assert (finding.check, finding.line) == ("memory", 4) and finding.remedy
    assert (finding.block, finding.thread) == ((1, 0, 0), (36, 0, 0))
    assert finding.address == 0x7F0000000190


def test_wrong_arguments(arch):
    with pytest.raises(LaunchError, match="takes 3 arguments, 2 were given"):
        launch("faulty", "past_end", 1, 32, floats(9), floats(9), arch=arch)
    with pytest.raises(LaunchError, match="argument 3 .* 4 bytes.*buffer"):
        launch("faulty", "past_end", 1, 32, floats(9), floats(9), floats(9), arch=arch)
    with pytest.raises(LaunchError, match="argument 3 .* 4 bytes.*int64 of 8 bytes"):
        launch("faulty", "past_end", 1, 32, floats(9), floats(9), np.int64(4), arch=arch)
    with pytest.raises(LaunchError, match="argument 1 .* 8 bytes.*float32 of 4 bytes"):
        launch("faulty", "past_end", 1, 32, 1.5, floats(9), 4, arch=arch)


def test_launches_that_no_device_accepts(arch):
    with pytest.raises(LaunchError, match="grid of 0x1x1"):
        launch("faulty", "trapped", 0, 32, ints(64), arch=arch)
    with pytest.raises(LaunchError, match="block of 32x0x1"):
        launch("faulty", "trapped", 1, (32, 0), ints(64), arch=arch)
    with pytest.raises(LaunchError, match="64 threads"):  # __launch_bounds__(64, 4)
        launch("language", "inline_ptx", 1, 96, np.zeros(96, np.uint32), np.uint32(1), arch=arch)


def test_cancel_and_progress(arch):
    seen = []
    launch(
        "faulty",
        "past_end",
        5000,
        64,
        floats(5000 * 64),
        floats(5000 * 64),
        0,
        arch=arch,
        options=Options(progress=seen.append),
    )
    assert seen == sorted(seen) and len(seen) > 5 and seen[-1] == 1
    calls = iter([False, False])
    with pytest.raises(Cancelled):
        launch(
            "faulty",
            "endless",
            1,
            32,
            ints(32),
            arch=arch,
            options=Options(cancel=lambda: next(calls, True)),
        )


def test_lines_in_the_list_match_the_source(arch):
    assert compiled("faulty", arch).kernels
    for _, _, _, (line, *_) in FAULTS:
        assert f"line {line}" in SOURCE[line - 1] or line in (61, 64, 68, 74)


@pytest.mark.parametrize(
    "kernel, arguments, line",
    [("waits_for_nobody", [ints(1), ints(64)], 78), ("never_unlocked", [ints(1)], 82)],
)
def test_waiting_for_what_nobody_writes(arch, monkeypatch, kernel, arguments, line):
    monkeypatch.setattr(machine, "IDLE_LOOPS", 1000)
    with pytest.raises(KernelFault, match=f"CUDA line {line}.*nobody writes"):
        launch("faulty", kernel, 2, 64, *arguments, arch=arch)


ATOMIC = "int a[4] = {0, 0, 0, 0}, *p = n ? a + n : o; o[threadIdx.x] = %s + a[n & 3];"


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize(
    "body, words",
    [
        (ATOMIC % "atomicAdd(p, 5)", "local access.*line 4.*no atomic"),
        (ATOMIC % "(atomicAdd(p, 5), 0)", "local access.*line 4.*no reduction"),
        ("int *p = n ? table + n : o; *p = 3;", "const access.*line 4.*no store"),
        ("int *p = n ? (int *)&n : o; *p = 3;", "param access.*line 4.*no store"),
    ],
)
def test_generic_addresses_that_an_instruction_does_not_reach(arch, engine, body, words):
    source = f"""
__constant__ int table[4];
__global__ void k(int *o, const __grid_constant__ int n) {{
{body} }}"""
    counter = Counter(architecture("9.0"))
    with pytest.raises(KernelFault, match=words):
        launch(
            *(source, "k", 2, 32, ints(64), 1),
            arch=arch,
            options=Options(engine=engine),
            sinks=[counter],
        )
