"""Ten ways in which programs use the module, written as they write them: literal kinds, every code compared with 0."""
import ctypes
import threading

import pytest

import acl
from helpers import run_program

np = pytest.importorskip("numpy")

SIZE = 1 << 20


def check_ret(message, ret):
    if ret != 0:
        raise Exception(f"{message} failed ret={ret}: {acl.get_recent_err_msg()}")


class Resource:
    """Sequence 1: bring-up and tear-down."""

    def __init__(self, device_id=0):
        self.device_id = device_id
        ret = acl.init()
        assert ret in (0, 100002)
        check_ret("set_device", acl.rt.set_device(device_id))
        self.context, ret = acl.rt.create_context(device_id)
        check_ret("create_context", ret)
        self.stream, ret = acl.rt.create_stream()
        check_ret("create_stream", ret)
        self.run_mode, ret = acl.rt.get_run_mode()
        check_ret("get_run_mode", ret)

    def release(self):
        check_ret("destroy_stream", acl.rt.destroy_stream(self.stream))
        check_ret("destroy_context", acl.rt.destroy_context(self.context))
        check_ret("reset_device", acl.rt.reset_device(self.device_id))
        check_ret("finalize", acl.finalize())


@pytest.fixture
def resource():
    made = Resource()
    yield made
    made.release()


def test_1_bring_up_and_tear_down(resource):
    assert resource.run_mode == 1
    assert acl.rt.get_context() == (resource.context, 0)
    assert acl.rt.get_device() == (0, 0)


def test_1_streams_may_be_left_to_their_context():
    resource = Resource()
    check_ret("destroy_context", acl.rt.destroy_context(resource.context))
    assert acl.rt.get_context()[1] == 107002
    check_ret("reset_device", acl.rt.reset_device(0))
    check_ret("finalize", acl.finalize())


def test_1_everything_from_del_at_the_end_of_the_interpreter():
    done = run_program(
        """
        import acl
        class Resource:
            def __init__(self):
                self.codes = [acl.init(), acl.rt.set_device(0)]
                self.context, ret = acl.rt.create_context(0)
                self.stream, ret = acl.rt.create_stream()
            def __del__(self):
                self.codes += [acl.rt.destroy_stream(self.stream), acl.rt.destroy_context(self.context),
                               acl.rt.reset_device(0), acl.finalize()]
                print(self.codes)
        resource = Resource()
    """
    )
    assert done.stdout == "[0, 0, 0, 0, 0, 0]\n"


def test_2_host_to_device_from_numpy_through_bytes(resource):
    array = np.arange(SIZE // 4, dtype=np.float32).reshape(512, -1)
    if "bytes_to_ptr" in dir(acl.util):
        data = array.tobytes()
        source = acl.util.bytes_to_ptr(data)
    else:
        source = acl.util.numpy_to_ptr(array)
    size = array.size * array.itemsize
    buffer, ret = acl.rt.malloc(size, 2)
    check_ret("malloc", ret)
    check_ret("memcpy", acl.rt.memcpy(buffer, size, source, size, 1))
    data_buffer = acl.create_data_buffer(buffer, size)
    assert data_buffer
    assert acl.get_data_buffer_addr(data_buffer) == buffer and acl.get_data_buffer_size_v2(data_buffer) == size
    back = np.zeros_like(array)
    check_ret("memcpy", acl.rt.memcpy(back.ctypes.data, size, buffer, size, 2))
    assert (back == array).all()
    check_ret("destroy_data_buffer", acl.destroy_data_buffer(data_buffer))
    check_ret("free", acl.rt.free(buffer))


def test_3_device_to_host_into_a_bytes_object(resource):
    array = np.arange(SIZE // 8, dtype=np.int64)
    device, ret = acl.rt.malloc(SIZE, 2)
    check_ret("malloc", ret)
    check_ret("memcpy", acl.rt.memcpy(device, SIZE, array.ctypes.data, SIZE, 1))
    output = np.zeros(SIZE, np.byte).tobytes()
    check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(output), SIZE, device, SIZE, 2))
    result = np.frombuffer(output, np.int64).reshape(-1, 16)
    assert (result.ravel() == array).all()
    check_ret("free", acl.rt.free(device))


@pytest.mark.filterwarnings("ignore::Warning")
def test_4_device_to_host_into_pinned_memory(resource):
    array = np.linspace(0, 1, SIZE // 4, dtype=np.float32)
    device, ret = acl.rt.malloc(SIZE, 0)
    check_ret("malloc", ret)
    check_ret("memcpy", acl.rt.memcpy(device, SIZE, acl.util.numpy_to_ptr(array), SIZE, 1))
    host, ret = acl.rt.malloc_host(SIZE)
    check_ret("malloc_host", ret)
    check_ret("memcpy", acl.rt.memcpy(host, SIZE, device, SIZE, 2))
    assert (np.frombuffer(acl.util.ptr_to_bytes(host, SIZE), np.float32) == array).all()
    dims = [256, SIZE // 4 // 256]
    assert (acl.util.ptr_to_numpy(host, tuple(dims), 11) == array.reshape(dims)).all()
    check_ret("free_host", acl.rt.free_host(host))
    check_ret("free", acl.rt.free(device))


def test_5_round_trip_with_a_fill(resource):
    def memory():
        for attr in (0, 1):
            _, _, ret = acl.rt.get_mem_info(attr)
            check_ret("get_mem_info", ret)

    memory()
    host, ret = acl.rt.malloc_host(SIZE)
    check_ret("malloc_host", ret)
    check_ret("memset", acl.rt.memset(host, SIZE, 7, SIZE))
    memory()
    view = bytes(bytearray(SIZE))
    check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(view), SIZE, host, SIZE, 0))
    assert view == b"\7" * SIZE
    device, ret = acl.rt.malloc(SIZE, 2)
    check_ret("malloc", ret)
    memory()
    check_ret("memcpy", acl.rt.memcpy(device, SIZE, host, SIZE, 1))
    view = bytes(bytearray(SIZE))
    check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(view), SIZE, device, SIZE, 2))
    assert view == b"\7" * SIZE
    second, ret = acl.rt.malloc_host(SIZE)
    check_ret("malloc_host", ret)
    check_ret("memcpy", acl.rt.memcpy(second, SIZE, device, SIZE, 2))
    assert acl.util.ptr_to_bytes(second, SIZE) == b"\7" * SIZE
    for pointer in (host, second):
        check_ret("free_host", acl.rt.free_host(pointer))
    check_ret("free", acl.rt.free(device))
    memory()


def test_6_asynchronous_round_trip(resource):
    stream = resource.stream
    host, ret = acl.rt.malloc_host(SIZE)
    check_ret("malloc_host", ret)
    check_ret("memset_async", acl.rt.memset_async(host, SIZE, 7, SIZE, stream))
    device, ret = acl.media.dvpp_malloc(SIZE)
    check_ret("dvpp_malloc", ret)
    check_ret("synchronize_stream", acl.rt.synchronize_stream(stream))
    check_ret("memcpy_async", acl.rt.memcpy_async(device, SIZE, host, SIZE, 1, stream))
    check_ret("synchronize_stream", acl.rt.synchronize_stream(stream))
    second, ret = acl.rt.malloc_host(SIZE)
    check_ret("malloc_host", ret)
    check_ret("memcpy_async", acl.rt.memcpy_async(second, SIZE, device, SIZE, 2, stream))
    check_ret("free_host", acl.rt.free_host(host))
    check_ret("synchronize_stream", acl.rt.synchronize_stream(stream))
    assert acl.util.ptr_to_bytes(second, SIZE) == b"\7" * SIZE
    check_ret("free_host", acl.rt.free_host(second))
    check_ret("dvpp_free", acl.media.dvpp_free(device))


@pytest.mark.parametrize("run_mode", [0, 1])
def test_7_switch_by_run_mode(resource, run_mode):
    to_device, to_host = (1, 2) if run_mode == 1 else (3, 3)
    array = np.arange(4096, dtype=np.uint8)
    device, ret = acl.rt.malloc(array.nbytes, 2)
    check_ret("malloc", ret)
    check_ret("memcpy", acl.rt.memcpy(device, array.nbytes, array.ctypes.data, array.nbytes, to_device))
    output = bytes(bytearray(array.nbytes))
    check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(output), array.nbytes, device, array.nbytes, to_host))
    assert output == array.tobytes()
    check_ret("free", acl.rt.free(device))


def test_8_addresses_and_streams_of_a_framework(resource):
    stream_of_framework = ctypes.c_void_p(resource.stream).value
    blocks = 32
    source, ret = acl.rt.malloc(64 * blocks, 2)
    check_ret("malloc", ret)
    target, ret = acl.rt.malloc(64 * blocks, 2)
    check_ret("malloc", ret)
    data = bytes(range(256)) * (64 * blocks // 256)
    check_ret("memcpy", acl.rt.memcpy(source, len(data), acl.util.bytes_to_ptr(data), len(data), 1))
    for block in range(blocks):
        mirrored = blocks - 1 - block
        ret = acl.rt.memcpy_async(target + 64 * mirrored, 64, source + 64 * block, 64, 3, stream_of_framework)
        check_ret("memcpy_async", ret)
    event, ret = acl.rt.create_event()
    check_ret("create_event", ret)
    check_ret("record_event", acl.rt.record_event(event, stream_of_framework))
    native = ctypes.CDLL("libascendcl.so")
    assert native.aclrtSynchronizeEvent(ctypes.c_void_p(int(event))) == 0
    assert acl.rt.query_event_status(event) == (1, 0)
    check_ret("destroy_event", acl.rt.destroy_event(event))
    check_ret("synchronize_stream", acl.rt.synchronize_stream(stream_of_framework))
    output = bytes(bytearray(len(data)))
    check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(output), len(data), target, len(data), 2))
    assert [output[64 * i : 64 * i + 64] for i in range(blocks)] == [
        data[64 * i : 64 * i + 64] for i in reversed(range(blocks))
    ]
    check_ret("free", acl.rt.free(source))
    check_ret("free", acl.rt.free(target))


def test_9_asynchronous_execution_with_a_callback_thread(resource):
    results, finished = [], []
    exit_flag = threading.Event()

    def report_loop(args):
        context, timeout = args
        check_ret("set_context", acl.rt.set_context(context))
        while not exit_flag.is_set():
            acl.rt.process_report(timeout)
        finished.append(True)

    def on_result(pairs):
        for device, size in pairs:
            host, ret = acl.rt.malloc_host(size)
            check_ret("malloc_host", ret)
            check_ret("memcpy", acl.rt.memcpy(host, size, device, size, 2))
            results.append(acl.util.ptr_to_bytes(host, size))
            check_ret("free_host", acl.rt.free_host(host))

    thread_id, ret = acl.util.start_thread(report_loop, [resource.context, 50])
    check_ret("start_thread", ret)
    check_ret("subscribe_report", acl.rt.subscribe_report(thread_id, resource.stream))
    device, ret = acl.rt.malloc(SIZE, 2)
    check_ret("malloc", ret)
    for step in range(10):
        check_ret("memset_async", acl.rt.memset_async(device, SIZE, step, SIZE, resource.stream))
        check_ret("launch_callback", acl.rt.launch_callback(on_result, [[device, 64]], 1, resource.stream))
    check_ret("synchronize_stream", acl.rt.synchronize_stream(resource.stream))
    assert results == [bytes([step]) * 64 for step in range(10)]
    check_ret("unsubscribe_report", acl.rt.unsubscribe_report(thread_id, resource.stream))
    exit_flag.set()
    check_ret("stop_thread", acl.util.stop_thread(thread_id))
    assert finished == [True]
    check_ret("free", acl.rt.free(device))


def test_10_walk_through_a_dataset(resource):
    dataset = acl.mdl.create_dataset()
    assert dataset
    sizes = [512, 1024, 4096]
    for index, size in enumerate(sizes):
        device, ret = acl.rt.malloc(size, 2)
        check_ret("malloc", ret)
        check_ret("memset", acl.rt.memset(device, size, index + 1, size))
        _, ret = acl.mdl.add_dataset_buffer(dataset, acl.create_data_buffer(device, size))
        check_ret("add_dataset_buffer", ret)
    outputs = []
    for index in range(acl.mdl.get_dataset_num_buffers(dataset)):
        buffer = acl.mdl.get_dataset_buffer(dataset, index)
        address = acl.get_data_buffer_addr(buffer)
        size = acl.get_data_buffer_size(buffer)
        assert size == acl.get_data_buffer_size_v2(buffer)
        output = bytes(bytearray(size))
        check_ret("memcpy", acl.rt.memcpy(acl.util.bytes_to_ptr(output), size, address, size, 2))
        outputs.append(output)
        check_ret("free", acl.rt.free(address))
        check_ret("destroy_data_buffer", acl.destroy_data_buffer(buffer))
    check_ret("destroy_dataset", acl.mdl.destroy_dataset(dataset))
    assert outputs == [bytes([index + 1]) * size for index, size in enumerate(sizes)]
