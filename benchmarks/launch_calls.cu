// What CUDA's runtime returns for launches within and beyond limits, and for copies of __device__
// arrays by their names, each call asked. `launch_calls.py` builds it, tells it the launches on
// stdin (grid, block, dynamic shared bytes, elements), and reads a line of JSON for each.
#include <cstdio>
#include <cstring>
#include <vector>

#include "../resources/kernels/fma4.cu"

#ifdef WITH_CUPTI
#include <cupti.h>
#endif

static const int MOST = 1 << 25;
__device__ float a[MOST], b[MOST], c[MOST], d[MOST];

static float *pa, *pb, *pc, *pd;  // where the device has them
static std::vector<float> ha(MOST), hb(MOST), hc(MOST), hd(MOST);
static std::vector<int> kinds;  // of the copies that a profiler sees

#ifdef WITH_CUPTI
struct Copy {  // the first fields of every CUpti_ActivityMemcpy
    unsigned kind;
    unsigned char copy, source, target, flags;
    unsigned long long bytes;
};
static void CUPTIAPI asked(uint8_t** buffer, size_t* size, size_t* records)
{
    *size = 1 << 20;
    *buffer = (uint8_t*)aligned_alloc(8, *size);
    *records = 0;
}
static void CUPTIAPI filled(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid)
{
    CUpti_Activity* one = nullptr;
    while (cuptiActivityGetNextRecord(buffer, valid, &one) == CUPTI_SUCCESS)
        if (one->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
            kinds.push_back(((Copy*)one)->copy);
    free(buffer);
}
#endif

static void watch()
{
#ifdef WITH_CUPTI
    cuptiActivityRegisterCallbacks(asked, filled);
    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
#endif
}

static void seen()
{
    cudaDeviceSynchronize();
#ifdef WITH_CUPTI
    cuptiActivityFlushAll(1);
#endif
}

static const char* name(cudaError_t error)
{
    return cudaGetErrorName(error);
}

// As a program begins: arrays of zeros, no error left over.
static void fresh()
{
    for (float* p : {pa, pb, pc, pd})
        cudaMemset(p, 0, MOST * sizeof(float));
    cudaDeviceSynchronize();
    cudaGetLastError();
}

static void launch(dim3 grid, dim3 block, size_t shared, int n)
{
    cudaError_t raised[2] = {cudaSuccess, cudaSuccess};
    if (shared > 48 * 1024) {
        raised[0] = cudaFuncSetAttribute(set, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        raised[1] = cudaFuncSetAttribute(fma4, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        cudaGetLastError();
    }
    set<<<grid, block, shared>>>(pa, pb, pc, n);
    cudaError_t first = cudaGetLastError();
    fma4<<<grid, block, shared>>>(pa, pb, pc, pd, n);
    cudaError_t second = cudaGetLastError();
    cudaError_t waited = cudaDeviceSynchronize();
    cudaGetLastError();
    float at[2] = {0, 0};
    cudaMemcpy(&at[0], pd, sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(&at[1], pd + n - 1, sizeof(float), cudaMemcpyDeviceToHost);
    printf("{\"launch\": {\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"dynamic_shared\": %zu, "
           "\"elements\": %d, \"attribute\": [\"%s\", \"%s\"], \"set\": \"%s\", \"fma4\": \"%s\", "
           "\"synchronize\": \"%s\", \"first\": %.9g, \"last\": %.9g}}\n",
           grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, n, name(raised[0]),
           name(raised[1]), name(first), name(second), name(waited), at[0], at[1]);
}

// One way to bring four arrays to the host, after launches that ran, or after none.
template <class Way> static void copies(const char* way, bool ran, Way copied)
{
    const int n = 1 << 22;
    fresh();
    if (ran) {
        dim3 grid(1, n / 128);
        set<<<grid, 128>>>(pa, pb, pc, n);
        fma4<<<grid, 128>>>(pa, pb, pc, pd, n);
    }
    cudaDeviceSynchronize();
    cudaGetLastError();
    for (auto* host : {&ha, &hb, &hc, &hd})
        std::fill(host->begin(), host->end(), -1.0f);
    seen();
    kinds.clear();
    cudaError_t said[4];
    copied(said, n * sizeof(float));
    seen();
    int wrong = 0;
    for (int i = 0; i < n; ++i)
        wrong += !(std::abs(hd[i] - (ha[i] * hb[i] + hc[i])) < 1e-5f);
    printf("{\"copy\": {\"way\": \"%s\", \"ran\": %s, \"results\": [\"%s\", \"%s\", \"%s\", \"%s\"], "
           "\"values\": [%.9g, %.9g, %.9g, %.9g], \"wrong\": %d, \"elements\": %d, \"kinds\": [",
           way, ran ? "true" : "false", name(said[0]), name(said[1]), name(said[2]), name(said[3]),
           ha[0], hb[0], hc[0], hd[0], wrong, n);
    for (size_t i = 0; i < kinds.size(); ++i)
        printf("%s%d", i ? ", " : "", kinds[i]);
    printf("]}}\n");
    cudaGetLastError();
}

// One way to bring an array to the device: what `a` holds there afterwards.
template <class Way> static void sent(const char* way, Way copied)
{
    fresh();
    std::fill(ha.begin(), ha.end(), 3.0f);
    seen();
    kinds.clear();
    cudaError_t said = copied(sizeof(float) << 22);
    seen();
    int kind = kinds.empty() ? -1 : kinds[0];
    cudaGetLastError();
    float there = -1;
    cudaMemcpy(&there, pa, sizeof(float), cudaMemcpyDeviceToHost);
    printf("{\"sent\": {\"way\": \"%s\", \"result\": \"%s\", \"there\": %.9g, \"kind\": %d}}\n", way,
           name(said), there, kind);
    cudaMemset(pa, 0, sizeof(float));
}

int main()
{
    watch();
    cudaGetSymbolAddress((void**)&pa, a);
    cudaGetSymbolAddress((void**)&pb, b);
    cudaGetSymbolAddress((void**)&pc, c);
    cudaGetSymbolAddress((void**)&pd, d);
    cudaDeviceProp facts;
    int driver = 0, runtime = 0;
    cudaGetDeviceProperties(&facts, 0);
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("{\"device\": {\"name\": \"%s\", \"capability\": \"%d.%d\", \"driver\": %d, \"runtime\": %d}}\n",
           facts.name, facts.major, facts.minor, driver, runtime);
    unsigned g[3], t[3];
    size_t shared;
    int n;
    while (scanf("%u %u %u %u %u %u %zu %d", g, g + 1, g + 2, t, t + 1, t + 2, &shared, &n) == 8) {
        fresh();
        launch(dim3(g[0], g[1], g[2]), dim3(t[0], t[1], t[2]), shared, n);
    }
    for (bool ran : {true, false}) {
        copies("symbol", ran, [](cudaError_t* said, size_t bytes) {
            said[0] = cudaMemcpyFromSymbol(ha.data(), a, bytes);
            said[1] = cudaMemcpyFromSymbol(hb.data(), b, bytes);
            said[2] = cudaMemcpyFromSymbol(hc.data(), c, bytes);
            said[3] = cudaMemcpyFromSymbol(hd.data(), d, bytes);
        });
        for (int way = 0; way < 2; ++way) {
            cudaMemcpyKind kind = way ? cudaMemcpyDeviceToHost : cudaMemcpyDefault;
            copies(way ? "directed" : "default", ran, [kind](cudaError_t* said, size_t bytes) {
                said[0] = cudaMemcpy(ha.data(), a, bytes, kind);
                said[1] = cudaMemcpy(hb.data(), b, bytes, kind);
                said[2] = cudaMemcpy(hc.data(), c, bytes, kind);
                said[3] = cudaMemcpy(hd.data(), d, bytes, kind);
            });
        }
    }
    sent("symbol", [](size_t bytes) { return cudaMemcpyToSymbol(a, ha.data(), bytes); });
    sent("default", [](size_t bytes) { return cudaMemcpy(a, ha.data(), bytes, cudaMemcpyDefault); });
    sent("directed",
         [](size_t bytes) { return cudaMemcpy(a, ha.data(), bytes, cudaMemcpyHostToDevice); });
    return 0;
}
