# Three tests of which the second races, for the plugin ropeway_check; not collected by its name.
import acl
import pytest

SIZE = 4096


@pytest.fixture
def copy_back():
    acl.rt.set_device(0)
    streams = [acl.rt.create_stream()[0] for _ in range(2)]
    host, device = acl.rt.malloc_host(SIZE)[0], acl.rt.malloc(SIZE, 0)[0]
    acl.rt.memcpy_async(device, SIZE, host, SIZE, 1, streams[0])
    yield streams[0], lambda: acl.rt.memcpy_async(host, SIZE, device, SIZE, 2, streams[1])
    acl.rt.synchronize_device()
    acl.rt.free(device)
    acl.rt.free_host(host)


def test_waits_for_the_host(copy_back):
    acl.rt.synchronize_stream(copy_back[0])
    assert copy_back[1]() == 0


def test_waits_for_nobody(copy_back):
    assert copy_back[1]() == 0


def test_fails_by_itself():
    assert SIZE == 0
