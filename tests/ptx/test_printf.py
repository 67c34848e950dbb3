"""Device printf, against Python's own formatting where C agrees with it."""

from __future__ import annotations

import struct
import time

import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import KernelFault
from gpuviz.compile import compile_cuda
from gpuviz.launch.job import Job
from gpuviz.ptx.emulator import Options
from gpuviz.ptx.simt.printf import PRINT_LIMIT, PrintfOutput, render
from gpuviz.run import emulated


def check(format: bytes, layout: str, *arguments: float, expected: str) -> None:
    """`layout` as of the struct module, padding written out."""
    buffer = struct.pack("<" + layout, *arguments)
    assert render(format, buffer, {64: b"text"}.__getitem__) == expected


def test_one_line_each() -> None:
    check(b"100%%\n", "", expected="100%\n")
    check(b"%d", "i", -5, expected="-5")
    check(b"%i,%u", "iI", -5, 2**32 - 1, expected="-5,4294967295")
    check(b"%5d|%-5d|%05d", "iii", 42, 42, -42, expected="   42|42   |-0042")
    check(b"%+d % d", "ii", 1, 2, expected="+1  2")
    check(b"%.3d|%.0d|", "ii", 7, 0, expected="007||")
    check(b"%x %X %#x %o", "IIII", 255, 255, 255, 8, expected="ff FF 0xff 10")
    check(b"%#010x", "I", 255, expected="0x000000ff")
    check(b"%d %lld", "i4xq", 1, -(2**40), expected=f"1 {-(2**40)}")
    check(b"%lu", "Q", 2**64 - 1, expected=str(2**64 - 1))
    check(b"%hd %hhu", "iI", 65535, 511, expected="-1 255")
    check(b"%f", "d", 1.5, expected="1.500000")
    check(b"%.2f %8.3f|%-8.1f|", "ddd", 1.005, 3.14159, 2.5, expected="1.00    3.142|2.5     |")
    check(b"%e %g %G", "ddd", 12345.678, 1e-10, 1e20, expected="1.234568e+04 1e-10 1E+20")
    check(b"%08.2f", "d", -3.14159, expected="-0003.14")
    check(b"%a", "d", 3.0, expected="0x1.8p+1")
    check(b"%f %05f", "dd", float("inf"), float("nan"), expected="inf   nan")
    check(b"%c%c", "ii", 72, 105, expected="Hi")
    check(b"%s|%6s|%.2s", "QQQ", 64, 64, 64, expected="text|  text|te")
    check(b"%s", "Q", 0, expected="(null)")
    check(b"%p", "Q", 0xDEADBEEF, expected="0xdeadbeef")
    check(b"%*d|%-*d|%.*f", "iiiii4xd", 4, 1, 4, 2, 1, 2.25, expected="   1|2   |2.2")
    check(b"i=%d x=%f", "i4xd", 3, 0.5, expected="i=3 x=0.500000")


def test_too_few_arguments() -> None:
    with pytest.raises(KernelFault, match="byte 4"):
        render(b"%d %d", struct.pack("<i", 1))


def test_what_does_not_fit_is_counted() -> None:
    printed = PrintfOutput()
    for _ in range(3):
        printed.add("x" * (PRINT_LIMIT // 2 - 1))
    assert printed.full
    printed.leave_out(5, 32)
    head, _, said = printed.text.rstrip("\n").rpartition("\n")
    assert head == "x" * PRINT_LIMIT
    assert said == "[cut: the first 1,048,576 characters are kept and 5 more calls of printf]"
    with pytest.raises(KernelFault, match="called printf 131,.* times, and its loop may never end"):
        printed.leave_out(1 << 17, 32)
    PrintfOutput().leave_out(1 << 17, 1 << 20)  # many threads have something to say


@pytest.mark.slow
def test_a_loop_that_prints_for_ever_ends() -> None:
    source = 'extern "C" __global__ void k() { for (int i = 0;; ++i) printf("line %d\\n", i); }'
    program = compile_cuda(source)
    job = Job(program, "k", (1, 1, 1), (32, 1, 1), ())
    began = time.process_time()
    with pytest.raises(KernelFault, match="may never end"):
        emulated.run(job, architecture("sm_90"), options=Options(record=()))
    assert time.process_time() - began < 60


@pytest.mark.parametrize(
    ("format", "value"), [(b"%2000000000d", 1), (b"%.2000000000x", 1), (b"%*d", 2**31 - 1)]
)
def test_more_at_once_than_is_kept_is_a_fault(format: bytes, value: int) -> None:
    with pytest.raises(KernelFault, match="characters at once, more than the 1,048,576"):
        render(format, struct.pack("<ii", value, 1))


def test_no_more_is_made_than_is_kept() -> None:
    wide = b"%1000000d" * 1000
    assert len(render(wide, struct.pack("<1000i", *range(1000)))) < 3 * PRINT_LIMIT
