// Integers: hashes, checksums, bit fields, wide products, packed bytes.
typedef unsigned int u32;
typedef unsigned long long u64;
__constant__ u32 K[64] = {
#define ROW(a, b, c, d, e, f, g, h) 0x##a, 0x##b, 0x##c, 0x##d, 0x##e, 0x##f, 0x##g, 0x##h,
    ROW(428a2f98, 71374491, b5c0fbcf, e9b5dba5, 3956c25b, 59f111f1, 923f82a4, ab1c5ed5)
    ROW(d807aa98, 12835b01, 243185be, 550c7dc3, 72be5d74, 80deb1fe, 9bdc06a7, c19bf174)
    ROW(e49b69c1, efbe4786, 0fc19dc6, 240ca1cc, 2de92c6f, 4a7484aa, 5cb0a9dc, 76f988da)
    ROW(983e5152, a831c66d, b00327c8, bf597fc7, c6e00bf3, d5a79147, 06ca6351, 14292967)
    ROW(27b70a85, 2e1b2138, 4d2c6dfc, 53380d13, 650a7354, 766a0abb, 81c2c92e, 92722c85)
    ROW(a2bfe8a1, a81a664b, c24b8b70, c76c51a3, d192e819, d6990624, f40e3585, 106aa070)
    ROW(19a4c116, 1e376c08, 2748774c, 34b0bcb5, 391c0cb3, 4ed8aa4a, 5b9cca4f, 682e6ff3)
    ROW(748f82ee, 78a5636f, 84c87814, 8cc70208, 90befffa, a4506ceb, bef9a3f7, c67178f2)};
__device__ u32 rotate(u32 x, int n) { return x >> n | x << (32 - n); }
extern "C" __global__ void sha256(const u32 *block, u32 *out) {  // one padded block a thread
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    u32 w[64];
    for (int i = 0; i < 16; i++) w[i] = __byte_perm(block[id * 16 + i], 0, 0x0123);
    for (int i = 16; i < 64; i++) {
        u32 s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        u32 s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    u32 s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                0x5be0cd19};
    u32 v[8];
    for (int i = 0; i < 8; i++) v[i] = s[i];
    for (int i = 0; i < 64; i++) {
        u32 a = v[0], e = v[4];
        u32 t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & v[5]) ^ (~e & v[6])) +
                 K[i] + w[i];
        u32 t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--) v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) out[id * 8 + i] = __byte_perm(s[i] + v[i], 0, 0x0123);
}
extern "C" __global__ void crc32(const unsigned char *data, int length, u32 *out) {
    __shared__ u32 table[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        u32 c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    __syncthreads();
    const unsigned char *mine = data + (blockIdx.x * blockDim.x + threadIdx.x) * length;
    u32 c = ~0u;
    for (int i = 0; i < length; i++) c = table[(c ^ mine[i]) & 255] ^ c >> 8;
    out[blockIdx.x * blockDim.x + threadIdx.x] = ~c;
}
extern "C" __global__ void words(const u32 *x, const u32 *y, const u32 *z, u32 *out, int n) {
    int i = threadIdx.x, k = 0;
    if (i >= n) return;
    u32 a = x[i], b = y[i], c = z[i], *o = out + i;
#define PUT(value) o[n * k++] = (u32)(value)
    PUT(a + b * c); PUT(a - b); PUT(a / (b | 1)); PUT(a % (b | 1)); PUT((int)a / (int)(b | 1));
    PUT((int)a % (int)(b | 1)); PUT(__umulhi(a, b)); PUT(__mulhi((int)a, (int)b)); PUT(a << (b & 31));
    PUT(a >> (b & 31)); PUT((int)a >> (b & 31)); PUT(__popc(a)); PUT(__clz(a >> 5)); PUT(__ffs(a & 0xff00));
    PUT(__brev(a)); PUT(__byte_perm(a, b, c)); PUT(__funnelshift_l(a, b, c)); PUT(__funnelshift_rc(a, b, c & 63));
    PUT(__dp4a(a, b, c)); PUT(__dp4a((int)a, (int)b, (int)c)); PUT(__sad((int)a, (int)b, c)); PUT(__usad(a, b, c));
    PUT((a & b) ^ (~c | a)); PUT(a > b ? c : ~c); PUT(min((int)a, (int)b)); PUT(max(a, b)); PUT(abs((int)a));
    PUT(__mul24((int)a, (int)b)); PUT(__umul24(a, b)); PUT(__hadd((int)a, (int)b)); PUT(__urhadd(a, b));
    PUT(a >> 3 & 0x1ff); PUT((int)(a << 7) >> 20); PUT((a & 0xffff0000u) | (b >> 16)); PUT(a == 0);
    PUT(__vadd4(a, b)); PUT(__vabsdiffu4(a, b)); PUT(__vcmpgtu2(a, b)); PUT(__vmaxs4(a, b)); PUT(__vsadu4(a, b));
    PUT((signed char)a); PUT((short)b); PUT((unsigned char)a * (unsigned char)b); PUT((short)a * (short)b);
    PUT(a / 7); PUT((int)a / 10); PUT(a % 1000); PUT((unsigned short)a / (unsigned short)(b | 1));
    PUT(__vimax3_s32((int)a, (int)b, (int)c)); PUT(__fns(a, 3, 1));
}
extern "C" __global__ void longs(const u64 *x, const u64 *y, u64 *out, int n) {
    int i = threadIdx.x, k = 0;
    if (i >= n) return;
    u64 a = x[i], b = y[i], *o = out + i;
#undef PUT
#define PUT(value) o[n * k++] = (u64)(value)
    PUT(a + b); PUT(a - b); PUT(a * b); PUT(a / (b >> 20 | 1)); PUT(a % (b >> 20 | 1));
    PUT((long long)a / (long long)(b | 1)); PUT((long long)a % (long long)(b >> 30 | 1));
    PUT(__umul64hi(a, b)); PUT(__mul64hi((long long)a, (long long)b)); PUT(a << (b & 63)); PUT(a >> (b & 63));
    PUT((long long)a >> (b & 63)); PUT(__popcll(a)); PUT(__clzll(a >> 9)); PUT(__ffsll(a & ~0xfull)); PUT(__brevll(a));
    PUT((u64)(u32)a * (u32)b); PUT((long long)(int)a * (int)b); PUT((u64)(double)(a >> 12)); PUT((u64)(float)(a & 0xffff));
    PUT(min((long long)a, (long long)b)); PUT(max(a, b)); PUT(a < b); PUT((long long)a < (long long)b);
    u64 low, high;
    asm("{ mad.lo.cc.u64 %0, %2, %3, %2; madc.hi.u64 %1, %2, %3, 0; }"
        : "=&l"(low), "=l"(high) : "l"(a), "l"(b));
    PUT(low); PUT(high);
    asm("{ add.cc.u64 %0, %2, %3; addc.u64 %1, 0, 0; }" : "=l"(low), "=l"(high) : "l"(a), "l"(b));
    PUT(low); PUT(high);
}
extern "C" __global__ void substitute(const uint4 *state, uint4 *out, const unsigned char *box, int rounds) {
    __shared__ unsigned char s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = box[i];
    __syncthreads();
    uint4 v = state[threadIdx.x];
    unsigned char *bytes = (unsigned char *)&v;
    for (int r = 0; r < rounds; r++) {
        unsigned char next[16];
        for (int i = 0; i < 16; i++) next[i] = s[bytes[(i * 5) % 16]] ^ (unsigned char)(r + i);
        for (int i = 0; i < 16; i++) bytes[i] = next[i] << 1 ^ (next[i] >> 7) * 0x1b;
    }
    out[threadIdx.x] = v;
}
