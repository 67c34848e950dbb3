// P = M N with wgmma, which an H100 or H200 has: M and N of halves, sums and P of floats, all n x n
// and stored row by row; n is a multiple of 256. A block has 128 x 256 cells, four warps 64 x 256.
// The macros STAGES and GROUP tune both kernels.
#ifndef STAGES
#define STAGES 4
#endif
#ifndef GROUP
#define GROUP 0  // rows of blocks that go through all columns together; 0: one after the other
#endif

typedef unsigned short half;
typedef const half* __restrict__ In;
struct alignas(64) Map { unsigned long long opaque[16]; };

constexpr int PANEL = 64 * 64, STAGE = 128 * 64 + 4 * PANEL;  // halves: 64 x 64 of N; M and N

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define HOPPER(code) code
#else
#define HOPPER(code)
#endif

__device__ unsigned at(const void* to) { return (unsigned)__cvta_generic_to_shared(to); }

// Rows of 128 bytes whose pieces are swizzled, eight rows 1024 bytes before the next eight; panels
// of 64 columns lie `apart` bytes apart.
__device__ unsigned long long described(const half* from, int apart)
{
    return at(from) >> 4 | (unsigned long long)(apart >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

#define EIGHT(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), \
                 "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])

// c += a b of four warps: 64 x 16 by 16 x 256 elements in shared memory, while the warps go on.
__device__ void wgmma(float (&c)[128], unsigned long long a, unsigned long long b)
{
    HOPPER(asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
                 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
                 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
                 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
                 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
                 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
                 "}, %128, %129, 1, 1, 1, 0, 1;"
                 : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24),
                   EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56),
                   EIGHT(64), EIGHT(72), EIGHT(80), EIGHT(88),
                   EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120)
                 : "l"(a), "l"(b));)
}

// Four steps of 16 k: a stage of M's rows and N's panels.
__device__ void multiply(float (&c)[128], const half* Ms, const half* Ns)
{
    HOPPER(asm volatile("wgmma.fence.sync.aligned;" ::: "memory");)
#pragma unroll
    for (int k = 0; k < 64; k += 16)
        wgmma(c, described(Ms + k, 16), described(Ns + k * 64, PANEL * 2));
    HOPPER(asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");)
}

// All but the last LEFT stages have been multiplied.
template <int LEFT> __device__ void multiplied()
{
    HOPPER(asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(LEFT) : "memory");)
}

__device__ void copy(half* to, const half* from)
{
    HOPPER(asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                        :: "r"(at(to)), "l"(from) : "memory");)
}

// The sums of a warp, to its rows, of which P has the first cell.
__device__ void store(float* P, const float (&sum)[128], int n)
{
    P += threadIdx.x % 32 / 4 * n + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < 64; ++i)
        *(float2*)&P[i % 2 * 8 * n + i / 2 * 8] = make_float2(sum[i * 2], sum[i * 2 + 1]);
}

// Which block of cells a block has.
__device__ int2 place()
{
#if GROUP
    int n = blockIdx.y * gridDim.x + blockIdx.x, each = GROUP * gridDim.x, first = n / each * GROUP;
    int rows = min((int)gridDim.y - first, GROUP);
    return make_int2(n % each / rows * 256, (first + n % each % rows) * 128);
#else
    return make_int2(blockIdx.x * 256, blockIdx.y * 128);
#endif
}

__device__ half* aligned(half* to) { return to + (1024 - at(to) % 1024) % 1024 / 2; }

// 17: four warps multiply what lies in shared memory: nothing goes through registers but sums.
extern "C" __global__ void __launch_bounds__(256, 1) groups(In M, In N, float* P, int n)
{
    extern __shared__ half room[];
    half* tiles = aligned(room);
    int t = threadIdx.x;
    int2 first = place();
    M += (first.y + t / 8) * n + t % 8 * 8, N += t / 32 * n + first.x + t % 32 * 8;
    int row = t / 8 * 64 + (t ^ t / 8) % 8 * 8;
    int line = 128 * 64 + t / 8 % 4 * PANEL + t / 32 * 64 + (t ^ t / 32) % 8 * 8;
    float sum[128] = {};
    auto fill = [&](int k) {
        half* stage = tiles + k / 64 % STAGES * STAGE;
        if (k < n) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                copy(stage + row + i * 2048, M + i * 32 * n + k);
#pragma unroll
            for (int i = 0; i < 8; ++i)
                copy(stage + line + i * 512, N + (k + i * 8) * n);
        }
        HOPPER(asm volatile("cp.async.commit_group;" ::: "memory");)
    };
#pragma unroll
    for (int i = 0; i < STAGES - 2; ++i)
        fill(i * 64);
    for (int k = 0; k < n; k += 64) {
        HOPPER(asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 3) : "memory");)
        HOPPER(asm volatile("fence.proxy.async.shared::cta;" ::: "memory");)
        __syncthreads();
        half* stage = tiles + k / 64 % STAGES * STAGE;
        multiply(sum, stage + t / 128 * PANEL, stage + 128 * 64);
        fill(k + (STAGES - 2) * 64);
        multiplied<1>();
    }
    multiplied<0>();
    store(P + (first.y + t / 32 * 16) * n + first.x, sum, n);
}

__device__ void wait(const unsigned long long& barrier, int parity)
{
    HOPPER(asm volatile("{.reg .pred p;\n again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                        "@!p bra again; }" :: "r"(at(&barrier)), "r"(parity) : "memory");)
}

// A box of a matrix, from column x and row y on; the barrier hears of its bytes.
__device__ void fetch(half* to, const Map& from, int x, int y, const unsigned long long& barrier)
{
    HOPPER(asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
                        "[%0], [%1, {%2, %3}], [%4];" :: "r"(at(to)), "l"(&from), "r"(x), "r"(y),
                        "r"(at(&barrier)) : "memory");)
}

// 18: one warp has TMA fetch boxes of M and N; the others only multiply.
extern "C" __global__ void __launch_bounds__(288, 1)
tma(const __grid_constant__ Map M, const __grid_constant__ Map N, float* P, int n)
{
    extern __shared__ half room[];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    half* tiles = aligned(room);
    int t = threadIdx.x;
    int2 first = place();
    if (t == 0) {
        for (int i = 0; i < STAGES; ++i) {
            HOPPER(asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(at(&full[i])) : "memory");)
            HOPPER(asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(at(&empty[i])) : "memory");)
        }
        HOPPER(asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");)
        HOPPER(asm volatile("fence.proxy.async.shared::cta;" ::: "memory");)
    }
    __syncthreads();
    if (t >= 256) {
        if (t == 256)
            for (int k = 0, i = 0, parity = 1; k < n; k += 64) {
                wait(empty[i], parity);
                HOPPER(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                                    :: "r"(at(&full[i])), "r"(STAGE * 2) : "memory");)
                half* stage = tiles + i * STAGE;
                fetch(stage, M, k, first.y, full[i]);
                for (int part = 0; part < 4; ++part)
                    fetch(stage + 128 * 64 + part * PANEL, N, first.x + part * 64, k, full[i]);
                if (++i == STAGES)
                    i = 0, parity ^= 1;
            }
        return;
    }
    float sum[128] = {};
    int last = -1;
    for (int k = 0, i = 0, parity = 0; k < n; k += 64) {
        wait(full[i], parity);
        half* stage = tiles + i * STAGE;
        multiply(sum, stage + t / 128 * PANEL, stage + 128 * 64);
        multiplied<1>();
        if (last >= 0 && t % 128 == 0)
            HOPPER(asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(at(&empty[last])) : "memory");)
        last = i;
        if (++i == STAGES)
            i = 0, parity ^= 1;
    }
    multiplied<0>();
    store(P + (first.y + t / 32 * 16) * n + first.x, sum, n);
}
