"""acl.util: live views in both directions."""
import ctypes
import gc
import sys
import warnings

import pytest

import acl
from helpers import D2H, H2D, Device, Pinned, pattern

np = pytest.importorskip("numpy")

# NumPy's C type numbers and the types they name.
TYPES = {
    0: np.bool_,
    1: np.int8,
    2: np.uint8,
    3: np.int16,
    4: np.uint16,
    5: np.intc,
    6: np.uintc,
    7: np.int_,
    8: np.uint,
    9: np.longlong,
    10: np.ulonglong,
    11: np.float32,
    12: np.float64,
    13: np.longdouble,
    14: np.complex64,
    15: np.complex128,
    23: np.float16,
}

quiet = pytest.mark.filterwarnings("ignore::Warning")


def test_bytes_to_ptr_is_the_live_buffer():
    data = pattern(100)
    pointer = acl.util.bytes_to_ptr(data)
    assert ctypes.string_at(pointer, 100) == data
    ctypes.memset(pointer, 7, 1)
    assert data[0] == 7, "no copy was made"
    assert acl.util.bytes_to_ptr(data) == pointer


def test_bytes_to_ptr_keeps_no_reference():
    data = pattern(1000)
    before = sys.getrefcount(data)
    acl.util.bytes_to_ptr(data)
    assert sys.getrefcount(data) == before


@pytest.mark.parametrize("wrong", [bytearray(4), memoryview(b"abc"), "abc", 1, None, [1]])
def test_bytes_to_ptr_takes_bytes_only(wrong):
    with pytest.raises(ValueError):
        acl.util.bytes_to_ptr(wrong)


def test_bytes_of_a_subclass_are_bytes():
    class Mine(bytes):
        pass

    assert ctypes.string_at(acl.util.bytes_to_ptr(Mine(b"mine")), 4) == b"mine"


def test_ptr_to_bytes_copies(device):
    with Pinned(64, pattern(64)) as pinned:
        copy = acl.util.ptr_to_bytes(pinned.ptr, 64)
        pinned.write(b"\0" * 64)
        assert copy == pattern(64)
        assert acl.util.ptr_to_bytes(pinned.ptr, 0) == b""
        assert acl.util.ptr_to_bytes(pinned.ptr + 1, 3) == b"\0" * 3
    assert acl.util.ptr_to_bytes(0, 0) == b""
    for pointer, size in ((0, 1), (64, -1)):
        with pytest.raises(ValueError):
            acl.util.ptr_to_bytes(pointer, size)


@quiet
@pytest.mark.parametrize("number", TYPES)
def test_round_trip_of_every_type(device, number):
    """numpy to device, device to pinned memory, and a view of it as numpy."""
    kind = np.dtype(TYPES[number])
    source = (np.arange(96) % 2 if number == 0 else np.arange(96)).astype(kind).reshape(4, 8, 3)
    size = source.nbytes
    with Device(size) as block, Pinned(size) as pinned:
        assert acl.rt.memcpy(block.ptr, size, acl.util.numpy_to_ptr(source), size, H2D) == 0
        assert acl.rt.memcpy(pinned.ptr, size, block.ptr, size, D2H) == 0
        view = acl.util.ptr_to_numpy(pinned.ptr, source.shape, number)
        assert view.dtype == kind and view.dtype.num == number and view.shape == source.shape
        assert (view == source).all()
        flags = view.flags
        assert flags.c_contiguous and flags.writeable and not flags.owndata and flags.aligned
        assert view.ctypes.data == pinned.ptr
        pinned.write(b"\0" * size)
        assert not view.any(), "the view is live"
        view[...] = source
        assert (np.frombuffer(pinned.read(), kind).reshape(source.shape) == source).all()


@quiet
def test_shapes_of_views(device):
    with Pinned(64, pattern(64)) as pinned:
        assert acl.util.ptr_to_numpy(pinned.ptr, (), 2).shape == ()
        assert acl.util.ptr_to_numpy(pinned.ptr, (), 2) == pattern(64)[0]
        assert acl.util.ptr_to_numpy(pinned.ptr, (0, 5), 11).shape == (0, 5)
        assert acl.util.ptr_to_numpy(pinned.ptr, (np.int64(4), 4), 11).shape == (4, 4)
        for shape, error in (
            ([4], ValueError),
            (4, ValueError),
            (None, ValueError),
            ((1.5,), TypeError),
            (("4",), TypeError),
            ((-1,), ValueError),
            ((2**62, 4), ValueError),
        ):
            with pytest.raises(error):
                acl.util.ptr_to_numpy(pinned.ptr, shape, 11)
        for number in (-1, 16, 17, 22, 24, 1000):
            with pytest.raises(ValueError):
                acl.util.ptr_to_numpy(pinned.ptr, (1,), number)
    with pytest.raises(ValueError):
        acl.util.ptr_to_numpy(0, (1,), 11)


@quiet
def test_numpy_to_ptr_is_the_live_buffer():
    array = np.arange(64, dtype=np.uint8)
    pointer = acl.util.numpy_to_ptr(array)
    assert pointer == array.ctypes.data
    ctypes.memset(pointer, 9, 2)
    assert list(array[:3]) == [9, 9, 2]
    before = sys.getrefcount(array)
    acl.util.numpy_to_ptr(array)
    assert sys.getrefcount(array) == before
    frozen = np.arange(4)
    frozen.flags.writeable = False
    assert acl.util.numpy_to_ptr(frozen) == frozen.ctypes.data


@quiet
def test_numpy_functions_take_arrays_only():
    class Mine(np.ndarray):
        pass

    mine = np.zeros(4).view(Mine)
    assert acl.util.numpy_to_ptr(mine) == mine.ctypes.data
    for function in (acl.util.numpy_to_ptr, acl.util.numpy_contiguous_to_ptr):
        for wrong in ([1], b"abc", 1, None, np.float32(1)):
            with pytest.raises(ValueError):
                function(wrong)


@quiet
def test_contiguous_arrays_are_passed_through_and_others_copied():
    array = np.arange(24).reshape(4, 6)
    pointer, same = acl.util.numpy_contiguous_to_ptr(array)
    assert same is array and pointer == array.ctypes.data
    pointer, copy = acl.util.numpy_contiguous_to_ptr(array[:, ::2])
    assert copy.flags.c_contiguous and pointer == copy.ctypes.data and (copy == array[:, ::2]).all()
    assert not np.shares_memory(copy, array)
    pointer, copy = acl.util.numpy_contiguous_to_ptr(np.asfortranarray(array))
    assert copy.flags.c_contiguous and (copy == array).all()
    scalar = np.array(5)
    assert acl.util.numpy_contiguous_to_ptr(scalar)[1] is scalar


def caught(function, *arguments):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(*arguments)
    return [warning.category for warning in found]


def test_warnings_are_of_the_base_class():
    array = np.arange(16, dtype=np.float32)
    assert caught(acl.util.numpy_to_ptr, array) == [Warning]
    assert caught(acl.util.numpy_to_ptr, array[::2]) == [Warning, Warning]
    assert caught(acl.util.numpy_contiguous_to_ptr, array) == [Warning]
    assert caught(acl.util.numpy_contiguous_to_ptr, array[::2]) == [Warning]
    assert caught(acl.util.ptr_to_numpy, array.ctypes.data, (16,), 11) == [Warning]


def test_warnings_as_errors_are_raised_cleanly():
    array = np.arange(16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: acl.util.numpy_to_ptr(array),
            lambda: acl.util.numpy_contiguous_to_ptr(array),
            lambda: acl.util.ptr_to_numpy(array.ctypes.data, (16,), 9),
        ):
            with pytest.raises(Warning, match="deprecated"):
                call()


@quiet
def test_views_keep_nothing_alive_and_own_nothing():
    array = np.arange(16)
    before = sys.getrefcount(array)
    view = acl.util.ptr_to_numpy(array.ctypes.data, (16,), 9)
    assert sys.getrefcount(array) == before
    del view
    gc.collect()
    assert array[15] == 15
