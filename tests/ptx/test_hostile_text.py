"""PTX that no compiler writes: told in a short message and soon, never a traceback."""

import time
from collections.abc import Iterator

import numpy as np
import pytest

from gpuviz.arch import architecture
from gpuviz.base.errors import Error, LaunchError
from gpuviz.compile import Program
from gpuviz.launch.job import Job
from gpuviz.ptx.decode.decoder import unsupported
from gpuviz.ptx.emulator import Options, emulate
from gpuviz.ptx.text import stream
from gpuviz.ptx.text.parser import parse
from gpuviz.run import emulated

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


def ptx(body: str, before: str = "", parameters: str = ".param .u64 a") -> str:
    registers = ".reg .pred %p<3>;\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n"
    return f"{HEAD}{before}\n.visible .entry k({parameters})\n{{\n{registers}{body}\nret;\n}}\n"


def outcome(text: str) -> str:
    """What is said of it, "" when it runs."""
    try:
        emulate(parse(text), "k", (1, 1, 1), (32, 1, 1), [np.zeros(64, np.uint32)])
        return ""
    except Error as error:
        return str(error)


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    start = time.process_time()
    yield
    assert time.process_time() - start < 5


LOOPS = "".join(f"$L{i}: mov.u32 %r1, %tid.x;\n" for i in range(300))
BACK = "".join(f"@%p1 bra $L{i};\n" for i in range(299, -1, -1))
CASES = {
    "brx.idx %r1, $T;": "no table $T of targets",
    "$T: .branchtargets $A, $B;\n$A: brx.idx %r1, $T;": "there is no label $B to branch to",
    "brx.idx %r1;": "brx names no label",
    "bra 5;": "bra names no label",
    "bra $A, $A;\n$A:": "bra names no label",
    "@%r1 mov.u32 %r2, 0;": "the guard of an instruction has to be a predicate register",
    "@7 mov.u32 %r2, 0;": "the guard of an instruction has to be a predicate register",
    "and.pred %p1, %p2, !%r1;": "what follows '!' has to be a predicate register",
    "ld.global.u32 %r1, [%rd1+99999999999999999999];": "has more than 64 bits",
    f"mov.u32 %r1, {'1' * 60_000};": "expected an integer in the PTX",
    f"mov.u32 %r1, 0x{'f' * 60_000};": "has more than 64 bits",
    f"mov.u32 %r{'1' * 60_000}, 0;": "the destination",
    f"mov.u32 {'%r' + '1' * 2000 + 'x'}, 0;" * 20: "the destination",
    "mov.u32 %r1, " + "x" * 200_000 + ";": "is too long for a word",
    "{" * 1000: "more than 64 braces",
    "mov.b64 " + "{" * 1000: "lists within lists within lists",
    "/*" * 50_000: "a comment begins here and never ends",
    '"' + "\\a" * 500_000: "unexpected character",
    "ld.param.foo7 %r1, [a];": "a type .foo7, which is not known",
    "ld.param.b80000 %r1, [a];": "a type .b80000, which is not known",
    "ld.param.u32;": "not supported",
    ".local .b8 v[600000];\nmov.u32 %r1, v;": "local variables of k take 600,000 bytes",
    ".local .align 3 .b8 v[4];": "no variable is aligned to 3 bytes",
    ".local .align 9223372036854775808 .b8 v[4];": "no variable is aligned to 92",
    LOOPS + BACK: "more than 100 loops within each other",
    ".local .b8 v[4];\n" * 5_000: "",
}


@pytest.mark.parametrize(("body", "said"), CASES.items(), ids=lambda text: text[:40])
def test_bodies(body: str, said: str) -> None:
    found = outcome(ptx(body))
    assert said in found and bool(said) is bool(found)
    assert len(found) < 1000


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (".global .b8 v[100000000000000];", "need 200,000,000,000,000 bytes of memory"),
        (".global .b8 v" + "[4294967295]" * 500 + ";", "v cannot be an array of that size"),
        (".global .b8 v[-1];", "expected an integer in the PTX, found '-'"),
        (".global .b8 v[2] = {1, 2, 3};", "v cannot be an array of that size"),
        (".const .b8 v[70000];", "the constant variables of the PTX take 70,000 bytes"),
        (".global .b8 v[4] = " + "{" * 50_000, "expected an integer in the PTX, found '('"),
    ],
)
def test_variables(before: str, said: str) -> None:
    assert said in outcome(ptx("mov.u64 %rd1, v;", before))


def test_more_than_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_MOST", 1000)
    assert "more than 1,000 words and signs" in outcome(ptx("mov.u32 %r1, 2;\n" * 1000))


@pytest.mark.parametrize(("static", "dynamic"), [(300_000, 0), (200_000, 100_000)])
def test_shared_memory_beyond_the_architecture(static: int, dynamic: int) -> None:
    """Bare PTX has no log that says how much its kernels take."""
    text = ptx("mov.u32 %r1, s;", f".shared .b8 s[{static}];", "")
    program = Program(text, b"", "", {}, (), "", "k.cu", "sm_90", "")
    job = Job(program, "k", (1, 1, 1), (32, 1, 1), (), dynamic)
    said = f"wants 300,000 bytes of shared memory \\({static:,} static, {dynamic:,} dynamic"
    said = said.replace(",", "\u202f").replace("static\u202f", "static,")
    with pytest.raises(LaunchError, match=said):
        emulated.run(job, architecture("sm_90"))


def test_parameters_larger_than_any() -> None:
    text = ptx("", parameters=".param .b8 a[40000]")
    assert "take 40,000 bytes: there are 32,764" in outcome(text)


def test_many_registers_of_many_threads_are_refused_before_they_take_memory() -> None:
    body = ".reg .b64 %q<1999>;\n" + "".join(f"mov.u64 %q{i}, 1;\n" for i in range(1999))
    arguments = [np.zeros(4, np.uint32)]
    options = Options(memory=1 << 23)
    with pytest.raises(Error, match="one block of k needs .* the emulator has 8,388,608"):
        emulate(parse(ptx(body)), "k", (1, 1, 1), (1024, 1, 1), arguments, options=options)


def test_the_check_tells_in_short_what_is_not_supported() -> None:
    (problem,) = unsupported(parse(ptx(f"mov.u32 %r{'1' * 60_000}, 0;")))["k"]
    assert len(problem.why) < 500
