"""Twenty things that are easy to get wrong, one test each; the files about the subjects go deeper."""
import ctypes
import sys
import threading
import warnings

import pytest

import acl
import live
from helpers import D2H, H2D, H2H, INVALID_PARAM, NOT_SUPPORTED, Device, Gate, Pinned, Server, pattern, run_program

SIZE = 4096


def test_1_a_copy_writes_into_an_immutable_object(device):
    data = bytes(bytearray(SIZE))
    with Device(SIZE, pattern(SIZE)) as block:
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(data), SIZE, block.ptr, SIZE, D2H) == 0
    assert data == pattern(SIZE)


def test_2_pageable_sources_are_consumed_before_the_call_returns(stream):
    data = pattern(SIZE)
    with Device(SIZE) as block:
        assert acl.rt.memcpy_async(block.ptr, SIZE, acl.util.bytes_to_ptr(data), SIZE, H2D, stream) == 0
        ctypes.memset(acl.util.bytes_to_ptr(data), 0, SIZE)
        assert acl.rt.synchronize_stream(stream) == 0
        assert block.read() == pattern(SIZE)


def test_3_names_are_spelt_as_they_are():
    for name in (
        "memcpy2d",
        "memcpy2d_async",
        "set_context",
        "get_context",
        "set_op_execute_time_out",
        "set_op_execute_timeout_v2",
        "unsubscribe_report",
    ):
        assert callable(getattr(acl.rt, name))
    assert callable(acl.set_tensor_place_ment)
    assert callable(acl.prof.model_un_subscribe) and callable(acl.prof.model_unsubscribe)
    assert not hasattr(acl.rt, "memcpy_2d") and not hasattr(acl.rt, "set_current_context")


def test_4_orders_of_arguments_differ(stream):
    event, ret = acl.rt.create_event()
    assert ret == 0
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.record_event(stream, event) == 107017
    assert acl.rt.stream_wait_event(stream, event) == 0
    assert acl.rt.stream_wait_event(event, stream) == 107017
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0
    with Device(64) as desc, Device(64, b"\1" * 64) as source, Device(64, b"\0" * 64) as target:
        assert acl.rt.set_memcpy_desc(desc.ptr, 6, source.ptr, target.ptr, 64, 0)[1] == 0
        assert acl.rt.memcpy_async_with_desc(desc.ptr, 6, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert target.read() == b"\1" * 64


def test_5_shapes_of_siblings_differ():
    assert type(acl.rt.memcpy_async_with_desc(0, 6, 0)) is int
    assert acl.rt.set_memcpy_desc(0, 6, 0, 0, 0, 0) == (0, INVALID_PARAM)
    assert acl.mdl.add_dataset_buffer(0, 0) == (0, INVALID_PARAM)
    assert acl.mdl.get_desc(0, 0) == NOT_SUPPORTED
    assert len(acl.rt.host_register(0, 0, 0)) == 2 and type(acl.rt.host_register_v2(0, 0, 0)) is int
    assert type(acl.rt.get_last_error(0)) is int and type(acl.get_soc_name()) is str


def test_6_a_failed_create_is_zero_and_never_none():
    assert acl.mdl.create_desc() == 0
    assert acl.rt.create_group_info() == 0
    assert acl.rt.malloc(0, 0)[0] == 0
    assert acl.rt.create_context(1000) == (0, 107001)


def test_7_probing_finds_both_generations():
    assert {"bytes_to_ptr", "ptr_to_bytes", "numpy_to_ptr", "ptr_to_numpy"} <= set(dir(acl.util))
    assert hasattr(acl.rt, "memcpy_async") and "memcpy_async_with_desc" in dir(acl.rt)
    assert "vector_to_ptr" not in dir(acl.util)


def test_8_warnings_are_shown_by_default_once_for_each_place():
    pytest.importorskip("numpy")
    done = run_program(
        """
        import numpy, acl
        array = numpy.zeros(4)
        for _ in range(3):
            acl.util.numpy_to_ptr(array)
        acl.util.numpy_to_ptr(array)
    """
    )
    assert done.stderr.count("Warning: acl.util.numpy_to_ptr will be deprecated") == 2


def test_9_nothing_that_waits_holds_the_interpreter_lock():
    assert acl.init() in (0, 100002)
    assert acl.rt.set_device(0) == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    seen = []
    with Server(stream):
        assert acl.rt.launch_callback(seen.append, 1, 1, stream) == 0
        assert acl.rt.synchronize_device_with_timeout(-1) == 0
        assert seen == [1]
    assert acl.rt.launch_callback(seen.append, 2, 1, stream) == 107015
    assert acl.rt.reset_device(0) == 0
    assert acl.finalize() == 0


def test_10_numpy_integers_fit_everywhere(device):
    numpy = pytest.importorskip("numpy")
    pointer, ret = acl.rt.malloc(numpy.uint32(64), numpy.int8(0))
    assert ret == 0
    assert acl.rt.free(numpy.uint64(pointer)) == 0


def test_11_numbers_are_masked_and_c_refuses(device):
    with Pinned(64) as pinned:
        assert acl.rt.memcpy(pinned.ptr, 64, pinned.ptr, -1, H2H) != 0
        assert acl.rt.memset(pinned.ptr, -1, 0, 2**64) == 0, "the count becomes 0"


def test_12_lists_are_lists_and_shapes_are_tuples(device):
    for call in (
        lambda: acl.rt.notify_batch_reset(()),
        lambda: acl.rt.ipc_mem_set_import_pid("key", (1,)),
        lambda: acl.create_tensor_desc(0, (1,), 2),
    ):
        with pytest.raises(ValueError):
            call()
    pytest.importorskip("numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError):
            acl.util.ptr_to_numpy(64, [1], 2)


def test_13_extra_positionals_are_ignored_where_none_are_wanted(device):
    assert acl.rt.synchronize_device(device) == 0
    assert acl.rt.get_device(1, 2, 3) == (0, 0)
    with pytest.raises(TypeError):
        acl.rt.get_group_count()


def test_14_threads_have_64_bit_ids_and_no_context(device):
    seen = []
    thread, err = acl.util.start_thread(lambda: seen.append((threading.get_ident(), acl.rt.get_context()[1])), None)
    assert err == 0 and thread > 2**31
    assert acl.util.stop_thread(thread) == 0
    assert seen == [(thread, 107002)]


def test_15_calls_in_any_order_answer_with_codes():
    assert acl.rt.set_device(0) == 0
    stream, _ = acl.rt.create_stream()
    pointer, _ = acl.rt.malloc(64, 0)
    event, _ = acl.rt.create_event()
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.destroy_stream(stream) == 107017
    assert acl.rt.synchronize_stream(stream) == 107017
    assert acl.rt.free(pointer) != 0
    assert acl.rt.reset_device(0) == 507007
    assert acl.rt.destroy_event(event) in (0, 107017)
    assert acl.rt.destroy_event(event) == 107017
    acl.finalize()
    assert acl.finalize() == 100037
    assert acl.rt.get_context() == (0, 107002)


def test_16_before_init_and_without_a_device():
    done = run_program(
        """
        import acl
        mode, ret = acl.rt.get_run_mode()
        print(mode, ret, acl.rt.get_device()[1])
    """
    )
    assert done.stdout == "1 0 107002\n"


def test_17_memory_info_answers_for_every_kind(device):
    for attribute in range(18):
        free, total, ret = acl.rt.get_mem_info(attribute)
        assert ret == 0 and free <= total
    assert acl.rt.get_mem_info(1)[1] > 0
    assert acl.rt.get_mem_info(18)[2] != 0


def test_18_a_wrong_kind_is_normal_in_memcpy_only(stream):
    with Pinned(64, b"\7" * 64) as source, Device(64) as block, Pinned(64) as back:
        for kind in range(6):
            block.write(b"\0" * 64)
            assert acl.rt.memcpy(block.ptr, 64, source.ptr, 64, kind) == 0
            assert block.read() == b"\7" * 64
        for kind in (6, 7, 8, -1):
            assert acl.rt.memcpy(block.ptr, 64, source.ptr, 64, kind) == INVALID_PARAM
        assert acl.rt.memcpy(back.ptr, 64, source.ptr, 64, D2H) == 0
        assert back.read() == b"\7" * 64
        pageable = bytes(64)
        assert acl.rt.memcpy_async(block.ptr, 64, acl.util.bytes_to_ptr(pageable), 64, D2H, stream) == 107000
        assert acl.rt.memcpy_async(back.ptr, 64, source.ptr, 64, H2H, stream) == NOT_SUPPORTED


def test_19_slips_of_the_original_are_not_copied(stream):
    memory, ret = acl.rt.get_device_info(0, 301)
    assert ret == 0 and memory >= 2**31, "not narrowed"
    token = object()
    before = sys.getrefcount(token)
    for _ in range(100):
        assert acl.rt.launch_callback(print, token, 1, stream) == 107015
    assert sys.getrefcount(token) == before, "a refused launch keeps nothing"
    assert sys.getrefcount(acl.rt) > 1


def test_20_one_runtime_for_python_and_c(stream):
    context, ret = acl.rt.get_context()
    assert ret == 0
    seen = ctypes.c_void_p()
    assert live.library.aclrtGetCurrentContext(ctypes.byref(seen)) == 0 and seen.value == context
    made = ctypes.c_void_p()
    assert live.library.aclrtMalloc(ctypes.byref(made), ctypes.c_size_t(64), 0) == 0
    with Gate(stream) as gate:
        assert acl.rt.memset_async(made.value, 64, 1, 64, stream) == 0
        gate.open()
        assert live.library.aclrtSynchronizeStream(ctypes.c_void_p(stream)) == 0
    assert acl.rt.free(made.value) == 0
    assert acl.init() in (0, 100002)
    assert live.library.aclInit(None) == 100002
    assert acl.finalize_reference()[1] == 0
    assert acl.finalize() == 0
