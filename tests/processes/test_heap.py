"""One heap for all threads."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
import ctypes, sys, threading
from gpuviz.processes import memory

if sys.argv[1] == "together":
    memory.keep_together()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
going = threading.Barrier(9)

def work():
    libc.malloc(ctypes.c_size_t(10_000))
    going.wait()

for _ in range(8):
    threading.Thread(target=work).start()
file = ctypes.c_void_p(libc.fopen(sys.argv[2].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
going.wait()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it is the C library of GNU that has several")
@pytest.mark.parametrize("how", ["together", "apart"])
def test_threads_have_one_heap(how: str, tmp_path: Path) -> None:
    report = tmp_path / "heap.xml"
    subprocess.run([sys.executable, "-c", CODE, how, str(report)], cwd=ROOT, check=True)
    heaps = report.read_text().count("<heap ")
    assert heaps == 1 if how == "together" else heaps > 1
