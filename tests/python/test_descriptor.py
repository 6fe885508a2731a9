"""Copies by descriptor: a task that reads source, destination and length from device memory when it runs."""
import pytest

import acl
from helpers import INNER_D2D, INVALID_PARAM, NOT_SUPPORTED, Device, Gate, pattern

PARAM_INVALID = 107000
OTHER_KINDS = [0, 1, 2, 3, 4, 5, 7]
NO_KINDS = [-1, 8, 1000]
SIZE = 4096


@pytest.fixture
def blocks(device):
    descriptor_size, ret = acl.rt.get_memcpy_desc_size(INNER_D2D)
    assert ret == 0 and descriptor_size > 0
    with Device(descriptor_size) as descriptor, Device(SIZE, pattern(SIZE)) as source, Device(
        SIZE, b"\0" * SIZE
    ) as target:
        yield descriptor, source, target


def describe(descriptor, source, target, size=SIZE, kind=INNER_D2D, config=0):
    return acl.rt.set_memcpy_desc(descriptor, kind, source, target, size, config)


def test_the_sequence(blocks, stream):
    descriptor, source, target = blocks
    returned, ret = describe(descriptor.ptr, source.ptr, target.ptr)
    assert (returned, ret) == (descriptor.ptr, 0)
    assert acl.rt.memcpy_async_with_desc(descriptor.ptr, INNER_D2D, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert target.read() == pattern(SIZE)


def test_a_descriptor_can_be_launched_again(blocks, stream):
    descriptor, source, target = blocks
    assert describe(descriptor.ptr, source.ptr, target.ptr)[1] == 0
    for seed in range(3):
        source.write(pattern(SIZE, seed))
        assert acl.rt.memcpy_async_with_desc(descriptor.ptr, INNER_D2D, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert target.read() == pattern(SIZE, seed)


def test_a_descriptor_is_read_when_the_task_runs(blocks, stream):
    descriptor, source, target = blocks
    with Device(SIZE, pattern(SIZE, 9)) as other, Gate(stream) as gate:
        assert describe(descriptor.ptr, source.ptr, target.ptr)[1] == 0
        assert acl.rt.memcpy_async_with_desc(descriptor.ptr, INNER_D2D, stream) == 0
        assert describe(descriptor.ptr, other.ptr, target.ptr)[1] == 0
        gate.open()
        assert acl.rt.synchronize_stream(stream) == 0
        assert target.read() == pattern(SIZE, 9)


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_other_kinds_are_not_supported_and_move_nothing(blocks, stream, kind):
    descriptor, source, target = blocks
    assert acl.rt.get_memcpy_desc_size(kind) == (0, NOT_SUPPORTED)
    assert describe(descriptor.ptr, source.ptr, target.ptr, kind=kind) == (descriptor.ptr, NOT_SUPPORTED)
    assert describe(descriptor.ptr, source.ptr, target.ptr)[1] == 0
    assert acl.rt.memcpy_async_with_desc(descriptor.ptr, kind, stream) == NOT_SUPPORTED
    assert acl.rt.synchronize_stream(stream) == 0
    assert target.read() == b"\0" * SIZE


@pytest.mark.parametrize("kind", NO_KINDS)
def test_numbers_that_are_no_kind_are_invalid(blocks, stream, kind):
    descriptor, source, target = blocks
    assert acl.rt.get_memcpy_desc_size(kind)[1] == INVALID_PARAM
    assert describe(descriptor.ptr, source.ptr, target.ptr, kind=kind)[1] == INVALID_PARAM
    assert acl.rt.memcpy_async_with_desc(descriptor.ptr, kind, stream) == INVALID_PARAM


def test_zeros_are_invalid(blocks, stream):
    descriptor, source, target = blocks
    assert describe(0, source.ptr, target.ptr) == (0, INVALID_PARAM)
    assert describe(descriptor.ptr, 0, target.ptr) == (descriptor.ptr, INVALID_PARAM)
    assert describe(descriptor.ptr, source.ptr, 0)[1] == INVALID_PARAM
    assert describe(descriptor.ptr, source.ptr, target.ptr, size=0)[1] == INVALID_PARAM
    assert describe(descriptor.ptr, source.ptr, target.ptr, config=descriptor.ptr)[1] == INVALID_PARAM
    assert acl.rt.memcpy_async_with_desc(0, INNER_D2D, stream) == INVALID_PARAM
    assert acl.rt.memcpy_async_with_desc(descriptor.ptr, INNER_D2D, 0) == INVALID_PARAM


def test_what_the_runtime_refuses(blocks):
    descriptor, source, target = blocks
    host = bytearray(SIZE)
    address = acl.util.bytes_to_ptr(bytes(host))
    assert describe(descriptor.ptr, source.ptr, target.ptr, size=(4 << 30) + 1)[1] == PARAM_INVALID
    assert describe(descriptor.ptr + 8, source.ptr, target.ptr)[1] == PARAM_INVALID
    assert describe(address & ~63, source.ptr, target.ptr)[1] == PARAM_INVALID
    assert describe(descriptor.ptr, address, target.ptr)[1] == PARAM_INVALID
    assert describe(descriptor.ptr, source.ptr, address)[1] == PARAM_INVALID
