import dataclasses
from typing import get_args

import pytest

from gpuviz.arch import ARCHITECTURES, SOURCES, Architecture, architecture
from gpuviz.arch.facts import Banking, Coalescing
from gpuviz.base.errors import InputError
from gpuviz.memory import banks, coalescing
from gpuviz.memory.atomics import way_of


@pytest.mark.parametrize("name", ["sm_90", "9.0", "90", "sm_90a", "compute_90", " SM_90 "])
def test_every_spelling_names_the_same(name: str) -> None:
    assert architecture(name).cc == (9, 0)


def test_two_digit_majors() -> None:
    assert [architecture(n).cc for n in ("sm_100", "103a", "12.1")] == [(10, 0), (10, 3), (12, 1)]


@pytest.mark.parametrize("name", ["", "9", "sm_", "10.8", "sm_99", "hopper", "sm_90b", "9.0.1"])
def test_unknown_names_list_the_known(name: str) -> None:
    with pytest.raises(InputError, match=r"is not known; choose one of 1\.0.*12\.1"):
        architecture(name)


def test_ordered_and_distinct() -> None:
    capabilities = [a.cc for a in ARCHITECTURES]
    assert capabilities == sorted(set(capabilities)) and len(capabilities) == 32


@pytest.mark.parametrize("arch", ARCHITECTURES, ids=str)
def test_facts_agree_with_each_other(arch: Architecture) -> None:
    assert architecture(arch.sm) is architecture(arch.version) is arch
    assert arch.sources and set(arch.sources) <= set(SOURCES)
    assert arch.max_threads == arch.max_warps * arch.warp
    assert arch.max_threads_per_block <= arch.max_threads
    assert arch.registers_per_block <= arch.registers
    assert arch.shared_per_block_optin <= arch.shared
    assert arch.has_sectors == (arch.cc >= (5, 0))


def test_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        architecture("9.0").warp = 64  # type: ignore[misc]


# 8600 GTS and GF100 as their device queries print them; H200 from PG 12.6, table 21.
@pytest.mark.parametrize(
    ("version", "grid", "block", "threads", "shared", "registers"),
    [
        ("1.1", (65535, 65535, 1), (512, 512, 64), 512, 16384, 8192),
        ("2.0", (65535, 65535, 65535), (1024, 1024, 64), 1024, 49152, 32768),
        ("9.0", (2**31 - 1, 65535, 65535), (1024, 1024, 64), 1024, 232448, 65536),
    ],
)
def test_launch_limits(
    version: str, grid: object, block: object, threads: int, shared: int, registers: int
) -> None:
    arch = architecture(version)
    assert (arch.max_grid, arch.max_block, arch.max_threads_per_block) == (grid, block, threads)
    assert (arch.shared_per_block_optin, arch.registers_per_block) == (shared, registers)


def test_every_rule_named_is_known() -> None:
    assert set(coalescing.RULES) == set(get_args(Coalescing))
    assert set(banks.RULES) == set(get_args(Banking))
    for arch in ARCHITECTURES:
        assert all(way_of(form, arch) for form in ("increment.u32", "add.f32", "cas.b32", ""))


def test_a_family_holds_until_the_next_begins() -> None:
    versions = ("1.3", "2.1", "6.0", "6.2", "7.5", "8.0", "9.0")
    lanes = [architecture(version).float_lanes for version in versions]
    assert lanes == [8, 48, 64, 128, 64, 64, 128]
