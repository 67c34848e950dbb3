from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuviz.arguments import DTYPES, FILLS, BufferSpec, ScalarSpec, materialise, parse
from gpuviz.arguments.dtypes import ENCODED
from gpuviz.base.errors import InputError

specs = st.builds(
    BufferSpec,
    st.sampled_from(list(DTYPES)),
    st.integers(1, 300),
    st.sampled_from((*FILLS, "2", "7")),
).map(lambda spec: parse(str(spec)))  # 2 as a fraction is 2.0


@pytest.mark.parametrize(
    "text, spec",
    [
        ("f32[64]=rand", BufferSpec("f32", 64, "rand")),
        (" u8 [ 3 ] = @a b.npy ", BufferSpec("u8", 3, "@a b.npy")),
        ("f32[15]=2", BufferSpec("f32", 15, "2.0")),
        ("i64[2]=-0x10", BufferSpec("i64", 2, "-16")),
        ("i32=-7", ScalarSpec("i32", -7)),
        ("u64=0xffffffffffffffff", ScalarSpec("u64", 2**64 - 1)),
        ("f16=1e-3", ScalarSpec("f16", 0.001)),
    ],
)
def test_texts_understood(text: str, spec: BufferSpec | ScalarSpec) -> None:
    assert parse(text) == spec


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "TYPE\\[COUNT\\]"),
        ("f32", "TYPE=VALUE"),
        ("float[4]=rand", "'float' is none of i8, u8"),
        ("f32[0]=rand", "'0' is not a whole number above 0"),
        ("f32[-4]=rand", "'-4' is not"),
        ("f32[]=rand", "'' is not"),
        ("f32[4]=random", "a number or @file.npy, not with 'random'"),
        ("i16[4]=1.5", "a whole number or @file.npy, not with '1.5'"),
        ("u8[4]=256", r"256 does not fit u8 \(0 to 255\)"),
        ("f32[4]=@", "not with '@'"),
        ("f32=rand", "lacks a count"),
        ("i32=1.5", "'1.5' is not a whole number"),
        ("f32=one", "'one' is not a number"),
        ("u8=256", r"256 does not fit u8 \(0 to 255\)"),
        ("u32=-1", "-1 does not fit u32"),
    ],
)
def test_texts_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@given(specs)
def test_a_text_is_the_same_argument_again(spec: BufferSpec) -> None:
    assert parse(str(spec)) == spec


@given(specs, st.integers(0, 5))
def test_buffers_have_the_type_the_size_and_the_same_values_each_time(
    spec: BufferSpec, index: int
) -> None:
    values = materialise(spec, index)
    assert (values.dtype, values.shape, values.nbytes) == (
        DTYPES[spec.dtype],
        (spec.count,),
        spec.size,
    )
    assert np.array_equal(values, materialise(spec, index))


@given(
    st.builds(
        BufferSpec,
        st.sampled_from([name for name in DTYPES if name not in ENCODED]),
        st.integers(1, 300),
        st.just("rand"),
    )
)
def test_random_values_serve_as_indices_or_fractions(spec: BufferSpec) -> None:
    values = materialise(spec)
    assert values.min() >= 0
    assert values.max() < (1 if spec.dtype[0] == "f" else spec.count)


def test_random_values_differ_between_arguments() -> None:
    spec = BufferSpec("f32", 64, "rand")
    assert not np.array_equal(materialise(spec, 0), materialise(spec, 1))


def test_other_fills() -> None:
    assert materialise(parse("i16[3]=ones")).tolist() == [1, 1, 1]
    assert materialise(parse("f64[2]=zeros")).tolist() == [0.0, 0.0]
    assert materialise(parse("u8[258]=arange")).tolist()[254:] == [254, 255, 0, 1]
    assert materialise(parse("f32[3]=2.5")).tolist() == [2.5, 2.5, 2.5]
    assert materialise(parse("u64[2]=0xffffffffffffffff")).tolist() == [2**64 - 1] * 2
    assert np.isinf(materialise(parse("f16[1]=1e9"))).all()


def test_scalars_are_numpy_scalars() -> None:
    value = materialise(parse("u16=65535"))
    assert (value.dtype, int(value)) == (np.uint16, 65535)
    assert np.isinf(materialise(parse("f32=1e99")))


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.arange(6, dtype=np.float32).reshape(2, 3).T)
    assert materialise(parse(f"f32[6]=@{file}")).tolist() == [0, 3, 1, 4, 2, 5]
    with pytest.raises(InputError, match="holds 6 elements of float32, not 7 of float32"):
        materialise(parse(f"f32[7]=@{file}"))
    with pytest.raises(InputError, match="not 6 of int32"):
        materialise(parse(f"i32[6]=@{file}"))
    with pytest.raises(InputError, match="cannot read"):
        materialise(parse(f"f32[6]=@{tmp_path / 'gone.npy'}"))


def test_files_are_never_unpickled(tmp_path: Path) -> None:
    file = tmp_path / "object.npy"
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="is an array of object, not of numbers"):
        materialise(parse(f"f32[1]=@{file}"))


@pytest.mark.parametrize("dtype", ["f32", "f16", "i32", "u8"])
def test_values_made_in_pieces_are_those_of_the_whole(dtype: str) -> None:
    """Recordings and traces of earlier versions have the same values."""
    count, made = 200_001, DTYPES[dtype]
    drawn = {
        "f": lambda random: random.random(count).astype(made),
        "i": lambda random: random.integers(0, count, count, dtype=np.int64).astype(made),
        "u": lambda random: random.integers(0, 256, count, dtype=np.int64).astype(made),
    }[dtype[0]](np.random.default_rng(3))
    below_one = np.minimum(drawn, np.nextafter(made(1), made(0))) if dtype[0] == "f" else drawn
    assert (materialise(BufferSpec(dtype, count, "rand"), 3) == below_one).all()
    with np.errstate(over="ignore"):
        order = np.arange(count).astype(made)
    assert (materialise(BufferSpec(dtype, count, "arange")) == order).all()
    order = np.arange(count)
    np.random.default_rng(3).shuffle(order)
    with np.errstate(over="ignore"):
        assert (materialise(BufferSpec(dtype, count, "shuffle"), 3) == order.astype(made)).all()


def test_few_values_come_again_many_times() -> None:
    made = materialise(BufferSpec("u8", 1000, "few"), 1)
    assert set(made) == set(range(8)) and np.bincount(made).min() > 50
    assert set(materialise(BufferSpec("f32", 1000, "few"), 1)) == set(range(8))
