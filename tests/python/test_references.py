"""Many calls of every function leave memory as it was, in the interpreter and in the heap of C.

ROPEWAY_TEST_ROUNDS=100000 is the full run; the default is shorter, and a leak of one object a call shows as well."""
import ctypes
import gc
import os
import sys
import warnings

import pytest

import acl
import facts
from helpers import Device, Pinned

ROUNDS = int(os.environ.get("ROPEWAY_TEST_ROUNDS", "2000"))
PASSES = 50
SIZE = 4096


class _HeapInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


_heap_info = ctypes.CDLL(None).mallinfo2
_heap_info.restype = _HeapInfo


def heap_bytes():
    info = _heap_info()
    return info.uordblks + info.hblkhd


@pytest.fixture(autouse=True)
def small_collections():
    """What was there before is not garbage of these tests, and looking at it each time would take most of the time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def growth(call):
    """Blocks of the interpreter and bytes of the C heap that ROUNDS calls leave; the first calls may fill caches."""

    def repeat(times):
        for _ in range(times):
            call()

    repeat(200)
    acl.get_recent_err_msg()
    gc.collect()
    blocks, heap = sys.getallocatedblocks(), heap_bytes()
    repeat(ROUNDS)
    acl.get_recent_err_msg()
    gc.collect()
    return sys.getallocatedblocks() - blocks, heap_bytes() - heap


def leak(call):
    """The growth of a call that leaks, or None. What is taken once, however late, is not taken again, and what a thread without a
    core still holds (a callback's objects, the record of a freed block) comes back; a leak goes on."""
    for _ in range(PASSES):
        blocks, heap = growth(call)
        if blocks < ROUNDS // 10 and heap < 4 * ROUNDS:
            return None
    return blocks, heap


def assert_flat(call):
    assert leak(call) is None


def test_the_measure_sees_a_leak():
    kept = []
    blocks, _ = leak(lambda: kept.append(object()))
    assert blocks >= ROUNDS
    buffers = []
    _, heap = leak(lambda: buffers.append(acl.create_data_buffer(0, 0)))
    assert heap >= 16 * ROUNDS
    for buffer in buffers:
        acl.destroy_data_buffer(buffer)


def pair(make, unmake):
    """Something that is made and ended: the pair leaves nothing."""

    def both():
        result = make()
        unmake(result[0] if isinstance(result, tuple) else result)

    return both


def recipes(stream, context, device, pinned):
    """Calls with good results, or pairs of them; whatever is not here is called with zeros."""
    rt, event = acl.rt, acl.rt.create_event()[0]
    latch, notify = acl.rt.create_event_with_flag(9)[0], acl.rt.create_notify(0)[0]
    first, second = acl.rt.create_event()[0], acl.rt.create_event()[0]
    for recorded in (event, first, second, latch):
        assert rt.record_event(recorded, stream) == 0
    assert rt.synchronize_stream(stream) == 0
    data, buffer, desc = bytes(SIZE), acl.create_data_buffer(64, 64), acl.create_tensor_desc(0, [2, 3, 4, 5], 0)
    dataset = acl.mdl.create_dataset()
    acl.mdl.add_dataset_buffer(dataset, buffer)
    copy_desc, _ = rt.malloc(64, 0)
    rt.set_memcpy_desc(copy_desc, 6, device, device + SIZE, 64, 0)
    allocator = rt.allocator_create_desc()
    wait, turn = (lambda: rt.synchronize_stream(stream)), [0]

    def then_wait(call):
        def run():
            call()
            turn[0] += 1
            if turn[0] % 64 == 0:
                wait()

        return run

    def page(address):
        return address + 4095 & ~4095

    area = page(acl.util.bytes_to_ptr(storage := bytes(3 * SIZE)))
    calls = {
        "acl.init": lambda: (acl.init(), acl.finalize()),
        "acl.finalize": lambda: (acl.init(), acl.finalize()),
        "acl.finalize_reference": lambda: (acl.init(), acl.finalize_reference()),
        "acl.get_version_str": lambda: acl.get_version_str("runtime"),
        "acl.create_data_buffer": pair(lambda: acl.create_data_buffer(0, 0), acl.destroy_data_buffer),
        "acl.destroy_data_buffer": pair(lambda: acl.create_data_buffer(0, 0), acl.destroy_data_buffer),
        "acl.get_data_buffer_addr": lambda: acl.get_data_buffer_addr(buffer),
        "acl.get_data_buffer_size_v2": lambda: acl.get_data_buffer_size_v2(buffer),
        "acl.update_data_buffer": lambda: acl.update_data_buffer(buffer, 64, 64),
        "acl.create_tensor_desc": pair(lambda: acl.create_tensor_desc(0, [1, 2, 3], 2), acl.destroy_tensor_desc),
        "acl.destroy_tensor_desc": pair(lambda: acl.create_tensor_desc(0, [1, 2, 3], 2), acl.destroy_tensor_desc),
        "acl.set_tensor_desc_name": lambda: acl.set_tensor_desc_name(desc, "a name that is longer than a small string"),
        "acl.get_tensor_desc_name": lambda: acl.get_tensor_desc_name(desc),
        "acl.get_tensor_desc_dim_range": lambda: acl.get_tensor_desc_dim_range(desc, 0, 2),
        "acl.trans_tensor_desc_format": pair(lambda: acl.trans_tensor_desc_format(desc, 1), acl.destroy_tensor_desc),
        "acl.set_tensor_shape": lambda: acl.set_tensor_shape(desc, [1, 2, 3]),
        "acl.set_tensor_shape_range": lambda: acl.set_tensor_shape_range(desc, [[1, 2], [3, 4]]),
        "acl.mdl.create_dataset": pair(acl.mdl.create_dataset, acl.mdl.destroy_dataset),
        "acl.mdl.destroy_dataset": pair(acl.mdl.create_dataset, acl.mdl.destroy_dataset),
        "acl.mdl.add_dataset_buffer": pair(
            lambda: acl.mdl.add_dataset_buffer(acl.mdl.create_dataset(), buffer), acl.mdl.destroy_dataset
        ),
        "acl.mdl.get_dataset_buffer": lambda: acl.mdl.get_dataset_buffer(dataset, 0),
        "acl.mdl.set_dataset_tensor_desc": lambda: acl.mdl.set_dataset_tensor_desc(dataset, desc, 0),
        "acl.rt.create_context": pair(
            lambda: rt.create_context(0), lambda made: (rt.destroy_context(made), rt.set_context(context))
        ),
        "acl.rt.destroy_context": lambda: rt.destroy_context(64),
        "acl.rt.set_context": lambda: rt.set_context(context),
        "acl.rt.set_device": lambda: (rt.set_device(0), rt.reset_device(0)),
        "acl.rt.reset_device": lambda: (rt.set_device(0), rt.reset_device(0)),
        "acl.rt.reset_device_force": lambda: rt.reset_device_force(1),
        "acl.rt.create_stream": pair(rt.create_stream, rt.destroy_stream),
        "acl.rt.destroy_stream": pair(rt.create_stream, rt.destroy_stream),
        "acl.rt.create_stream_with_config": pair(lambda: rt.create_stream_with_config(0, 0), rt.destroy_stream_force),
        "acl.rt.destroy_stream_force": pair(rt.create_stream, rt.destroy_stream_force),
        "acl.rt.synchronize_stream": wait,
        "acl.rt.stream_query": lambda: rt.stream_query(stream),
        "acl.rt.stream_abort": lambda: rt.stream_abort(stream),
        "acl.rt.synchronize_stream_with_timeout": lambda: rt.synchronize_stream_with_timeout(stream, -1),
        "acl.rt.synchronize_device_with_timeout": lambda: rt.synchronize_device_with_timeout(-1),
        "acl.rt.set_stream_attribute": lambda: rt.set_stream_attribute(stream, 3, {"userCustomTag": 5}),
        "acl.rt.get_stream_attribute": lambda: rt.get_stream_attribute(stream, 5),
        "acl.rt.create_event": pair(rt.create_event, rt.destroy_event),
        "acl.rt.create_event_with_flag": pair(lambda: rt.create_event_with_flag(9), rt.destroy_event),
        "acl.rt.create_event_ex_with_flag": pair(lambda: rt.create_event_ex_with_flag(9), rt.destroy_event),
        "acl.rt.destroy_event": pair(rt.create_event, rt.destroy_event),
        "acl.rt.record_event": then_wait(lambda: rt.record_event(event, stream)),
        "acl.rt.stream_wait_event": then_wait(lambda: rt.stream_wait_event(stream, event)),
        "acl.rt.reset_event": then_wait(lambda: (rt.record_event(latch, stream), rt.reset_event(latch, stream))),
        "acl.rt.query_event_status": lambda: rt.query_event_status(event),
        "acl.rt.synchronize_event": lambda: rt.synchronize_event(event),
        "acl.rt.event_elapsed_time": lambda: rt.event_elapsed_time(first, second),
        "acl.rt.create_notify": pair(lambda: rt.create_notify(0), rt.destroy_notify),
        "acl.rt.destroy_notify": pair(lambda: rt.create_notify(0), rt.destroy_notify),
        "acl.rt.record_notify": then_wait(
            lambda: (rt.record_notify(notify, stream), rt.wait_and_reset_notify(notify, stream, 0))
        ),
        "acl.rt.notify_batch_reset": lambda: rt.notify_batch_reset([notify]),
        "acl.rt.malloc": pair(lambda: rt.malloc(SIZE, 0), rt.free),
        "acl.rt.free": pair(lambda: rt.malloc(SIZE, 0), rt.free),
        "acl.rt.malloc_with_cfg": pair(
            lambda: rt.malloc_with_cfg(SIZE, 0, {"attrs": [{"attr": 1, "value": {"moduleId": 1}}], "numAttrs": 1}),
            rt.free,
        ),
        "acl.rt.malloc_align32": pair(lambda: rt.malloc_align32(SIZE, 0), rt.free),
        "acl.rt.malloc_cached": pair(lambda: rt.malloc_cached(SIZE, 0), rt.free),
        "acl.rt.malloc_for_task_scheduler": pair(lambda: rt.malloc_for_task_scheduler(SIZE, 0, {}), rt.free),
        "acl.media.dvpp_malloc": pair(lambda: acl.media.dvpp_malloc(SIZE), acl.media.dvpp_free),
        "acl.rt.malloc_host": pair(lambda: rt.malloc_host(SIZE), rt.free_host),
        "acl.rt.free_host": pair(lambda: rt.malloc_host(SIZE), rt.free_host),
        "acl.rt.malloc_host_with_cfg": pair(lambda: rt.malloc_host_with_cfg(SIZE, {}), rt.free_host),
        "acl.rt.pointer_get_attributes": lambda: rt.pointer_get_attributes(device),
        "acl.rt.host_register": pair(lambda: rt.host_register(area, SIZE, 0), lambda _: rt.host_unregister(area)),
        "acl.rt.host_register_v2": pair(lambda: rt.host_register_v2(area, SIZE, 2), lambda _: rt.host_unregister(area)),
        "acl.rt.memcpy": lambda: rt.memcpy(device, SIZE, pinned, SIZE, 1),
        "acl.rt.memcpy_async": then_wait(lambda: rt.memcpy_async(device, SIZE, pinned, SIZE, 1, stream)),
        "acl.rt.memcpy2d": lambda: rt.memcpy2d(device, 64, pinned, 64, 64, 4, 1),
        "acl.rt.memcpy2d_async": then_wait(lambda: rt.memcpy2d_async(device, 64, pinned, 64, 64, 4, 1, stream)),
        "acl.rt.memset": lambda: rt.memset(device, SIZE, 1, SIZE),
        "acl.rt.memset_async": then_wait(lambda: rt.memset_async(device, SIZE, 1, SIZE, stream)),
        "acl.rt.set_memcpy_desc": lambda: rt.set_memcpy_desc(copy_desc, 6, device, device + SIZE, 64, 0),
        "acl.rt.memcpy_async_with_desc": then_wait(lambda: rt.memcpy_async_with_desc(copy_desc, 6, stream)),
        "acl.rt.reduce_async": then_wait(lambda: rt.reduce_async(device, device + SIZE, 64, 10, 3, stream, 0)),
        "acl.rt.value_write": then_wait(lambda: rt.value_write(device, 1, 0, stream)),
        "acl.rt.value_wait": then_wait(lambda: rt.value_wait(device, 0, 0, stream)),
        "acl.rt.launch_host_func": then_wait(lambda: rt.launch_host_func(stream, len, data)),
        "acl.rt.launch_callback": lambda: rt.launch_callback(len, data, 1, stream),
        "acl.rt.set_exception_info_callback": lambda: rt.set_exception_info_callback(print),
        "acl.rt.allocator_create_desc": pair(rt.allocator_create_desc, rt.allocator_destroy_desc),
        "acl.rt.allocator_destroy_desc": pair(rt.allocator_create_desc, rt.allocator_destroy_desc),
        "acl.rt.allocator_set_alloc_func_to_desc": lambda: rt.allocator_set_alloc_func_to_desc(allocator, lambda: None),
        "acl.rt.memcpy_batch": lambda: rt.memcpy_batch(
            [device], [64], [pinned], [64], [{"dstLoc": {"id": 0, "type": 1}}], [0]
        ),
        "acl.rt.memcpy_batch_async": then_wait(
            lambda: rt.memcpy_batch_async(
                [device], [64], [pinned], [64], [{"dstLoc": {"id": 0, "type": 1}}], [0], stream
            )
        ),
        "acl.mdl.ri_capture_begin": pair(
            lambda: (acl.mdl.ri_capture_begin(stream, 2), *acl.mdl.ri_capture_end(stream))[1:], acl.mdl.ri_destroy
        ),
        "acl.util.bytes_to_ptr": lambda: acl.util.bytes_to_ptr(data),
        "acl.util.ptr_to_bytes": lambda: acl.util.ptr_to_bytes(pinned, SIZE),
        "acl.util.start_thread": pair(lambda: acl.util.start_thread(len, data), acl.util.stop_thread),
        "acl.util.stop_thread": pair(lambda: acl.util.start_thread(len, data), acl.util.stop_thread),
    }

    def release():
        wait()
        rt.set_exception_info_callback(None)
        rt.allocator_destroy_desc(allocator)
        acl.mdl.destroy_dataset(dataset)
        acl.destroy_data_buffer(buffer)
        acl.destroy_tensor_desc(desc)
        rt.free(copy_desc)
        rt.destroy_notify(notify)
        for made in (event, latch, first, second):
            rt.destroy_event(made)
        assert len(storage) == 3 * SIZE

    return calls, release


def with_zeros(fact):
    function, arguments = fact.find(), [facts.ZERO.get(letter, 0) for letter in fact.required]
    return lambda: function(*arguments)


# These have tests of their own below.
ELSEWHERE = {
    "acl.rt.get_group_info_detail",
    "acl.util.numpy_to_ptr",
    "acl.util.numpy_contiguous_to_ptr",
    "acl.util.ptr_to_numpy",
}


def test_every_function_leaves_memory_flat(stream):
    context, _ = acl.rt.get_context()
    leaks = []
    with Device(2 * SIZE, bytes(2 * SIZE)) as block, Pinned(SIZE) as pinned:
        calls, release = recipes(stream, context, block.ptr, pinned.ptr)
        for fact in facts.ALL + facts.OURS:
            if fact.name in ELSEWHERE:
                continue
            if leaking := leak(calls.get(fact.name) or with_zeros(fact)):
                leaks.append((fact.name, *leaking))
        release()
    assert leaks == []


@pytest.mark.filterwarnings("ignore::Warning")
def test_refused_arguments_leave_memory_flat():
    def refused(function, arguments):
        def run():
            try:
                function(*arguments)
            except (TypeError, ValueError):
                return
            raise AssertionError(f"{function} took {arguments}")

        return run

    leaks = []
    for fact in facts.ALL + facts.OURS:
        if not fact.required or fact.name in ELSEWHERE:
            continue
        zeros = [facts.ZERO.get(letter, 0) for letter in fact.required]
        last_wrong = zeros[:-1] + [object()] if fact.required[-1] != "O" else zeros[:-1]
        for arguments in (zeros[:-1], last_wrong):
            if leaking := leak(refused(fact.find(), arguments)):
                leaks.append((fact.name, *leaking))
    assert leaks == []


def test_refused_dicts_and_lists_leave_memory_flat():
    broken = [
        lambda: acl.rt.malloc_with_cfg(1, 0, {"attrs": [{"attr": 1, "value": {"moduleId": 2**20}}], "numAttrs": 1}),
        lambda: acl.rt.notify_batch_reset([1, "x"]),
        lambda: acl.create_tensor_desc(0, [1, 1.5], 2),
        lambda: acl.rt.memcpy_batch([1], [1], [1], [1], [{"dstLoc": 5}], [0]),
        lambda: acl.rt.get_group_info_detail(64, 0, 0),
    ]
    for call in broken:

        def run(call=call):
            with pytest.raises((TypeError, ValueError, RuntimeError)):
                call()

        assert_flat(run)


def test_numpy_functions_leave_memory_flat():
    np = pytest.importorskip("numpy")
    array = np.arange(64, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = sys.getrefcount(array)
        assert_flat(lambda: acl.util.numpy_to_ptr(array))
        assert_flat(lambda: acl.util.numpy_contiguous_to_ptr(array))
        assert_flat(lambda: acl.util.numpy_contiguous_to_ptr(array[::2]))
        assert_flat(lambda: acl.util.ptr_to_numpy(array.ctypes.data, (8, 8), 11))
        for call in (
            lambda: acl.util.numpy_to_ptr(1),
            lambda: acl.util.numpy_contiguous_to_ptr(b""),
            lambda: acl.util.ptr_to_numpy(64, [1], 11),
            lambda: acl.util.ptr_to_numpy(64, (1.5,), 11),
        ):

            def run(call=call):
                with pytest.raises((TypeError, ValueError)):
                    call()

            assert_flat(run)
        assert sys.getrefcount(array) == before


def test_captured_callbacks_leave_memory_flat(stream):
    def capture_and_run():
        assert acl.mdl.ri_capture_begin(stream, 2) == 0
        assert acl.rt.launch_host_func(stream, lambda data: None, object()) == 0
        model, ret = acl.mdl.ri_capture_end(stream)
        assert ret == 0
        assert acl.mdl.ri_execute_async(model, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.mdl.ri_destroy(model) == 0

    assert_flat(capture_and_run)


def test_refcounts_of_shared_objects_do_not_move(stream):
    data, function = object(), (lambda _: None)
    before = [sys.getrefcount(thing) for thing in (data, function, None, acl, acl.rt)]
    for _ in range(ROUNDS):
        acl.rt.launch_host_func(stream, function, data)
        acl.get_recent_err_msg()
        acl.app_log(0, "text")
        acl.destroy_tensor_desc(0)
    assert acl.rt.synchronize_stream(stream) == 0
    after = [sys.getrefcount(thing) for thing in (data, function, None, acl, acl.rt)]
    assert [new - old for old, new in zip(before, after)] == pytest.approx([0] * 5, abs=20)
