import csv
import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arch import ARCHITECTURES, Architecture, architecture
from gpuviz.arch.occupancy import occupancy, waves
from gpuviz.base.errors import InputError

VECTORS = Path(__file__).parents[1] / "data" / "occupancy_vectors.csv.gz"


def vectors() -> Iterator[dict[str, int | None | str]]:
    """What cuda_occupancy.h computes (CUDA 7.0 for 1.x and 2.x, 13.5 for all others)."""
    with gzip.open(VECTORS, "rt", encoding="utf-8") as text:
        for row in csv.DictReader(text):
            yield {k: v if k == "cc" else int(v) if v else None for k, v in row.items()}


def test_equals_the_header_in_every_vector() -> None:
    seen = set()
    for row in vectors():
        arch = architecture(str(row["cc"]))
        seen.add(arch)
        got = occupancy(arch, row["block_size"], row["regs_per_thread"], row["dyn_smem_bytes"])
        limits = {f"limit_{k}": v for k, v in got.limits.items()}
        assert (got.blocks, got.allocated_registers, got.allocated_shared) == (
            row["active_blocks"],
            row["allocated_regs_per_block"],
            row["allocated_smem_per_block"],
        ), row
        assert limits == {
            "limit_blocks": row["limit_blocks"],
            "limit_warps": row["limit_warps"],
            "limit_registers": row["limit_regs"],
            "limit_shared": row["limit_smem"],
        }, row
    assert seen == set(ARCHITECTURES)


# Lecture "CUDA 2da parte": block shapes of an sgemm with 16 registers on a Tesla C2070.
@pytest.mark.parametrize(
    ("x", "y", "published", "limiter"),
    [
        (8, 8, 0.33, "blocks"),
        (16, 16, 1.0, "warps"),
        (32, 32, 0.66, "warps"),
        (8, 16, 0.66, "blocks"),
        (16, 8, 0.66, "blocks"),
        (2, 32, 0.33, "blocks"),
        (32, 2, 0.33, "blocks"),
        (32, 5, 0.83, "blocks"),
    ],
)
def test_block_shapes_of_a_c2070(x: int, y: int, published: float, limiter: str) -> None:
    got = occupancy(architecture("2.0"), x * y, 16)
    assert int(got.fraction * 100) / 100 == published
    assert got.limiters == (limiter,)


# G80 lecture: 16 x 16 threads, 8192 registers.
@pytest.mark.parametrize(("registers", "blocks"), [(10, 3), (11, 2)])
def test_register_cliff_of_a_g80(registers: int, blocks: int) -> None:
    assert occupancy(architecture("1.0"), 256, registers).blocks == blocks


def textbook() -> Architecture:
    """The multiprocessor of the tutorials: 1536 threads, 8 blocks, 16384 registers, 16 KB."""
    return replace(architecture("2.0"), registers=16384, shared=16384, shared_per_block_optin=16384)


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    [
        (512, 0, 0, 3),
        (256, 0, 0, 6),
        (128, 0, 0, 8),
        (256, 10, 0, 6),
        (256, 12, 0, 5),
        (256, 0, 2048, 6),
    ],
)
def test_cliffs_of_the_tutorials(threads: int, registers: int, shared: int, blocks: int) -> None:
    got = occupancy(textbook(), threads, registers, shared)
    assert (got.blocks, got.threads) == (blocks, blocks * threads)


def test_eight_blocks_of_2_kb_fit_16_kb_of_shared_memory() -> None:
    assert occupancy(textbook(), 256, 0, 2048).limits["shared"] == 8


# Nsight Compute reports: registers, shared bytes, carve-out -> limits of NVIDIA's sample kernels.
@pytest.mark.parametrize(
    ("version", "registers", "shared", "capacity", "limits"),
    [
        ("8.6", 16, 0, 8192, (16, 16, 8, 6)),
        ("8.6", 24, 4096, 65536, (16, 10, 12, 6)),
        ("8.6", 22, 0, 8192, (16, 10, 8, 6)),
        ("7.0", 26, 0, None, (32, 8, None, 8)),
    ],
)
def test_limits_in_nsight_compute_reports(
    version: str, registers: int, shared: int, capacity: int | None, limits: object
) -> None:
    got = occupancy(architecture(version), 256, registers, shared, capacity).limits
    assert (got["blocks"], got["registers"], got["shared"], got["warps"]) == limits


@pytest.mark.parametrize(
    ("grid", "blocks", "multiprocessors", "published"),
    [
        (4096, 6, 26, 26.26),
        (12288, 6, 26, 78.77),
        (65536, 6, 56, 195.05),
        (4096, 6, 56, 12.19),
        (64, 8, 80, 0.10),
    ],
)
def test_waves(grid: int, blocks: int, multiprocessors: int, published: float) -> None:
    assert round(waves(grid, blocks, multiprocessors), 2) == published


@given(
    st.sampled_from(ARCHITECTURES),
    st.integers(1, 1024),
    st.integers(0, 63),
    st.integers(0, 48 * 1024),
)
def test_more_of_anything_never_fits_better(
    arch: Architecture, threads: int, registers: int, shared: int
) -> None:
    blocks = occupancy(arch, threads, registers, shared).blocks
    assert occupancy(arch, threads, registers, shared + 1).blocks <= blocks
    assert occupancy(arch, threads + 1, registers, shared).blocks <= blocks


@pytest.mark.parametrize("bad", [(0, 1, 0), (32, -1, 0), (32, 1, -1)])
def test_nonsense_is_refused(bad: tuple[int, int, int]) -> None:
    with pytest.raises(InputError, match="cannot be"):
        occupancy(architecture("9.0"), *bad)


def test_waves_of_a_kernel_that_does_not_fit() -> None:
    with pytest.raises(InputError):
        waves(10, 0, 132)
