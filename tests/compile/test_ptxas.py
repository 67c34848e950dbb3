"""Clusters whose size the launch says, of code that was compiled without one."""

from __future__ import annotations

import numpy as np
import pytest

import gpuviz
from gpuviz.base.errors import LaunchError
from gpuviz.compile import in_clusters, ptx_program

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(
    .param .u64 D
)
.maxntid 32, 1, 1
{
.reg .b32 %r<12>; .reg .b64 %d<4>; .shared .align 4 .b32 own;
ld.param.u64 %d0, [D]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, own; st.shared.u32 [%r1], %r0;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1; mapa.shared::cluster.u32 %r4, %r1, %r3;
ld.shared::cluster.u32 %r5, [%r4]; mov.u32 %r6, %cluster_nctarank; mad.lo.u32 %r7, %r6, 100, %r5;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r7;
ret; }
"""


def test_blocks_read_each_others_memory_in_clusters_of_the_launch() -> None:
    run = gpuviz.trace(KERNEL, 4, 32, (np.zeros(4, np.uint32),), cluster=2)
    (found,) = run.arrays.values()
    assert found.tolist() == [201, 200, 203, 202]
    assert "k  4 x 32" in repr(run) and not run.findings


def test_lines_of_the_text_stay_where_they_are() -> None:
    made = in_clusters(ptx_program(KERNEL), "k", (2, 1, 1)).ptx.splitlines()
    plain = KERNEL.splitlines()
    assert [n for n, (a, b) in enumerate(zip(made, plain, strict=True)) if a != b] == [7]


@pytest.mark.parametrize(
    ("text", "cluster", "why"),
    [
        (KERNEL, (32, 1, 1), "give 1 to 16"),
        (KERNEL.replace("sm_90", "sm_80"), (2, 1, 1), "need sm_90: this code is for sm_80"),
        (KERNEL.replace(".maxntid", ".reqnctapercluster 2\n.maxntid"), (2, 1, 1), "leave out"),
    ],
)
def test_what_cannot_run_in_clusters_says_why(
    text: str, cluster: tuple[int, int, int], why: str
) -> None:
    with pytest.raises(LaunchError, match=why):
        in_clusters(ptx_program(text), "k", cluster)
