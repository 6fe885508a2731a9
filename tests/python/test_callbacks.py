"""Python functions that the library calls, threads, and the interpreter lock: nothing that waits may hold it."""
import ctypes
import errno
import gc
import signal
import sys
import threading
import weakref

import pytest

import acl
import live
from helpers import D2H, H2D, Device, Gate, Pinned, Server, pattern, run_program

BLOCK, NO_BLOCK = 1, 0
SIZE = 4096


class Token:
    """Something whose end can be seen."""


def test_a_callback_gets_the_very_object(stream):
    seen = []
    with Server(stream):
        for data in ([1, 2], None, {"a": 1}, seen):
            assert acl.rt.launch_callback(seen.append, data, BLOCK, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    assert len(seen) == 4 and seen[0] == [1, 2] and seen[1] is None and seen[3] is seen


def test_callbacks_run_in_order_on_the_subscribed_thread(stream):
    seen = []
    with Server(stream) as server:
        for step in range(100):
            assert (
                acl.rt.launch_callback(lambda step: seen.append((step, threading.get_ident())), step, NO_BLOCK, stream)
                == 0
            )
        assert acl.rt.launch_callback(lambda _: None, None, BLOCK, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [(step, server.thread_id) for step in range(100)]


def test_the_main_thread_can_serve_itself(stream):
    seen = []
    assert acl.rt.process_report(50) == 107012
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    assert acl.rt.process_report(1) == 507012
    assert acl.rt.process_report(0) == 100000
    assert acl.rt.launch_callback(seen.append, "here", NO_BLOCK, stream) == 0
    while not seen:
        assert acl.rt.process_report(-1) == 0
    assert seen == ["here"]
    assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0


def test_callbacks_may_call_back_into_the_module(stream):
    results = []

    def copy_out(args):
        device, size = args
        host, ret = acl.rt.malloc_host(size)
        assert ret == 0
        assert acl.rt.memcpy(host, size, device, size, D2H) == 0
        results.append(acl.util.ptr_to_bytes(host, size))
        assert acl.rt.free_host(host) == 0
        assert acl.rt.get_context()[1] == 0

    with Device(SIZE, pattern(SIZE)) as block, Server(stream):
        assert acl.rt.launch_callback(copy_out, [block.ptr, SIZE], BLOCK, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    assert results == [pattern(SIZE)]


def test_a_blocking_callback_holds_the_stream(stream):
    with Device(SIZE, b"\0" * SIZE) as block, Server(stream):
        opened = threading.Event()
        assert acl.rt.launch_callback(lambda _: opened.wait(), None, BLOCK, stream) == 0
        assert acl.rt.memset_async(block.ptr, SIZE, 1, SIZE, stream) == 0
        assert block.read() == b"\0" * SIZE
        opened.set()
        assert acl.rt.synchronize_stream(stream) == 0
        assert block.read() == b"\1" * SIZE


def test_launch_without_a_subscriber_is_refused_and_keeps_nothing(stream):
    token = Token()
    before = sys.getrefcount(token)
    assert acl.rt.launch_callback(lambda _: None, token, BLOCK, stream) == 107015
    assert sys.getrefcount(token) == before
    with pytest.raises(TypeError):
        acl.rt.launch_callback(None, token, BLOCK, stream)
    assert acl.rt.launch_callback(print, token, 2, stream) == 100000
    assert acl.rt.launch_callback(print, token, BLOCK, 64) == 107017
    assert sys.getrefcount(token) == before


def test_references_live_until_the_callback_ran(stream):
    token = Token()
    gone = weakref.ref(token)
    with Server(stream):
        opened = threading.Event()
        assert acl.rt.launch_callback(lambda _: opened.wait(), None, BLOCK, stream) == 0
        assert acl.rt.launch_callback(lambda data: None, token, BLOCK, stream) == 0
        del token
        gc.collect()
        assert gone() is not None
        opened.set()
        assert acl.rt.synchronize_stream(stream) == 0
    assert gone() is None


@pytest.mark.parametrize("drop", [acl.rt.stream_abort, acl.rt.destroy_stream_force])
def test_callbacks_of_dropped_work_are_forgotten(device, drop):
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    token = Token()
    gone = weakref.ref(token)
    gate = Gate(stream)
    gate.await_arrival()
    assert acl.rt.launch_host_func(stream, lambda data: None, token) == 0
    del token
    context, codes = acl.rt.get_context()[0], []
    dropper = threading.Thread(target=lambda: codes.extend((acl.rt.set_context(context), drop(stream))))
    dropper.start()
    gate.open()
    dropper.join()
    assert codes == [0, 0]
    assert gone() is None
    if drop is acl.rt.stream_abort:
        assert acl.rt.destroy_stream(stream) == 0


def test_an_exception_in_a_callback_is_printed_and_goes_no_further(stream, monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    with Server(stream) as server:
        assert acl.rt.launch_callback(lambda _: 1 / 0, None, BLOCK, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.launch_callback(lambda wrong, number: None, None, BLOCK, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    assert [entry.exc_type for entry in shown] == [ZeroDivisionError, TypeError]
    assert 0 in server.codes


def test_host_functions_run_on_a_thread_of_the_library(stream):
    seen = []
    assert (
        acl.rt.launch_host_func(
            stream, lambda data: seen.append((data, threading.get_ident(), acl.rt.get_context())), "data"
        )
        == 0
    )
    assert acl.rt.synchronize_stream(stream) == 0
    ((data, thread, context),) = seen
    assert data == "data" and thread != threading.get_ident() and context == (0, 107002)
    with pytest.raises(TypeError):
        acl.rt.launch_host_func(stream, 1, None)
    assert acl.rt.launch_host_func(64, print, None) == 107017


def test_a_captured_callback_runs_at_every_replay_and_lives_as_long_as_the_graph(stream):
    seen, token = [], Token()
    gone = weakref.ref(token)
    with Server(stream):
        assert acl.mdl.ri_capture_begin(stream, 2) == 0
        assert acl.rt.launch_callback(lambda data: seen.append(type(data)), token, BLOCK, stream) == 0
        model, ret = acl.mdl.ri_capture_end(stream)
        assert ret == 0
        del token
        for _ in range(3):
            assert acl.mdl.ri_execute_async(model, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert seen == [Token] * 3
        assert gone() is not None
        assert acl.mdl.ri_destroy(model) == 0
        assert gone() is None


def test_capture_through_ctypes_keeps_callbacks_too(stream):
    seen, token = [], Token()
    gone = weakref.ref(token)
    library, handle, model = live.library, ctypes.c_void_p(stream), ctypes.c_void_p()
    with Server(stream):
        assert library.aclmdlRICaptureBegin(handle, 2) == 0
        assert acl.rt.launch_callback(lambda data: seen.append(type(data)), token, BLOCK, stream) == 0
        assert library.aclmdlRICaptureEnd(handle, ctypes.byref(model)) == 0
        del token
        for _ in range(2):
            assert library.aclmdlRIExecuteAsync(model, handle) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert seen == [Token] * 2
        assert library.aclmdlRIDestroy(model) == 0
        assert gone() is None


# --- Exceptions of tasks ----------------------------------------------------------------------------------------------


def fail_a_task(stream):
    """A copy whose descriptor has become nonsense by the time it runs."""
    size, ret = acl.rt.get_memcpy_desc_size(6)
    assert ret == 0
    with Device(size) as descriptor, Device(SIZE) as source, Device(SIZE) as target:
        assert acl.rt.set_memcpy_desc(descriptor.ptr, 6, source.ptr, target.ptr, SIZE, 0)[1] == 0
        descriptor.write(b"\xff" * size)
        assert acl.rt.memcpy_async_with_desc(descriptor.ptr, 6, stream) == 0
        assert acl.rt.synchronize_stream(stream) != 0


def test_the_exception_callback_reads_what_happened(stream):
    seen = []

    def on_exception(info):
        seen.append(
            (
                acl.rt.get_error_code_from_exception_info(info),
                acl.rt.get_stream_id_from_exception_info(info),
                acl.rt.get_device_id_from_exception_info(info),
                acl.rt.get_task_id_from_exception_info(info),
                acl.rt.get_thread_id_from_exception_info(info),
                type(info),
            )
        )

    assert acl.rt.set_exception_info_callback(on_exception) == 0
    fail_a_task(stream)
    assert acl.rt.set_exception_info_callback(None) == 0
    (code, stream_id, device_id, _, thread_id, kind), = seen
    assert thread_id == threading.get_native_id()
    assert code != 0 and (stream_id, 0) == acl.rt.stream_get_id(stream) and device_id == 0 and kind is int


def test_an_exception_callback_that_raises_is_dropped(stream, monkeypatch):
    shown, done, calls = [], threading.Event(), []
    monkeypatch.setattr(sys, "unraisablehook", lambda entry: (shown.append(entry.exc_type), done.set()))

    def broken(info):
        calls.append(info)
        raise KeyError("broken")

    gone = weakref.ref(broken)
    assert acl.rt.set_exception_info_callback(broken) == 0
    fail_a_task(stream)
    done.wait()
    fail_a_task(stream)
    assert acl.rt.set_exception_info_callback() == 0
    assert shown == [KeyError] and len(calls) == 1
    del broken
    shown.clear()
    gc.collect()
    assert gone() is None


def test_the_exception_callback_must_be_callable():
    for wrong in (1, "f", []):
        with pytest.raises(TypeError):
            acl.rt.set_exception_info_callback(wrong)
    assert acl.rt.get_error_code_from_exception_info(0) == 0xFFFFFFFF


# --- The interpreter lock: each of these hangs when it is held --------------------------------------------------------


@pytest.fixture
def held(device):
    """A stream that waits for a Python callback, which can run only while nobody holds the interpreter lock."""
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    server = Server(stream)
    runs = []
    assert acl.rt.launch_callback(lambda _: runs.append([i for i in range(1000)]), None, BLOCK, stream) == 0
    yield stream, runs
    server.join()
    acl.rt.destroy_stream(stream)  # some tests have done that


def copy_pageable(stream):
    data = bytes(SIZE)
    with Device(SIZE) as block:
        return acl.rt.memcpy_async(block.ptr, SIZE, acl.util.bytes_to_ptr(data), SIZE, H2D, stream)


def copy_rows_pageable(stream):
    data = bytes(SIZE)
    with Device(SIZE) as block:
        return acl.rt.memcpy2d_async(block.ptr, 64, acl.util.bytes_to_ptr(data), 64, 64, SIZE // 64, H2D, stream)


def wait_for_event(stream):
    event, ret = acl.rt.create_event()
    assert ret == 0
    assert acl.rt.record_event(event, stream) == 0
    code = acl.rt.synchronize_event(event)
    assert acl.rt.destroy_event(event) == 0
    return code


@pytest.mark.parametrize(
    "wait",
    [
        acl.rt.synchronize_stream,
        lambda stream: acl.rt.synchronize_stream_with_timeout(stream, -1),
        lambda stream: acl.rt.synchronize_device(),
        lambda stream: acl.rt.synchronize_device_with_timeout(-1),
        wait_for_event,
        copy_pageable,
        copy_rows_pageable,
        acl.rt.destroy_stream,
    ],
    ids=["stream", "stream_timeout", "device", "device_timeout", "event", "pageable", "pageable_rows", "destroy"],
)
def test_waiting_calls_let_callbacks_run(held, wait):
    stream, runs = held
    assert wait(stream) == 0
    assert len(runs) == 1


def test_unsubscribing_lets_callbacks_run(device):
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    runs = []
    with Server(stream):
        assert acl.rt.launch_callback(runs.append, 1, BLOCK, stream) == 0
    assert runs == [1]
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("end", ["context", "device"])
def test_ending_contexts_and_devices_lets_callbacks_run(end):
    assert acl.rt.set_device(0) == 0
    context, ret = acl.rt.create_context(0) if end == "context" else acl.rt.get_context()
    assert ret == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0
    runs = []
    assert acl.rt.launch_host_func(stream, runs.append, 1) == 0
    if end == "context":
        assert acl.rt.destroy_context(context) == 0
    assert acl.rt.reset_device(0) == 0
    assert runs == [1]


def test_a_submit_that_meets_a_full_queue_lets_callbacks_run(stream):
    submitted, copies = [0], 5000

    def wait_for_a_full_queue(_):
        while submitted[0] < 2000:
            pass

    assert acl.rt.launch_host_func(stream, wait_for_a_full_queue, None) == 0
    with Device(64) as block:
        for _ in range(copies):
            assert acl.rt.memset_async(block.ptr, 64, 1, 64, stream) == 0
            submitted[0] += 1
        assert acl.rt.synchronize_stream(stream) == 0


def test_a_callback_may_wait_for_another_python_thread(stream):
    """A copy is blocked until a Python thread makes progress, while the main thread waits for that copy."""
    asked, answered = threading.Event(), threading.Event()

    def helper():
        asked.wait()
        answered.set()

    thread = threading.Thread(target=helper)
    thread.start()
    assert acl.rt.launch_host_func(stream, lambda _: (asked.set(), answered.wait()), None) == 0
    assert copy_pageable(stream) == 0
    thread.join()


def test_many_threads_submit_and_wait(device):
    context, _ = acl.rt.get_context()
    failures = []

    def work(seed):
        try:
            assert acl.rt.set_context(context) == 0
            stream, ret = acl.rt.create_stream()
            assert ret == 0
            with Pinned(SIZE, pattern(SIZE, seed)) as source, Pinned(SIZE) as back, Device(SIZE) as block:
                for _ in range(50):
                    assert acl.rt.memcpy_async(block.ptr, SIZE, source.ptr, SIZE, H2D, stream) == 0
                    assert acl.rt.memcpy_async(back.ptr, SIZE, block.ptr, SIZE, D2H, stream) == 0
                    assert acl.rt.launch_host_func(stream, lambda _: None, None) == 0
                    assert acl.rt.synchronize_stream(stream) == 0
                assert back.read() == pattern(SIZE, seed)
            assert acl.rt.destroy_stream(stream) == 0
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# --- Threads of acl.util ----------------------------------------------------------------------------------------------


def test_threads_get_their_argument_or_none():
    seen = []
    for argument in ([1], (), 0, ""):
        thread, err = acl.util.start_thread(seen.append, argument)
        assert err == 0 and thread > 2**31
        assert acl.util.stop_thread(thread) == 0
    assert seen == [[1], (), 0, ""]
    thread, err = acl.util.start_thread(lambda: seen.append("no argument"), None)
    assert (acl.util.stop_thread(thread), err) == (0, 0)
    assert seen[-1] == "no argument"


def test_thread_ids_are_those_of_python():
    seen = []
    thread, _ = acl.util.start_thread(lambda: seen.append(threading.get_ident()), None)
    assert acl.util.stop_thread(thread) == 0
    assert seen == [thread]


def test_a_new_thread_has_no_context(device):
    seen = []
    thread, _ = acl.util.start_thread(lambda: seen.append(acl.rt.get_context()), None)
    assert acl.util.stop_thread(thread) == 0
    assert seen == [(0, 107002)]


def test_a_thread_that_raises(capsys):
    thread, _ = acl.util.start_thread(lambda: {}["missing"], None)
    with pytest.raises(RuntimeError, match="^exception=KeyError,msg=thread call failed;$"):
        acl.util.stop_thread(thread)
    assert "KeyError: 'missing'" in capsys.readouterr().err


def test_a_thread_that_exits():
    thread, _ = acl.util.start_thread(sys.exit, 3)
    assert acl.util.stop_thread(thread) == 0


def test_stopping_what_cannot_be_stopped():
    assert acl.util.stop_thread(12345) == errno.ESRCH
    thread, _ = acl.util.start_thread(lambda: None, None)
    assert acl.util.stop_thread(thread) == 0
    assert acl.util.stop_thread(thread) == errno.ESRCH
    results, ready = [], threading.Event()

    def stop_myself():
        ready.wait()
        results.append(acl.util.stop_thread(threading.get_ident()))

    thread, _ = acl.util.start_thread(stop_myself, None)
    ready.set()
    assert acl.util.stop_thread(thread) == 0
    assert results in ([errno.EDEADLK], [errno.ESRCH])
    with pytest.raises(TypeError):
        acl.util.start_thread(1, None)


def test_start_thread_gives_control_c_back_to_the_system():
    done = run_program(
        """
        import os, signal, acl
        thread, _ = acl.util.start_thread(lambda: None, None)
        acl.util.stop_thread(thread)
        os.kill(os.getpid(), signal.SIGINT)
        print("still here")
    """,
        check=False,
    )
    assert done.returncode == -signal.SIGINT and done.stdout == ""
