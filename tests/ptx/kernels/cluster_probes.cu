// What addresses, ranks and copies mean in a cluster: each writes numbers, which are compared.
#include "cluster_sums.cu"
#define CLUSTER(name, x, y, z) extern "C" __global__ void __cluster_dims__(x, y, z) name(u32* out)
__device__ u32 special(int which)
{
    u32 v = 0;
    switch (which) {
    case 0: asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v)); break;
    case 1: asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(v)); break;
    case 2: asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(v)); break;
    case 3: asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(v)); break;
    case 4: asm volatile("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(v)); break;
    case 5: asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(v)); break;
    case 6: asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(v)); break;
    case 7: asm volatile("mov.u32 %0, %%clusterid.z;" : "=r"(v)); break;
    case 8: asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(v)); break;
    case 9: asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(v)); break;
    case 10: asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(v)); break;
    case 11: asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(v)); break;
    }
    return v;
}
__device__ u32 number() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
__device__ void places(u32* out)
{
    for (int i = 0; i < 12; ++i)
        if (threadIdx.x == 0) out[number() * 12 + i] = special(i);
}
CLUSTER(places_2_1_1, 2, 1, 1) { places(out); }
CLUSTER(places_1_2_1, 1, 2, 1) { places(out); }
CLUSTER(places_2_2_1, 2, 2, 1) { places(out); }
CLUSTER(places_1_1_2, 1, 1, 2) { places(out); }
CLUSTER(places_4_2_1, 4, 2, 1) { places(out); }

// Addresses: 16 numbers a block.
CLUSTER(addresses, 4, 1, 1)
{
    __shared__ u32 first[32];
    __shared__ u32 handed[4];
    u32 me = rank(), t = threadIdx.x, got, v;
    u64 generic;
    first[t] = me * 1000 + t;
    if (t < 4) handed[t] = 0;
    everybody();
    // the own address, written into the next block, which reads there what it names
    if (t == 0)
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(mapped(at(handed), (me + 1) % 4)), "r"(at(&first[5])) : "memory");
    everybody();
    if (t == 0) {
        u32* o = out + blockIdx.x * 16;
        o[0] = at(first) >> 24;
        o[1] = mapped(at(first), me) >> 24;
        o[2] = mapped(at(first), (me + 1) % 4) >> 24;
        o[3] = mapped(mapped(at(first), (me + 1) % 4), (me + 2) % 4) >> 24;
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(handed[0]) : "memory");
        o[4] = got;
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(at(&first[6]) & 0xffffff) : "memory");
        o[5] = got;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&first[7]), "r"((me + 3) % 4));
        o[6] = *(u32*)generic;
        o[7] = (u32)(generic >> 24) & 255;
        o[8] = (u32)((u64)&first[0] >> 24) & 255;
        asm volatile("{.reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(v) : "l"(generic));
        o[9] = v;
        asm volatile("{.reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(v) : "l"(generic));
        o[10] = v;
        asm volatile("{.reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(v) : "l"(&first[0]));
        o[11] = v;
        asm volatile("getctarank.u64 %0, %1;" : "=r"(v) : "l"(generic));
        o[12] = v;
        asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v) : "r"(mapped(at(first), 2)));
        o[13] = v;
        asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(v) : "r"(at(first)));
        o[14] = v;
        o[15] = (u32)__cvta_generic_to_shared((void*)generic) >> 24;
    }
    everybody();
}

// ld.shared (the own block's) with the address of another block, with its rank and without.
CLUSTER(foreign, 4, 1, 1)
{
    __shared__ alignas(16) u32 first[32];
    u32 me = rank(), t = threadIdx.x, got;
    first[t] = me * 1000 + t;
    if (t == 0) init(at(&first[16]), 2);
    everybody();
    if (t == 0) {
#ifdef OTHER
        u32 from = mapped(at(&first[3]), (me + 1) % 4);
#else
        u32 from = at(&first[3]) & 0xffffff;
#endif
        got = 4242;
#if KIND == 0
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(got) : "r"(from) : "memory");
#elif KIND == 1
        asm volatile("st.shared.u32 [%0], %1;" :: "r"(from), "r"(me + 70) : "memory");
#elif KIND == 2
        asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(got) : "r"(from) : "memory");
#elif KIND == 3
        asm volatile("red.shared.add.u32 [%0], 5;" :: "r"(from) : "memory");
#elif KIND == 4
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(from + 52) : "memory");
#elif KIND == 5
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\n cp.async.wait_all;" :: "r"(from), "l"(out + 100) : "memory");
#elif KIND == 6
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 0;" :: "r"(from + 52) : "memory");
#elif KIND == 7
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" : "=r"(got) : "r"(from + 52) : "memory");
#elif KIND == 8
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;\n cp.async.bulk.commit_group;\n cp.async.bulk.wait_group 0;" :: "l"(out + 48 + me * 4), "r"(from + 4) : "memory");
#endif
        out[blockIdx.x] = got;
    }
    everybody();
    if (t == 0) out[4 + blockIdx.x] = first[3], out[8 + blockIdx.x] = first[16], out[12 + blockIdx.x] = first[17];
    everybody();
}

// Where copies of one thread arrive, and whose barriers they tell: 32 numbers, 4 states a block.
CLUSTER(arrivals, 4, 1, 1)
{
    __shared__ alignas(128) u32 data[64];
    __shared__ alignas(8) u64 b[2];
    u32 me = rank(), t = threadIdx.x;
    for (int i = t; i < 64; i += 32) data[i] = 7777;
    const u32* in = out + 4 * 72;
    if (t == 0) {
        init(at(&b[0]), 1), init(at(&b[1]), 1);
        asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
    }
    everybody();
#ifdef WITH_EXPECT
    if (t == 0 && (WITH_EXPECT >> me & 1)) expect(at(&b[0]), 128);
    everybody();
#endif
    if (me == 2 && t == 0) {
        u32 to = at(data), bar = at(&b[0]);
#ifdef THERE
        to = mapped(to, 1), bar = mapped(bar, 1);
#endif
#if KIND == 0  // several
        multicast(to, in, 128, bar, 0xa);
#elif KIND == 1  // one
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                     :: "r"(to), "l"(in), "r"(bar) : "memory");
#elif KIND == 2  // between blocks
        for (int i = 0; i < 32; ++i) data[32 + i] = 500 + i;
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];"
                     :: "r"(to), "r"(at(data + 32)), "r"(bar) : "memory");
#elif KIND == 3  // the mbarrier named in another block than the data
        multicast(at(data), in, 128, mapped(bar, 3), 0xa);
#endif
    }
    late(50000);
    everybody();
    for (int i = t; i < 64; i += 32) out[blockIdx.x * 72 + i] = data[i];
    // whether the first phases are over
    for (int i = 0; i < 2; ++i) {
        u32 done;
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(at(&b[i])) : "memory");
        if (t == 0) out[blockIdx.x * 72 + 64 + i] = done;
    }
    // bytes that were not expected yet: an expectation of as many ends the phase
    everybody();
#ifdef WITH_EXPECT
    if (0) {
#else
    if (t == 0) {
#endif
        u32 done;
        expect(at(&b[0]), 128);
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                     : "=r"(done) : "r"(at(&b[0])) : "memory");
        out[blockIdx.x * 72 + 66] = done;
    }
    everybody();
}

// Arrivals in other blocks: with bytes, without, counts.
CLUSTER(remote, 2, 1, 1)
{
    __shared__ alignas(8) u64 b[4];
    u32 me = rank(), t = threadIdx.x, done;
    if (t == 0) {
        for (int i = 0; i < 4; ++i) init(at(&b[i]), i == 2 ? 3 : 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    everybody();
    if (me == 0 && t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 64;" :: "r"(mapped(at(&b[0]), 1)) : "memory");
        asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 32;" :: "r"(mapped(at(&b[1]), 1)) : "memory");
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], 3;" :: "r"(mapped(at(&b[2]), 1)) : "memory");
        arrive(mapped(at(&b[3]), 1));
    }
    everybody();
    auto state = [&](int from) {
        for (int i = 0; i < 4; ++i) {
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
                         : "=r"(done) : "r"(at(&b[i])) : "memory");
            if (t == 0) out[blockIdx.x * 12 + from + i] = done;
        }
    };
    state(0);
    everybody();
    if (me == 0 && t == 0)
        asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 64;" :: "r"(mapped(at(&b[0]), 1)) : "memory");
    if (t == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(&b[1])) : "memory");
    everybody();
    state(4);
    everybody();
    if (me == 0 && t == 0)
        asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 32;" :: "r"(mapped(at(&b[1]), 1)) : "memory");
    everybody();
    state(8);
    everybody();
}

// st.async into the next block, whose barrier counts its bytes.
CLUSTER(stores, 2, 1, 1)
{
    __shared__ alignas(128) u32 data[32];
    __shared__ alignas(8) u64 b;
    u32 me = rank(), t = threadIdx.x;
    if (t == 0) {
        init(at(&b), 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect(at(&b), 128);
    }
    data[t] = 1;
    everybody();
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :: "r"(mapped(at(&data[t]), me ^ 1)), "r"(me * 100 + t), "r"(mapped(at(&b), me ^ 1)) : "memory");
    wait(at(&b), 0);
    out[blockIdx.x * 32 + t] = data[t];
    everybody();
}
