"""Textures and surfaces are taken as the host code describes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuviz.compile import load_program, written_launches
from gpuviz.launch.host_launch import proposed_by
from gpuviz.launch.texts import Kernel
from gpuviz.launch.unresolved import entry_of

FILE = """#include <cuda_runtime.h>
__global__ void lin(cudaTextureObject_t tex, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(tex, i);
}
__global__ void pitched(cudaTextureObject_t tex, float* out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w) out[y * w + x] = tex2D<float>(tex, x + 0.5f, y + 0.5f);
}
__global__ void write(cudaSurfaceObject_t s, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w) surf2Dwrite(make_uchar4(1, 2, 3, 4), s, x * 4, y);
}
__global__ void volume(cudaTextureObject_t tex, float* out) {
  out[threadIdx.x] = tex3D<float>(tex, threadIdx.x / 32.f, 0.5f, 0.5f);
}
int main() {
  const int N = 5000, W = 100, H = 30;
  float *d, *out; cudaMalloc(&d, N * sizeof(float)); cudaMalloc(&out, N * sizeof(float));
  cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = d;
  r.res.linear.desc = cudaCreateChannelDesc<float>(); r.res.linear.sizeInBytes = N * sizeof(float);
  cudaTextureDesc t = {}; t.readMode = cudaReadModeElementType;
  cudaTextureObject_t a; cudaCreateTextureObject(&a, &r, &t, nullptr);
  lin<<<(N + 127) / 128, 128>>>(a, out, N);
  cudaResourceDesc p{}; p.resType = cudaResourceTypePitch2D; p.res.pitch2D.devPtr = d;
  p.res.pitch2D.desc.f = cudaChannelFormatKindFloat; p.res.pitch2D.desc.x = 32;
  p.res.pitch2D.width = W; p.res.pitch2D.height = H; p.res.pitch2D.pitchInBytes = 512;
  t.filterMode = cudaFilterModeLinear; t.addressMode[0] = cudaAddressModeBorder;
  cudaTextureObject_t b; cudaCreateTextureObject(&b, &p, &t, nullptr);
  pitched<<<dim3(1, H), 128>>>(b, out, W, H);
  cudaArray* image; auto desc = cudaCreateChannelDesc<uchar4>();
  cudaMallocArray(&image, &desc, W, H, cudaArraySurfaceLoadStore);
  cudaResourceDesc q; memset(&q, 0, sizeof(q)); q.resType = cudaResourceTypeArray;
  q.res.array.array = image;
  cudaSurfaceObject_t s; cudaCreateSurfaceObject(&s, &q);
  write<<<dim3(1, H), 128>>>(s, W);
  cudaArray* cube; auto f = cudaCreateChannelDesc<float>();
  cudaExtent e = make_cudaExtent(32, 16, 8);
  cudaMalloc3DArray(&cube, &f, e);
  q.res.array.array = cube; t.normalizedCoords = true; t.addressMode[0] = cudaAddressModeMirror;
  cudaTextureObject_t v; cudaCreateTextureObject(&v, &q, &t, NULL);
  volume<<<1, 32>>>(v, out);
}
"""


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the host code states of the first argument of each kernel."""
    file = tmp_path_factory.mktemp("images") / "k.cu"
    file.write_text(FILE)
    program = load_program(file)
    found = {}
    for launch in written_launches(file):
        kernel = Kernel.of(program, entry_of(program.kernels, launch))
        texts = proposed_by(launch, kernel)
        kernel.launch(texts)  # they can be read
        found[launch.kernel] = texts.arguments.get(kernel.taken[0].name, "")
    return found


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        ("lin", "image f32[5000]=rand"),
        ("pitched", "image f32[100,30] border linear=rand"),
        ("write", "image u8*4[100,30]=zeros"),
        ("volume", "image f32[32,16,8] mirror linear normalized=rand"),
    ],
)
def test_descriptors_are_statements(stated: dict[str, str], kernel: str, text: str) -> None:
    assert stated[kernel] == text


def test_what_no_object_was_created_of_is_not_stated(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    file.write_text(
        "__global__ void k(cudaTextureObject_t t, float* o) { *o = tex2D<float>(t, 0, 0); }\n"
        "void run(cudaTextureObject_t t, float* o) { k<<<1, 1>>>(t, o); }\n"
    )
    (launch,) = written_launches(file)
    program = load_program(file)
    kernel = Kernel.of(program, program.kernels[0])
    assert "t" not in proposed_by(launch, kernel).arguments
