"""Headers that are no files: refused by name before any compiler opens them."""

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuviz.base.errors import InputError
from gpuviz.compile import load_program, nvrtc

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here"),
    pytest.mark.skipif(not nvrtc.libraries(), reason="needs NVRTC"),
]
KERNEL = 'extern "C" __global__ void k(int* a) { a[threadIdx.x] = 1; }\n'


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "socket": listening,
    "device": lambda path: path.symlink_to("/dev/zero"),
}
WAYS = {
    "quoted": '#include "{name}"\n',
    "angled": "#include <{name}>\n",
    "whole name": '#include "{folder}/{name}"\n',
    "macro": '#define H "{name}"\n#include H\n',
    "digraph": '/**/ %:include "{name}"\n',
    "splice": '#inc\\\nlude "{name}"\n',
    "header": '#include "between.h"\n',
    "with host code": '#include "{name}"\nint main() {{ k<<<1, 1>>>(nullptr); }}\n',
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_file_is_refused_at_once_by_name(kind: str, way: str, tmp_path: Path) -> None:
    KINDS[kind](tmp_path / "odd.h")
    (tmp_path / "between.h").write_text('#include "odd.h"\n')
    text = WAYS[way].format(name="odd.h", folder=tmp_path)
    (tmp_path / "k.cu").write_text(KERNEL + text if "host" in way else text + KERNEL)
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"cannot read .*odd\.h: "):
        load_program(tmp_path / "k.cu")
    assert time.monotonic() - begun < 5
