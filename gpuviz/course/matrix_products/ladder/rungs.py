"""The rungs of the ladder: kernels of one product, each one idea beyond the one below it."""

from dataclasses import dataclass, replace

from gpuviz.story.lesson import Plan
from gpuviz.words.language import texts

FP32, TF32, TENSOR, WGMMA = (f"ladder{name}.cu" for name in ("", "_tf32", "_tensor", "_wgmma"))
_WIDE, _LOW = 32, 16  # of blocks that are tiles, and where 1024 threads are too many


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


RUNGS = tuple(
    Rung(**row | {"tile": tuple(row["tile"]), "block": tuple(row["block"])})
    for row in texts("ladder")["rung"]
)
