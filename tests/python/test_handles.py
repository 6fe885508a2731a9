"""Handles are ints that fit an int64: programs keep them in tensors, arrays and C structures."""
import struct

import acl

from helpers import HUGE_FIRST


def assert_fits(name, handle):
    assert handle > 0, name
    assert struct.unpack("q", struct.pack("q", handle)) == (handle,), name


def test_handles_fit_int64(device, stream):
    assert_fits("stream", stream)
    context, ret = acl.rt.get_context()
    assert ret == 0
    assert_fits("context", context)
    event, ret = acl.rt.create_event()
    assert ret == 0
    assert_fits("event", event)
    assert acl.rt.destroy_event(event) == 0
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    assert_fits("notify", notify)
    assert acl.rt.destroy_notify(notify) == 0
    assert acl.mdl.ri_capture_begin(stream, 0) == 0
    model, ret = acl.mdl.ri_capture_end(stream)
    assert ret == 0
    assert_fits("model", model)
    assert acl.mdl.ri_destroy(model) == 0


def test_addresses_fit_int64(device):
    block, ret = acl.rt.malloc(4096, HUGE_FIRST)
    assert ret == 0
    assert_fits("device memory", block)
    assert acl.rt.free(block) == 0
    block, ret = acl.rt.malloc_host(4096)
    assert ret == 0
    assert_fits("host memory", block)
    assert acl.rt.free_host(block) == 0


def test_descriptions_fit_int64():
    for create, destroy in (
        (lambda: acl.create_tensor_desc(0, [1], 2), acl.destroy_tensor_desc),
        (acl.mdl.create_dataset, acl.mdl.destroy_dataset),
        (lambda: acl.create_data_buffer(0, 0), acl.destroy_data_buffer),
    ):
        handle = create()
        assert_fits(destroy.__name__, handle)
        destroy(handle)
