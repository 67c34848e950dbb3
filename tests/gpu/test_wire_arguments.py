"""Arguments on their way to a GPU, and as its driver is given them: by a made-up driver."""

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpuviz.arguments import Recipe, materialise, parse, passed, variables
from gpuviz.arguments.specs import ArrayArgument
from gpuviz.base.errors import LaunchError
from gpuviz.compile import compile_cuda
from gpuviz.gpu import kernel as kernels
from gpuviz.gpu.buffers import Buffers, DeviceImage
from gpuviz.gpu.client import GpuLaunch, launch_of
from gpuviz.gpu.kernel import Kernel
from gpuviz.gpu.wire_arguments import Address, wire_arguments
from gpuviz.launch.job import Job
from gpuviz.ptx.prepare import ArgumentPlacer

SPECS = (
    "f32[8]=rand",
    "{24; n@0 i32=4; data@8 f32[6]+2=rand; first@16 &0+8}",
    "f64[4]+1=arange",
    "&0+4",
    "u8*3=[1,2,3]",
    "i32=7",
    "held:={16; scale@0 f32=2; table@8 i32[3]=[4,5,6]}",
)


class OnDevice(np.ndarray[Any, Any]):
    """Stands in for an array of CuPy's, in memory that the processor reaches."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)

    def set(self, host: np.ndarray[Any, Any]) -> None:
        self[...] = host

    def get(self) -> np.ndarray[Any, Any]:
        return np.array(self)


class Driver:
    """Keeps what it was given."""

    def __init__(self, sizes: list[int]) -> None:
        self.sizes, self.variables, self.parameters = sizes, dict[str, bytes](), list[bytes]()

    def launchKernel(self, function: int, *given: int) -> None:
        self.shape = given[:8]
        places = ctypes.cast(given[8], ctypes.POINTER(ctypes.c_void_p))
        self.parameters = [
            ctypes.string_at(places[n] or 0, size) for n, size in enumerate(self.sizes)
        ]

    def get_global(self, name: str) -> Any:
        def copy(place: Any, size: int) -> None:
            self.variables[name] = ctypes.string_at(place, size)

        return SimpleNamespace(copy_from_host=copy)

    def get_function(self, entry: str) -> Any:
        return SimpleNamespace(kernel=SimpleNamespace(ptr=1))

    @property
    def cupy(self) -> Any:
        stream = SimpleNamespace(ptr=5)
        return SimpleNamespace(
            ndarray=OnDevice,
            asarray=lambda host: np.array(host).view(OnDevice),
            empty=lambda shape, dtype: np.empty(shape, dtype).view(OnDevice),
            cuda=SimpleNamespace(driver=self, get_current_stream=lambda: stream),
        )


SOURCE = """
struct Part { int n; const float* data; float* first; };
struct Three { unsigned char x[3]; };
struct Held { float scale; const int* table; };
extern "C" __constant__ Held held;
extern "C" __global__ void k(float* a, Part p, double* b, float* c, Three t, int n)
{ a[0] = p.n * p.data[0] * held.scale + n + t.x[0] + c[0] + float(b[0]) + held.table[0]; }
"""


def job() -> Job:
    return Job(
        compile_cuda(SOURCE, arch="sm_90"),
        "k",
        (1, 1, 1),
        (32, 1, 1),
        tuple(map(parse, SPECS)),
        whose="named",
    )


def words(address: bytes, dtype: str, count: int) -> list[float]:
    """What lies at an address."""
    found = ctypes.string_at(int.from_bytes(address, "little"), count * np.dtype(dtype).itemsize)
    return list(np.frombuffer(found, dtype))


def test_structures_and_pointers_reach_the_driver_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver([8, 24, 8, 8, 3, 4])
    monkeypatch.setattr(kernels, "_module", lambda *given: driver)
    launch = launch_of(job())
    request = launch.load(launch.key, launch.form, launch.code)
    one = Kernel(driver.cupy, request, Buffers(driver.cupy, 1 << 20))
    one.launch()
    a, part, b, c, three, n = driver.parameters
    whole, inner, doubles, table = one.outputs()
    assert words(a, "f4", 8) == list(whole) == list(materialise(parse(SPECS[0]), 0))  # type: ignore[call-overload]
    assert int.from_bytes(part[:4], "little") == 4
    assert words(part[8:16], "f4", 4) == list(inner[2:]) and words(part[16:], "f4", 1) == [whole[2]]
    assert words(b, "f8", 3) == [1, 2, 3] and len(doubles) == 4
    assert words(c, "f4", 1) == [whole[1]]
    assert three == b"\1\2\3" and int.from_bytes(n, "little") == 7
    held = driver.variables["held"]
    assert np.frombuffer(held[:4], "f4") == 2 and words(held[8:], "i4", 3) == list(table)
    whole.fill(0)
    one.reset()
    assert words(a, "f4", 8) == list(one.outputs()[0])


def test_copies_to_rotate_through_have_addresses_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver([8, 24, 8, 8, 3, 4])
    monkeypatch.setattr(kernels, "_module", lambda *given: driver)
    launch = launch_of(job())
    one = Kernel(driver.cupy, launch.load("k", "cubin", b""), Buffers(driver.cupy, 1 << 20))
    one.rotate(100)
    found = []
    for number in range(2):
        one.launch(number)
        found.append(driver.parameters)
    assert found[0][1][8:16] != found[1][1][8:16]
    assert words(found[0][1][8:16], "f4", 4) == words(found[1][1][8:16], "f4", 4)


def test_buffers_are_in_the_order_of_the_emulator() -> None:
    specs = tuple(map(parse, SPECS))
    placing, arguments = ArgumentPlacer(), passed(specs)
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray) and argument.ndim:
            placing.argument("", argument, number)
    for number, argument in enumerate(arguments):
        placing.bytes_of("", number, argument)
    for value in variables(specs).values():
        placing.bytes_of("", -1, value)
    made = [one.values if isinstance(one, Recipe) else one for one in wire_arguments(specs).buffers]
    assert len(made) == len(placing.given) == 4
    for one, other in zip(made, placing.given, strict=True):
        assert one.tobytes() == other.tobytes() and one.dtype == other.dtype


def test_an_array_that_is_given_twice_is_one_buffer() -> None:
    array = np.zeros(4)
    found = wire_arguments([ArrayArgument(array), ArrayArgument(array)])
    assert len(found.buffers) == 1
    assert found.parameters[1].addresses == (Address(0, 0),)


def test_a_file_travels_and_a_recipe_does_not(tmp_path: Any) -> None:
    np.save(tmp_path / "a.npy", np.arange(5, dtype=np.float32))
    specs = [parse(f"{{8; a@0 f32[5]=@{tmp_path / 'a.npy'}}}"), parse("f32[1000]+1=rand")]
    file, recipe = wire_arguments(specs).buffers
    assert isinstance(file, np.ndarray) and file.tolist() == [0, 1, 2, 3, 4]
    assert isinstance(recipe, Recipe)


def test_a_pointer_into_no_buffer_is_told() -> None:
    with pytest.raises(LaunchError, match="points into argument 1, which is no buffer"):
        wire_arguments([parse("i32=7"), parse("&0+4")])


def test_what_a_kernel_does_with_a_handle_decides_what_it_is() -> None:
    source = """extern "C" __global__ void k(cudaTextureObject_t t, cudaTextureObject_t l,
        cudaSurfaceObject_t s) {
        float v = tex2D<float>(t, 1.5f, 2) + tex1Dfetch<float>(l, 3);
        surf2Dwrite(v, s, threadIdx.x * 4, 0); }"""
    images = ("f32[8,4]=rand", "f32[16]=rand", "f32[64,2]=zeros")
    arguments = tuple(parse(f"image {one}") for one in images)
    program = compile_cuda(source, arch="sm_90")
    launch = launch_of(Job(program, "k", (1, 1, 1), (32, 1, 1), arguments, whose="named"))
    uses = [one.addresses[0].use for one in launch.arguments.parameters]
    assert uses == ["texture", "linear", "surface"]
    assert isinstance(launch, GpuLaunch)


def test_layers_of_one_dimension_are_refused_with_a_reason() -> None:
    image: Any = parse("image f32[64,4] layered=rand")
    with pytest.raises(LaunchError, match="no layers of one dimension"):
        DeviceImage(None, image, "texture", None)
