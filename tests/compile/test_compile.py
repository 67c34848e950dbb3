import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpuviz.base import records
from gpuviz.base.errors import InputError, UnavailableError
from gpuviz.compile import (
    CompileError,
    Program,
    Resources,
    cache,
    compile_arch,
    compile_cuda,
    compile_reason,
    entry_name,
    load_program,
    log,
    nvcc,
    nvrtc,
    process,
    program,
    split,
)
from gpuviz.compile.worker import Facts
from gpuviz.files.disk_cache import DiskCache
from gpuviz.ptx.text.parser import parse
from gpuviz.source.kernel_names import plain_name

SCALE = 'extern "C" __global__ void scale(float* x) {\n  x[threadIdx.x] *= 2.0f;\n}\n'
WITH_MAIN = SCALE + "int main() {\n  scale<<<1, 32>>>(nullptr);\n}\n"

needs_nvrtc = pytest.mark.skipif(not nvrtc.libraries(), reason="no NVRTC for this system")
needs_nvcc = pytest.mark.skipif(
    not (nvcc.find() and shutil.which("g++")), reason="nvcc and a host compiler are not here"
)


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_120"])
def test_one_compile_gives_ptx_with_lines_and_machine_code(arch: str) -> None:
    program = compile_cuda(SCALE, arch=arch, name="scale.cu")
    assert program.kernels == ("scale",)
    assert f".target {arch}" in program.ptx
    assert re.search(r"\.loc\s+1 2 ", program.ptx)
    assert program.cubin.startswith(b"\x7fELF")
    assert program.compiler.startswith("NVRTC ")


@needs_nvrtc
def test_the_folder_compiled_in_leaves_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(tmp_path / name))
        made.append(compile_cuda(SCALE, name="scale.cu"))
    assert made[0].ptx == made[1].ptx
    assert made[0].cubin == made[1].cubin
    assert '"scale.cu"' in made[0].ptx


def test_file_paths_become_short() -> None:
    ptx = '.file\t1 "/home/me/scale.cu"\n.file 2 "C:\\\\cuda\\\\include\\\\crt\\\\mma.h", 3, 4\n'
    assert program.normalise(ptx, "scale.cu") == '.file\t1 "scale.cu"\n.file 2 "crt/mma.h"\n'


def test_the_text_compiled_is_file_1_where_a_header_has_the_first_function(tmp_path: Path) -> None:
    """Else every line of it would be one of the header's, which are left out."""
    at = ".loc {0} 4 0\n.loc {1} 9 3, function_name $L, inlined_at {0} 7 5\n"
    files = '.file {0} "a/k.h"\n.file {1} "k.cu"'
    made = (at + files).format(1, 2)
    assert program.normalise(made, "k.cu") == (at + files).format(2, 1)
    (tmp_path / "far.h").write_text(
        "__device__ __noinline__ int far(int* p, int i) { return p[i * 32]; }\n"
    )
    path = tmp_path / "own.cu"
    path.write_text('#include "far.h"\n__global__ void k(int* p) {\n  p[0] = far(p, 1);\n}\n')
    loaded = load_program(path)
    every = (i for f in parse(loaded.ptx).functions for i in f.body)
    (store,) = (i for i in every if i.opcode.name == "st" and "global" in i.opcode.mods)
    assert '.file\t1 "own.cu"' in loaded.ptx and store.line == 3


RICH = """
__constant__ float table[16];
extern "C" __global__ void __launch_bounds__(1024, 2) rich(double* a, int n) {
    __shared__ float tile[100];
    double kept[40];
    tile[threadIdx.x % 100] = table[n];
    for (int i = 0; i < 40; i++) kept[i] = a[i * 32 + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 40; i++) a[i * 32 + n] = kept[(i * n) % 40] * kept[39 - i] + tile[i];
}
"""


@needs_nvrtc
def test_resources_of_a_kernel() -> None:
    facts = compile_cuda(RICH).resources["rich"]
    assert 0 < facts.registers <= 32  # the launch bounds leave no more
    assert facts.static_shared_bytes == 400
    assert facts.stack_bytes >= 40 * 8
    assert facts.constant_bytes >= 64
    assert facts.barriers == 1


def test_resources_read_from_a_log_with_spills_and_device_functions() -> None:
    text = """
ptxas info    : Compiling entry function 'sp' for 'sm_90'
ptxas info    : Function properties for sp
    112 bytes stack frame, 108 bytes spill stores, 120 bytes spill loads
ptxas info    : Used 32 registers, used 2 barriers, 2048+1024 bytes smem, 360 bytes cmem[0]
ptxas info    : Function properties for _Z1hf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
"""
    assert log.resources(text) == {
        "sp": Resources(32, 108, 120, 112, static_shared_bytes=2048, barriers=2)
    }


@needs_nvrtc
def test_errors_say_where() -> None:
    with pytest.raises(CompileError) as caught:
        compile_cuda("__global__ void f(int* a) {\n  a[0] = missing;\n}\n", name="bad.cu")
    (found,) = caught.value.diagnostics
    assert (found.file, found.line, found.column, found.severity) == ("bad.cu", 2, 10, "error")
    assert 'identifier "missing" is undefined' in found.text
    assert "bad.cu:2:10: error" in str(caught.value)


@needs_nvrtc
def test_warnings_are_kept() -> None:
    program = compile_cuda("__global__ void f() {\n  int unused;\n}\n")
    assert [(w.line, w.severity) for w in program.warnings] == [(2, "warning")]


def test_messages_of_other_tools_are_errors_too() -> None:
    (found,) = log.diagnostics("k.cu:1:10: fatal error: gone.h: No such file or directory\n")
    assert (found.line, found.column, found.severity) == (1, 10, "error")
    failure = log.failure("k.cu", "nvcc fatal   : Value 'sm_1' is not defined\n")
    assert [d.text for d in failure.diagnostics] == ["Value 'sm_1' is not defined"]
    assert "out of memory" in str(log.failure("k.cu", "out of memory"))


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize(
    "head, body",
    [
        ("#include <stdio.h>", 'printf("%d", 1);'),
        ("#include <cuda_runtime.h>\n#include <device_launch_parameters.h>", "float4 v; a[0] = 1;"),
        ("#include <cuda.h>", "a[0] = 1;"),
        ("#include <math.h>", "a[0] = sqrt(M_PI) + INFINITY;"),
        ("#include <cmath>", "a[0] = std::sqrt(a[1]);"),
        ("#include <assert.h>\n#include <iostream>\n#include <vector>", "assert(a);"),
        ("#include <cstdint>\n#include <float.h>", "std::uint32_t u = UINT32_MAX; a[u] = FLT_MAX;"),
        ("#include <cuda_fp16.h>", "a[0] = __half2float(__float2half(1.0f));"),
        ("#include <cooperative_groups.h>", "cooperative_groups::this_thread_block().sync();"),
        ("", "uint i = UINT32_MAX; uint8_t j = 3; a[i] = j + INFINITY + M_PI;"),
        (
            "#include <mma.h>",
            "nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;",
        ),
    ],
    ids=lambda text: text.replace("#include ", "").replace("\n", " "),
)
def test_headers_of_ordinary_files(head: str, body: str) -> None:
    program = compile_cuda(f"{head}\n__global__ void f(float* a) {{ {body} }}\n")
    assert program.compiler.startswith("NVRTC ")


@needs_nvrtc
def test_macros_and_own_headers(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("#define FACTOR 3\n")
    kernel = tmp_path / "k.cu"
    kernel.write_text('#include "own.h"\n__global__ void f(int* a) { a[0] = FACTOR + N; }\n')
    assert "7;" in load_program(kernel, defines={"N": "4"}).ptx
    (tmp_path / "own.h").write_text("#define FACTOR 5\n")  # a changed header is seen
    assert "9;" in load_program(kernel, defines={"N": "4"}).ptx


@pytest.mark.parametrize(
    "source, found",
    [
        (SCALE, None),
        (WITH_MAIN, (4, "int main")),
        ("// scale<<<1, 2>>>()\n" + SCALE, None),
        ('__device__ void f() { printf("main( <<<"); }', None),
        ("__global__ void f() { g<<<1, 1>>>(); }", (1, "<<<")),
        ("__global__ void f(char** p) { *p = (char*)malloc(8); }", None),
        ("void fill(float* x) {\n  x[0] = rand();\n}", (2, "rand")),
        ("void copy() { cudaMemcpy(0, 0, 0, 0); }", (1, "cudaMemcpy")),
        ("#define CHECK(x) \\\n  if (x) exit(1);\n" + SCALE, None),
        ("struct S { __device__ void* f() { return malloc(8); } };", None),
        ("__host__ __device__ int f();\n__host__ inline __device__ int g();", None),
        ("__device__ __host__ int f();\n__host__ int g();", (2, "__host__")),
        ("#ifndef __CUDACC_RTC__\nint main() {}\n#endif", None),
    ],
)
def test_host_code_is_found(source: str, found: tuple[int, str] | None) -> None:
    assert split.host_line(source) == found


@pytest.mark.parametrize(
    "source",
    [
        "__global__ void f() {\n" + "malloc(4);\n" * 10_000 + "}\n",
        "__device__ void f() { malloc(4); }\n" * 10_000,
        "/*" * 100_000,
    ],
    ids=["calls", "functions", "comments"],
)
def test_long_sources_are_searched_quickly(source: str) -> None:
    start = time.process_time()
    assert split.host_line(source) is None
    assert time.process_time() - start < 2.0


def test_host_code_needs_no_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "find", lambda: None)
    assert compile_cuda(WITH_MAIN, name="mixed.cu").kernels == ("scale",)
    with pytest.raises(UnavailableError, match=r"mixed.cu was to be compiled by nvcc"):
        compile_cuda(WITH_MAIN, name="mixed.cu", compiler="nvcc")


@needs_nvcc
def test_host_code_is_compiled_by_nvcc() -> None:
    program = compile_cuda(WITH_MAIN, name="mixed.cu", compiler="nvcc")
    assert program.compiler.startswith("nvcc ")
    assert program.kernels == ("scale",)
    assert program.resources["scale"].registers > 0
    assert '"mixed.cu"' in program.ptx
    assert program.cubin.startswith(b"\x7fELF")
    assert "as was asked for" in program.note


ODD = ("-x.cu", "--version.cu", "@a.cu", "a$(touch ran).cu", "a b'\"`.cu", "-.cu", "ñ.cu")


@needs_nvcc
def test_errors_of_nvcc_say_where() -> None:
    with pytest.raises(CompileError) as caught:
        compile_cuda(WITH_MAIN.replace("nullptr", "missing"), name="mixed.cu", compiler="nvcc")
    assert [(d.file, d.line) for d in caught.value.diagnostics] == [("mixed.cu", 5)]


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_no_name_is_an_option_to_nvcc(name: str) -> None:
    assert compile_cuda(WITH_MAIN, name=name, compiler="nvcc").kernels == ("scale",)


@needs_nvrtc
def test_no_name_is_an_option_to_nvrtc() -> None:
    for name in ODD:
        said = name.replace('"', "_")
        assert f'"{said}"' in compile_cuda(SCALE + "// odd", name=name).ptx


@needs_nvcc
def test_nothing_given_to_nvcc_is_run(tmp_path: Path) -> None:
    folder = tmp_path / f"$(touch {tmp_path}@ran)".replace("/", "@")
    folder.mkdir()
    defines = {"A": f"$(touch {tmp_path}/ran)", "B": f"`touch {tmp_path}/ran`"}
    source = WITH_MAIN.replace("2.0f", "2.5f")
    compile_cuda(source, name="-x.cu", defines=defines, include=(folder,), compiler="nvcc")
    assert not (tmp_path / "ran").exists() and not list(Path.cwd().glob("*ran*"))


def test_a_machine_without_nvrtc_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "libraries", lambda: ())
    with pytest.raises(UnavailableError, match="NVRTC"):
        compile_cuda(SCALE)
    assert compile_arch("sm_60") == "sm_60"


SUPPORTED = (75, 80, 90, 100, 120)


@pytest.mark.parametrize(
    "asked, compiled",
    [
        ("sm_90", "sm_90"),
        ("9.0", "sm_90"),
        ("sm_13", "sm_75"),
        ("sm_89", "sm_80"),
        ("sm_101", "sm_100"),
        ("sm_200", "sm_120"),
        ("compute_75", "sm_75"),
        ("12.0", "sm_120"),
    ],
)
def test_nearest_architecture(asked: str, compiled: str) -> None:
    assert compile_arch(asked, SUPPORTED) == compiled


@pytest.mark.parametrize("wrong", ["", "hopper", "sm_9", "sm_9x", "9"])
def test_not_an_architecture(wrong: str) -> None:
    with pytest.raises(InputError, match="sm_XX"):
        compile_arch(wrong, SUPPORTED)


@needs_nvrtc
def test_reason_and_refusal_of_an_old_architecture() -> None:
    assert compile_reason("sm_90") == ""
    assert "memory model only" in compile_reason("sm_13")
    with pytest.raises(UnavailableError, match="does not compile for sm_13, only for .*sm_90"):
        compile_cuda(SCALE, arch="sm_13")


@needs_nvrtc
def test_the_cache_answers_the_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_cuda(SCALE, name="cached.cu")
    monkeypatch.setattr(nvrtc.Library, "compile", None)  # a compilation would now fail
    second = compile_cuda(SCALE, name="cached.cu")
    assert records.plain(first) == records.plain(second)


@needs_nvrtc
@pytest.mark.parametrize(
    "damage", [b"", b"{}", b"\x00" * 99, None], ids=["empty", "json", "zeros", "half"]
)
def test_damaged_cache_entries_are_made_anew(
    damage: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(tmp_path))
    first = compile_cuda(SCALE)
    (entry,) = cache.KEPT.folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    assert compile_cuda(SCALE).ptx == first.ptx
    assert entry.read_bytes() == whole


@pytest.mark.skipif(os.name == "nt", reason="folders are protected differently")
def test_a_cache_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    cache.store("key", _program("x"))
    assert cache.load("key") is None


def test_what_was_compiled_takes_a_bounded_number_of_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("WIN_PD_OVERRIDE_LOCAL_APPDATA", str(tmp_path))
    monkeypatch.setattr(cache, "KEPT", DiskCache("compile", 4_000_000))
    for number in range(8):
        cache.store(f"key{number}", _program("x" * 1_000_000))
    assert sum(file.stat().st_size for file in cache.KEPT.folder.iterdir()) <= 4_000_000
    assert cache.load("key7") is not None


def _program(ptx: str) -> Program:
    return Program(ptx, b"", "", {}, (), "", "k.cu", "sm_90", "none")


NAMES = {
    "saxpy": "saxpy",
    "_Z4scalPf": "scal",
    "_ZL4scalPf": "scal",
    "_Z4tileILi16EfEvPT0_": "tile",
    "_Z4tileILi32EfEvPT0_": "tile",
    "_ZN3app4scanIfEEvPT_": "app::scan",
    "_ZN36_GLOBAL__N__0a1b2c3d_4_k_cu_5e6f7a8b4copyEPf": "(anonymous)::copy",
    "_ZNSt5thingEPf": "std::thing",
}


def test_plain_names_of_mangled_kernels() -> None:
    assert {mangled: plain_name(mangled) for mangled in NAMES} == NAMES


@pytest.mark.parametrize(
    "wanted, found",
    [
        ("saxpy", "saxpy"),
        ("scan", "_ZN3app4scanIfEEvPT_"),
        ("app::scan", "_ZN3app4scanIfEEvPT_"),
        ("_Z4tileILi16EfEvPT0_", "_Z4tileILi16EfEvPT0_"),
        ("copy", "_ZN36_GLOBAL__N__0a1b2c3d_4_k_cu_5e6f7a8b4copyEPf"),
    ],
)
def test_the_kernel_meant_by_a_name(wanted: str, found: str) -> None:
    assert entry_name(list(NAMES), wanted) == found


@pytest.mark.skipif(os.name == "nt", reason="no C++ library with a demangler")
@pytest.mark.parametrize("wanted", ["tile<16, float>", "tile<16,float>", "tile<16, float>(float*)"])
def test_the_kernel_meant_by_template_arguments(wanted: str) -> None:
    assert entry_name(list(NAMES), wanted) == "_Z4tileILi16EfEvPT0_"


@pytest.mark.parametrize(
    "kernels, wanted, message",
    [
        (list(NAMES), "tile", r"(?s)ambiguous.*_Z4tileILi16.*_Z4tileILi32"),
        (list(NAMES), "scal,", "no kernel named 'scal,'"),
        (["a", "b"], "", r"several kernels: name one of these\.\n  a\n  b"),
        ([], "a", "template is"),
    ],
)
def test_names_that_mean_no_kernel(kernels: list[str], wanted: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        entry_name(kernels, wanted)


def test_no_name_means_the_only_kernel() -> None:
    assert entry_name(["only"]) == "only"


@needs_nvrtc
def test_a_template_is_instantiated_on_request() -> None:
    source = "template <int N> __global__ void fill(int* a) { a[threadIdx.x] = N; }\n"
    program = compile_cuda(source, instances=("fill<42>",))
    assert "42;" in program.ptx
    assert entry_name(program.kernels, "fill") == program.kernels[0]


def test_ptx_files_need_no_compiler(tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(".version 8.0\n.target sm_75\n.visible .entry k(\n)\n{ ret; }\n")
    (tmp_path / "k.cu").write_text("// the source\n")
    program = load_program(file)
    assert (program.arch, program.cubin, program.kernels) == ("sm_75", b"", ("k",))
    assert program.source == "// the source\n"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read .*gone.cu"):
        load_program(tmp_path / "gone.cu")
    (tmp_path / "no.ptx").write_text("hello")
    with pytest.raises(InputError, match="is not PTX"):
        load_program(tmp_path / "no.ptx")


def test_a_library_is_asked_what_it_is_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To ask is to load it, which a program that is kept has no need of."""
    file, asked = tmp_path / "libnvrtc.so.13", []

    def facts(library: Path) -> Facts:
        asked.append(library)
        return Facts((13, len(asked)), (75, 90))

    monkeypatch.setattr(process, "facts", facts)
    file.write_bytes(b"one")
    assert [nvrtc.Library(file).version for _ in range(2)] == [(13, 1), (13, 1)]
    assert nvrtc.Library(file).archs == (75, 90) and len(asked) == 1
    file.write_bytes(b"another")
    assert nvrtc.Library(file).version == (13, 2)


OWN = "__global__ void f(int* a) { a[0] = FACTOR; }\n"


@needs_nvrtc
@pytest.mark.parametrize(
    "include",
    [
        '#include "own.h"\n',
        "#define HEADER <own.h>\n#include HEADER\n",
        '#inc\\\nlude "own.h"\n',
        '#include /* of\nmine */ "own.h"\n',
        '/**/ # /**/ include "../k/own.h"\n',
        '%:include "deep/down.h"\n',
    ],
    ids=["plain", "macro", "continued", "comment", "above", "nested"],
)
def test_a_changed_header_is_seen_however_it_is_included(include: str, tmp_path: Path) -> None:
    folder = tmp_path / "k"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "down.h").write_text('#include "../own.h"\n')
    (folder / "own.h").write_text("#define FACTOR 33\n")
    (folder / "k.cu").write_text(include + OWN)
    assert "33;" in load_program(folder / "k.cu").ptx
    (folder / "own.h").write_text("#define FACTOR 55\n")
    assert "55;" in load_program(folder / "k.cu").ptx


@needs_nvrtc
def test_a_header_found_earlier_is_seen(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    (second / "own.h").write_text("#define FACTOR 33\n")
    source = "#include <own.h>\n" + OWN
    assert "33;" in compile_cuda(source, include=(first, second)).ptx
    (first / "own.h").write_text("#define FACTOR 55\n")
    assert "55;" in compile_cuda(source, include=(first, second)).ptx


@needs_nvrtc
def test_a_header_that_is_asked_for_is_seen(tmp_path: Path) -> None:
    source = (
        "#if __has_include(<own.h>)\n#define FACTOR 55\n#else\n#define FACTOR 33\n#endif\n" + OWN
    )
    assert "33;" in compile_cuda(source, include=(tmp_path,)).ptx
    (tmp_path / "own.h").write_text("")
    assert "55;" in compile_cuda(source, include=(tmp_path,)).ptx


@needs_nvrtc
@pytest.mark.parametrize("header", ["own.h", "cooperative_groups.h"])
def test_the_cache_answers_for_unchanged_headers(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.h").write_text("#define SOME 1\n")
    source = f"#include <{header}>\n" + SCALE
    first = compile_cuda(source, include=(tmp_path,))
    monkeypatch.setattr(nvrtc.Library, "compile", None)  # a compilation would now fail
    assert compile_cuda(source, include=(tmp_path,)).ptx == first.ptx


@pytest.mark.slow
@needs_nvcc
def test_nvcc_too_tells_what_it_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "with space"
    folder.mkdir()
    (folder / "own.h").write_text("#define FACTOR 33\n")
    (folder / "k.cu").write_text("#define HEADER <own.h>\n#include HEADER\nint main() {}\n" + OWN)
    assert "33;" in load_program(folder / "k.cu", compiler="nvcc").ptx
    (folder / "own.h").write_text("#define FACTOR 55\n")
    assert "55;" in load_program(folder / "k.cu", compiler="nvcc").ptx
    monkeypatch.setattr(nvcc, "compile", None)
    assert "55;" in load_program(folder / "k.cu", compiler="nvcc").ptx


@needs_nvrtc
def test_a_source_that_crashes_the_compiler_is_told() -> None:
    source = SCALE.replace("scale", "x" * 200_000)
    with pytest.raises(CompileError, match="the compiler crashed on it .*Look for names"):
        compile_cuda(source)
    assert compile_cuda(SCALE + "// after\n").kernels == ("scale",)


@needs_nvrtc
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound a process's memory")
def test_a_source_that_takes_too_much_memory_is_told() -> None:
    with pytest.raises(CompileError, match="took more memory on it than it may"):
        compile_cuda(SCALE + "/*" * 200_000)


FAKES = {
    "SIGSEGV": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "exit status 7": "import sys; sys.exit(7)",
    "4 GiB": "import sys; sys.exit('terminate called: std::bad_alloc')",
    "1 s on it": "import time; time.sleep(60)",
}


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.parametrize("how", FAKES)
def test_a_compiler_that_is_lost_is_told_and_started_again(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library,) = nvrtc.libraries()[:1]
    assert library.version
    process.close()
    monkeypatch.setattr(process, "command", [sys.executable, "-c", FAKES[how]])
    monkeypatch.setattr(process, "SECONDS", 1.0)
    with pytest.raises(CompileError, match=f"fake.cu does not compile: the compiler .*{how}"):
        compile_cuda(SCALE + f"// {how}\n", name="fake.cu")
    monkeypatch.undo()
    assert compile_cuda(SCALE + f"// {how}\n", name="fake.cu").kernels == ("scale",)


@pytest.mark.slow
@needs_nvrtc
@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked up in /proc")
def test_the_compiler_ends_with_gpuviz() -> None:
    bomb = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(x)))\nint a = B(B(B(+))) 1;\n"
    code = (
        "from gpuviz.processes import programs as processes\n"
        "from gpuviz.compile import compile_cuda\n"
        "begin = processes.start\n"
        "def start(*a, **k):\n"
        "    one = begin(*a, **k)\n"
        "    print(one.pid, flush=True)\n"
        "    return one\n"
        "processes.start = start\n"
        f"compile_cuda({bomb!r})\n"
    )
    run = [sys.executable, "-c", code]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(1)
        assert parent.poll() is None and _runs(pid), "the source was to take long"
        parent.kill()
    deadline = time.monotonic() + 5
    while _runs(pid):
        assert time.monotonic() < deadline, "the compiler outlives gpuviz"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@needs_nvrtc
def test_a_zero_byte_does_not_end_a_text() -> None:
    assert compile_cuda("// a zero byte \0 here\n" + SCALE, name="scale.cu").kernels == ("scale",)
