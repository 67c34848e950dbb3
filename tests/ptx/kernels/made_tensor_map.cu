// A map of 100 floats, made field by field, and a box of 64 of them fetched by it.
#define FIELD(name, value) \
    asm volatile("tensormap.replace.tile." name ".global.b1024.b32 [%0], " value ";" ::"l"(map) : "memory")

extern "C" __global__ void made(const float *in, float *out, unsigned char *map)
{
    __shared__ alignas(128) float box[64];
    __shared__ unsigned long long full;
    unsigned at = __cvta_generic_to_shared(box), bar = __cvta_generic_to_shared(&full);
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(map), "l"(in) : "memory");
        FIELD("rank", "0");
        FIELD("box_dim", "0, 64");
        FIELD("global_dim", "0, 100");
        FIELD("element_stride", "0, 1");
        FIELD("elemtype", "7");
        FIELD("interleave_layout", "0");
        FIELD("swizzle_mode", "0");
        FIELD("fill_mode", "0");
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(bar) : "memory");
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];"
                     ::"r"(at), "l"(map), "r"(64), "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again;}" ::"r"(bar) : "memory");
    out[threadIdx.x] = box[threadIdx.x];
}
