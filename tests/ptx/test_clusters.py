"""Clusters: of one block each."""

import numpy as np

from tests.ptx.launching import outputs


def test_a_cluster_is_one_block() -> None:
    source = """
extern "C" __global__ void k(unsigned* out)
{
    __shared__ unsigned s[32];
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]), mapped, rank, generic;
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(mapped) : "r"(at));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(mapped));
    asm("getctarank.u64 %0, %1;" : "=r"(generic) : "l"(&s[threadIdx.x]));
    out[threadIdx.x] = (mapped - at) + rank + generic;
}
"""
    (out,) = outputs(source, "k", 1, 32, np.full(32, 7, np.uint32), arch="sm_90")
    assert not out.any()
