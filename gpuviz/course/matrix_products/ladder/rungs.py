"""The rungs of the ladder: kernels of one product, each one idea beyond the one below it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from gpuviz.base import resources
from gpuviz.files import bounded
from gpuviz.story.lesson import Plan
from gpuviz.words.language import later

FP32, TF32, TENSOR, WGMMA = (f"ladder{name}.cu" for name in ("", "_tf32", "_tensor", "_wgmma"))
_WIDE, _LOW = 32, 16  # of blocks that are tiles, and where 1024 threads are too many
_STAGE = 4 * 8 * (64 + 4 + 128)  # bytes of both tiles of a stage of the last fp32 kernel,
_ROUNDED = 4 * (128 * 20 + 16 * 264)  # with tf32,
_THIN = 2 * (128 * 32 + 32 * 256)  # with mma,
_HALVES = 2 * (128 * 64 + 64 * 256)  # with wgmma, where they begin at a multiple of:
_EDGE = 1024


@dataclass(frozen=True)
class Rung:
    """A kernel: what is new in it, what it gains and why; what it costs, where it gains nothing.

    `tile` is what a block computes, rows by columns; `shared` bytes of dynamic shared
    memory; `boxes` says that M and N are tensor maps.
    """

    entry: str
    name: str
    idea: str
    why: str
    tile: tuple[int, int]
    block: tuple[int, int, int]
    shared: int = 0
    kernel: str = FP32
    boxes: bool = False
    cost: str = ""

    def _factors(self, side: int) -> tuple[str, str]:
        """M and N as arguments."""
        if self.boxes:
            box = f"tensormap(f16[{side},{side}]=rand, box={{}}x64, swizzle=128)"
            return box.format(128), box.format(64)
        kind = "f16" if self.numbers == "fp16" else "f32"
        return f"{kind}[{side**2}]=rand", f"{kind}[{side**2}]=rand"

    @property
    def numbers(self) -> str:
        """What is multiplied, by which the units, and cuBLAS, have another speed."""
        return {FP32: "fp32", TF32: "tf32"}.get(self.kernel, "fp16")

    @property
    def unread(self) -> bool:
        """Whether tensor cores read shared memory by themselves, so that no lane does."""
        return self.kernel == WGMMA

    @property
    def on_tensor_cores(self) -> bool:
        """Whether tensor cores multiply."""
        return self.kernel != FP32

    def plan(self, role: str, side: int) -> Plan:
        """The launch for matrices of so many rows and columns."""
        rows, columns = self.tile
        shape = (side // columns, side // rows, 1), self.block
        arguments = (*self._factors(side), f"f32[{side**2}]=zeros", f"i32={side}")
        size = f"{side} × {side}"
        made = Plan(
            role, self.kernel, self.entry, *shape, arguments, dynamic_shared=self.shared, size=size
        )
        if self.tile != (_WIDE, _WIDE):
            return made
        grid, block = (side // _LOW, side // _LOW, 1), (_LOW, _LOW, 1)
        low = replace(made, grid=grid, block=block, defines=(("WIDTH", str(_LOW)),))
        return replace(made, otherwise=low)


_SQUARE, _WIDER, _THREADS = (128, 128), (128, 256), (256, 1, 1)

RUNGS = (
    Rung(
        "naive",
        later("down a column"),
        later("A thread computes a cell; lanes of a warp are one below the other"),
        later("Each lane reads M in a line of its own: a warp's load touches 32 lines."),
        (32, 32),
        (32, 32, 1),
    ),
    Rung(
        "coalesced",
        later("coalesced"),
        later("x and y change places: lanes of a warp are side by side"),
        later("A row of N comes in one line, the number of M is one for all lanes."),
        (32, 32),
        (32, 32, 1),
    ),
    Rung(
        "tiled",
        later("tiles"),
        later("A block loads tiles into shared memory, for all its threads"),
        later("Global memory is asked for each number 32 times less often; shared memory instead."),
        (32, 32),
        (32, 32, 1),
    ),
    Rung(
        "strip",
        later("8 cells a thread"),
        later("A thread computes 8 cells of a column"),
        later("What it reads of N stays in a register for 8 products."),
        (64, 64),
        (512, 1, 1),
    ),
    Rung(
        "square",
        later("8 × 8 cells a thread"),
        later("A thread computes 8 × 8 cells"),
        later("8 + 8 numbers in registers make 64 products: shared memory is no longer the limit."),
        _SQUARE,
        _THREADS,
    ),
    Rung(
        "vectors",
        later("four at a time"),
        later("Loads of four numbers: a quarter of the instructions"),
        later("Fewer instructions, but lanes now meet in banks: the wavefronts grow."),
        _SQUARE,
        _THREADS,
    ),
    Rung(
        "conflict_free",
        later("no conflicts"),
        later("Cells of a thread in two halves, rows padded: no bank is asked twice"),
        later("Neighbouring lanes read neighbouring words again, four each."),
        _SQUARE,
        _THREADS,
    ),
    Rung(
        "double_buffer",
        later("double buffer"),
        later("cp.async copies the next tiles while these are multiplied"),
        later("Nobody waits for memory with nothing to do, and one barrier a tile is enough."),
        _SQUARE,
        _THREADS,
    ),
    Rung(
        "warp_tiles",
        later("warp tiles"),
        later("A warp computes 32 × 64 cells, its lanes 4 × 8, neighbours in pairs"),
        later("Pairs of lanes that read the same are served together: fewer wavefronts."),
        _SQUARE,
        _THREADS,
    ),
    Rung(
        "wide",
        later("16 × 8 cells a thread"),
        later("A thread computes 16 × 8 cells, a warp 64 × 64; a ring of three tiles"),
        later("24 numbers read serve 128 products, where 16 served 64: fewer instructions read."),
        (64, 128),
        (64, 1, 1),
        3 * _STAGE,
    ),
    Rung(
        "tf32",
        later("tf32"),
        later("mma multiplies the same floats, rounded to tf32: 10 bits behind the point"),
        later("Tensor cores make eight times as many products a cycle, of coarser numbers."),
        _WIDER,
        _THREADS,
        3 * _ROUNDED,
        TF32,
    ),
    Rung(
        "tensor",
        later("tensor cores"),
        later("mma: a warp multiplies 16 × 16 by 16 × 8 halves with one instruction"),
        later("A small fraction of the instructions; the lanes' small loads are the limit now."),
        _WIDER,
        _THREADS,
        kernel=TENSOR,
        cost=later("Lanes load a number or two, and wait for each tile: the next rungs mend that."),
    ),
    Rung(
        "matrices",
        later("ldmatrix"),
        later("ldmatrix brings four matrices of 8 × 8 halves to the lanes that hold them"),
        later("A sixth of the loads, but rows of a matrix meet in banks: as many wavefronts."),
        _WIDER,
        _THREADS,
        kernel=TENSOR,
        cost=later("Rows of a matrix meet in banks: a sixth of the loads, as many wavefronts."),
    ),
    Rung(
        "swizzled",
        later("swizzle"),
        later("Pieces of 16 bytes change places within their row, by XOR"),
        later("Eight rows of a matrix lie in all 32 banks: reads take a sixth of the wavefronts."),
        _WIDER,
        _THREADS,
        kernel=TENSOR,
    ),
    Rung(
        "pipelined",
        later("ring for mma"),
        later("cp.async copies tiles into a ring of four, past the registers"),
        later("Tensor cores no longer wait for memory, and one barrier a tile is enough."),
        _WIDER,
        _THREADS,
        4 * _THIN,
        TENSOR,
    ),
    Rung(
        "ahead",
        later("fragments ahead"),
        later("Fragments of the next 16 k are loaded while those of these are multiplied"),
        later("As many instructions, but what ldmatrix loads has a step's time to arrive."),
        _WIDER,
        _THREADS,
        4 * _THIN,
        TENSOR,
    ),
    Rung(
        "groups",
        later("wgmma"),
        later("wgmma: four warps multiply 64 × 16 by 16 × 256, straight from shared memory"),
        later("No fragments to load: tensor cores read the tiles themselves, the warps only wait."),
        _WIDER,
        _THREADS,
        4 * _HALVES + _EDGE,
        WGMMA,
    ),
    Rung(
        "tma",
        later("TMA"),
        later("One thread has TMA fetch boxes of M and N; barriers count their bytes"),
        later("No addresses, no copies by threads: eight warps do nothing but multiply."),
        _WIDER,
        (288, 1, 1),
        4 * _HALVES + _EDGE,
        WGMMA,
        True,
    ),
)


@cache
def _texts(kernel: str) -> Mapping[str, tuple[str, ...]]:
    """The lines of each kernel of a file, below the comment with its number."""
    text = bounded.text(resources.path(f"kernels/{kernel}"))
    every = re.findall(r"^// \d+: .*?^}$", text, re.MULTILINE | re.DOTALL)
    return {
        re.findall(r"(\w+)\((?:In|const __grid)", one)[0]: tuple(one.splitlines()[1:])
        for one in every
    }


def text_of(rung: Rung) -> tuple[str, ...]:
    """The lines of its kernel."""
    return _texts(rung.kernel)[rung.entry]
