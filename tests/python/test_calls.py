"""Every group of calls once with its good result: the values come through, in the documented order."""
import os

import pytest

import acl
from helpers import D2D, D2H, H2D, NOT_SUPPORTED, Device, Gate, Pinned, pattern, run_program

SIZE = 4096


def test_init_counts():
    assert acl.init() == 0
    assert acl.init() == 100002
    assert acl.finalize_reference() == (1, 0)
    assert acl.finalize() == 0
    assert acl.finalize() == 100037


def test_init_takes_a_file(tmp_path):
    """In a program of its own: the first file binds the process."""
    config = tmp_path / "acl.json"
    config.write_text('{"err_msg_mode": "1", "unknown": 1}')
    run_program(
        """
        import sys, threading, acl
        assert acl.init(sys.argv[1] + ".missing") != 0
        assert acl.init(sys.argv[1]) == 0
        acl.get_recent_err_msg()
        thread = threading.Thread(target=acl.rt.set_device, args=(1000,))
        thread.start()
        thread.join()
        assert "1000" in acl.get_recent_err_msg(), "texts are the process's in this mode"
        assert acl.finalize() == 0
    """,
        str(config),
    )


def test_error_texts_are_taken_once():
    assert acl.get_recent_err_msg() is None
    assert acl.rt.set_device(1000) == 107001
    text = acl.get_recent_err_msg()
    assert "aclrtSetDevice" in text and "1000" in text
    assert acl.get_recent_err_msg() is None


def test_last_error_is_bare():
    acl.rt.set_device(1000)
    assert acl.rt.peek_at_last_error(0) == 107001
    assert acl.rt.get_last_error(0) == 107001
    assert acl.rt.get_last_error(0) == 0
    assert acl.rt.get_last_error(1) == 100000


def test_versions():
    assert acl.get_version() == (1, 17, 0, 0)
    version, ret = acl.get_cann_version(1)
    assert set(version) == {"version", "major_version", "minor_version", "release_version", "patch_version", "reserved"}
    text, ret_text = acl.get_version_str("runtime")
    assert ret == ret_text and (ret != 0 or version["version"] == text)


def test_versions_of_the_tree(monkeypatch):
    tree = os.environ.get("ROPEWAY_TEST_TREE")
    if tree is None:
        pytest.skip("ROPEWAY_TEST_TREE does not name the drop-in tree")
    monkeypatch.setenv("ASCEND_HOME_PATH", tree)
    version, ret = acl.get_cann_version(1)
    assert ret == 0
    assert acl.get_version_str("runtime") == (version["version"], 0)
    assert version["major_version"] == version["version"].split(".")[0]


def test_abilities():
    attributes, number, ret = acl.get_cann_attribute_list()
    assert (number, ret) == (len(attributes), 0)
    for attribute in attributes:
        assert acl.get_cann_attribute(attribute)[1] == 0


def test_device_facts(device):
    assert acl.rt.get_device_count()[0] >= 1
    assert acl.rt.query_device_status(device) == (0, 0)
    memory, ret = acl.rt.get_device_info(device, 301)
    assert ret == 0 and memory > 2**32, "64 bits come through"
    assert acl.get_device_capability(device, 0)[1] == 0
    assert acl.rt.get_device_capability(device, 1)[1] == 0
    assert acl.rt.device_get_stream_priority_range() == (7, 0, 0)
    uuid, ret = acl.rt.device_get_uuid(device)
    assert ret == 0 and len(uuid["bytes"]) == 16 and all(0 <= byte < 256 for byte in uuid["bytes"])
    rates, ret = acl.rt.get_device_utilization_rate(device)
    assert ret == 0 and set(rates) == {
        "cube_utilization",
        "vector_utilization",
        "aicpu_utilization",
        "memory_utilization",
        "utilization_extend",
    }
    assert acl.rt.get_logic_dev_id_by_user_dev_id(device) == (0, 0)
    assert acl.rt.get_user_dev_id_by_logic_dev_id(0) == (0, 0)
    assert acl.rt.get_logic_dev_id_by_phy_dev_id(0) == (0, 0)
    assert acl.rt.get_phy_dev_id_by_logic_dev_id(0) == (0, 0)
    assert acl.rt.device_get_bare_tgid() == (os.getpid(), 0)
    assert acl.rt.get_primary_ctx_state(device) == (1, 0, 0)
    assert acl.rt.get_mem_uce_info(device, 16) == ([], 0)
    assert acl.rt.get_mem_uce_info(device, 2**31) == ([], 100000)
    assert acl.rt.mem_uce_repair(device, [{"addr": 4096, "len": 64, "reserved": [0] * 14}]) == NOT_SUPPORTED


def test_limits_and_options(device):
    assert acl.rt.set_ts_device(0) == 0
    assert acl.rt.set_sys_param_opt(0, 1) == 0
    assert acl.rt.get_sys_param_opt(0) == (1, 0)
    assert acl.rt.set_sys_param_opt(0, 0) == 0
    assert acl.rt.ctx_get_sys_param_opt(1)[1] == 107021
    assert acl.rt.ctx_set_sys_param_opt(1, 1) == 0
    assert acl.rt.ctx_get_sys_param_opt(1) == (1, 0)
    before, ret = acl.rt.device_get_limit(2)
    assert ret == 0
    assert acl.rt.device_set_limit(2, 65536) in (0, NOT_SUPPORTED)
    assert acl.rt.device_set_limit(2, before) in (0, NOT_SUPPORTED)
    cores, ret = acl.rt.get_device_res_limit(device, 0)
    assert ret == 0
    assert acl.rt.set_device_res_limit(device, 0, 1) == 0
    assert acl.rt.get_device_res_limit(device, 0) == (1, 0)
    assert acl.rt.reset_device_res_limit(device) == 0
    assert acl.rt.get_device_res_limit(device, 0) == (cores, 0)
    mode, ret = acl.rt.get_device_sat_mode()
    assert ret == 0
    assert acl.rt.set_device_sat_mode(mode) == 0
    assert acl.rt.set_op_wait_timeout(0) == 0


def test_peers(device):
    if acl.rt.get_device_count()[0] < 2:
        pytest.skip("one device only")
    assert acl.rt.device_can_access_peer(0, 1) == (1, 0)
    assert acl.rt.get_devices_topo(0, 1)[1] == 0
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (1, 0)
    assert acl.rt.device_disable_peer_access(1) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)


def test_contexts(device):
    default, ret = acl.rt.get_context()
    assert ret == 0
    context, ret = acl.rt.create_context(device)
    assert ret == 0 and acl.rt.get_context() == (context, 0)
    stream, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0 and stream
    assert acl.rt.set_context(default) == 0
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.get_context() == (default, 0)
    assert acl.rt.set_context(0) == 100000


def test_streams(device):
    stream, ret = acl.rt.create_stream_with_config(7, 1)
    assert ret == 0
    assert acl.rt.stream_query(stream) == (0, 0)
    assert acl.rt.stream_get_id(stream)[1] == 0
    assert acl.rt.get_stream_available_num()[1] == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, -1) == 0
    assert acl.rt.synchronize_stream_with_timeout(stream, 0) == 107000
    assert acl.rt.synchronize_device_with_timeout(1000) == 0
    assert acl.rt.set_stream_failure_mode(stream, 0) == 0
    assert acl.rt.set_stream_res_limit(stream, 0, 2) == 0
    assert acl.rt.get_stream_res_limit(stream, 0) == (2, 0)
    assert acl.rt.use_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(0) == (2, 0)
    assert acl.rt.unuse_stream_res_in_current_thread(stream) == 0
    assert acl.rt.reset_stream_res_limit(stream) == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_stream(stream) == 107017


def test_a_stream_that_is_held_is_not_ready(stream):
    with Gate(stream) as gate:
        gate.await_arrival()
        assert acl.rt.stream_query(stream) == (1, 0)
        assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
        gate.open()
        assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.stream_query(stream) == (0, 0)


def test_abort_drops_what_waits(stream):
    with Device(SIZE, b"\0" * SIZE) as block, Gate(stream) as gate:
        gate.await_arrival()
        assert acl.rt.memset_async(block.ptr, SIZE, 1, SIZE, stream) == 0
        gate.open()
        assert acl.rt.synchronize_stream(stream) == 0
        assert acl.rt.stream_abort(stream) == 0
        assert acl.rt.device_task_abort(0, 0) == 0
        assert block.read() == b"\1" * SIZE


def test_events(stream):
    events = []
    for make in (
        acl.rt.create_event,
        lambda: acl.rt.create_event_with_flag(9),
        lambda: acl.rt.create_event_ex_with_flag(9),
    ):
        event, ret = make()
        assert ret == 0
        events.append(event)
    first, latched, second = events
    with Gate(stream) as gate:
        assert acl.rt.record_event(first, stream) == 0
        assert acl.rt.query_event_status(first) == (0, 0)
        assert acl.rt.query_event(first) == (1, 0)
        assert acl.rt.synchronize_event_with_timeout(first, 1) == 507047
        gate.open()
        assert acl.rt.synchronize_event(first) == 0
    assert acl.rt.query_event_status(first) == (1, 0)
    assert acl.rt.query_event(first) == (0, 0)
    assert acl.rt.record_event(second, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    elapsed, ret = acl.rt.event_elapsed_time(first, second)
    assert ret == 0 and type(elapsed) is float and elapsed >= 0
    assert acl.rt.event_get_timestamp(second)[1] == 0
    assert acl.rt.get_event_avail_num()[1] == 0
    assert acl.rt.record_event(latched, stream) == 0
    assert acl.rt.stream_wait_event(stream, latched) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.query_event_wait_status(latched) == (0, 0)
    assert acl.rt.get_event_id(latched)[1] == 0
    assert acl.rt.reset_event(latched, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    for event in events:
        assert acl.rt.destroy_event(event) == 0


def test_an_event_orders_two_streams(stream):
    other, ret = acl.rt.create_stream()
    assert ret == 0
    event, ret = acl.rt.create_event_ex_with_flag(1)
    assert ret == 0
    with Device(SIZE, b"\0" * SIZE) as block, Pinned(SIZE) as home, Gate(stream) as gate:
        assert acl.rt.memset_async(block.ptr, SIZE, 5, SIZE, stream) == 0
        assert acl.rt.record_event(event, stream) == 0
        assert acl.rt.stream_wait_event(other, event) == 0
        assert acl.rt.memcpy_async(home.ptr, SIZE, block.ptr, SIZE, D2H, other) == 0
        assert acl.rt.stream_query(other) == (1, 0)
        gate.open()
        assert acl.rt.synchronize_stream(other) == 0
        assert home.read() == b"\5" * SIZE
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.destroy_stream(other) == 0


def test_notifies(stream):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    assert acl.rt.get_notify_id(notify)[1] == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.notify_batch_reset([notify]) == 0
    with pytest.raises(ValueError):
        acl.rt.notify_batch_reset((notify,))
    with pytest.raises(TypeError):
        acl.rt.notify_batch_reset(["x"])
    assert acl.rt.destroy_notify(notify) == 0


@pytest.mark.parametrize(
    "allocate",
    [
        lambda: acl.rt.malloc(SIZE, 0),
        lambda: acl.rt.malloc_align32(SIZE, 2),
        lambda: acl.rt.malloc_cached(SIZE, 0),
        lambda: acl.media.dvpp_malloc(SIZE),
        lambda: acl.rt.malloc_for_task_scheduler(SIZE, 0, {}),
    ],
)
def test_device_allocators(device, allocate):
    pointer, ret = allocate()
    assert ret == 0 and pointer
    assert acl.rt.pointer_get_attributes(pointer)[0]["location"] == {"id": 0, "type": 1}
    assert acl.rt.memset(pointer, SIZE, 3, SIZE) == 0
    assert acl.rt.mem_flush(pointer, SIZE) == 0
    assert acl.rt.mem_invalidate(pointer, SIZE) == 0
    assert acl.rt.free(pointer) == 0
    assert acl.rt.free(pointer) == 107000


def test_where_addresses_live(device):
    pageable = bytearray(SIZE)
    address = acl.util.bytes_to_ptr(bytes(pageable))
    with Pinned(SIZE) as pinned:
        attributes, ret = acl.rt.pointer_get_attributes(pinned.ptr)
        assert ret == 0 and attributes["location"]["type"] == 0
        assert len(attributes["rsv"]) == 4 and attributes["page_size"] >= 0
    assert acl.rt.pointer_get_attributes(address)[0]["location"]["type"] == 2


def test_registered_memory(stream):
    page = 4096
    memory = acl.util.bytes_to_ptr(storage := bytes(3 * page)) + page & ~(page - 1)
    view, ret = acl.rt.host_register(memory, page, 0)
    assert ret == 0 and view
    assert acl.rt.host_get_device_pointer(memory, 0) == (view, 0)
    assert acl.rt.host_unregister(memory) == 0
    assert acl.rt.host_register_v2(memory, page, 0x10000002) == 0
    with Device(page, pattern(page)) as block, Gate(stream) as gate:
        assert acl.rt.memcpy_async(memory, page, block.ptr, page, D2H, stream) == 0, "registered memory does not block"
        gate.open()
        assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.ptr_to_bytes(memory, page) == pattern(page)
    assert acl.rt.host_unregister(memory) == 0
    assert len(storage) == 3 * page


def test_memory_info(device):
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == 0 and 0 < free <= total
    with Device(1 << 20):
        assert acl.rt.get_mem_info(1)[0] < free
    assert acl.rt.get_mem_info(1)[0] == free


def test_rows(stream):
    width, height, pitch = 48, 16, 64
    data = pattern(pitch * height)
    with Device(width * height) as block, Pinned(pitch * height, data) as source, Pinned(width * height) as back:
        assert acl.rt.memcpy2d(block.ptr, width, source.ptr, pitch, width, height, H2D) == 0
        assert acl.rt.memcpy2d_async(back.ptr, width, block.ptr, width, width, height, D2H, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert back.read() == b"".join(data[pitch * row : pitch * row + width] for row in range(height))


def test_copies_between_blocks(stream):
    with Device(SIZE, pattern(SIZE)) as source, Device(SIZE) as target:
        assert acl.rt.memcpy_async_with_condition(target.ptr, SIZE, source.ptr, SIZE, D2D, stream) == 0
        assert acl.rt.cmo_async(target.ptr, SIZE, 0, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert target.read() == pattern(SIZE)
        assert acl.rt.memcpy_async(target.ptr, SIZE - 1, source.ptr, SIZE, D2D, stream) != 0


def test_reduction(stream):
    ones = (1).to_bytes(4, "little") * 256
    with Device(1024, ones) as source, Device(1024, ones) as target:
        assert acl.rt.reduce_async(target.ptr, source.ptr, 1024, 10, 3, stream, 0) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert target.read() == (2).to_bytes(4, "little") * 256


def test_values_in_device_memory(stream):
    other, ret = acl.rt.create_stream()
    assert ret == 0
    with Device(64, b"\0" * 64) as cell, Device(64, b"\0" * 64) as block:
        assert acl.rt.value_wait(cell.ptr, 2**64 - 2, 1, other) == 0
        assert acl.rt.memset_async(block.ptr, 64, 1, 64, other) == 0
        assert acl.rt.stream_query(other) == (1, 0)
        assert acl.rt.value_write(cell.ptr, -2, 0, stream) == 0
        assert acl.rt.synchronize_stream(other) == 0
        assert block.read() == b"\1" * 64
        assert cell.read()[:8] == b"\xfe" + b"\xff" * 7
    assert acl.rt.destroy_stream(other) == 0


def test_task_ids(stream):
    with Device(64) as block:
        assert acl.rt.memset_async(block.ptr, 64, 1, 64, stream) == 0
        assert acl.rt.get_thread_last_task_id()[1] == 0
        assert acl.rt.synchronize_stream(stream) == 0


IMPORTER = """
import sys
import acl

assert acl.rt.set_device(1) == 0
theirs, ret = acl.rt.ipc_mem_import_by_key(sys.argv[1], 0)
assert ret == 0 and theirs != 0, ret
assert acl.rt.memset(theirs, 4096, 7, 4096) == 0
assert acl.rt.ipc_mem_close(sys.argv[1]) == 0
assert acl.rt.reset_device(1) == 0
"""


def test_shared_memory_by_key(device):
    with Device(1 << 20, pattern(1 << 20)) as block:
        key, ret = acl.rt.ipc_mem_get_export_key(block.ptr, block.size, 65, 1)
        assert ret == 0 and type(key) is str and len(key) == 64
        assert acl.rt.ipc_mem_set_import_pid(key, [os.getpid()]) == 0
        run_program(IMPORTER, key)
        assert block.read() == b"\x07" * 4096 + pattern(1 << 20)[4096:]
        assert acl.rt.ipc_mem_import_by_key("key", 0) == (0, 107000)
        assert acl.rt.ipc_mem_close(key) == 0
        assert acl.rt.ipc_mem_close(key) == 107000


def test_keys_have_a_limit_and_pids_are_lists():
    for call in (
        lambda: acl.rt.ipc_mem_get_export_key(64, 64, 1024, 0),
        lambda: acl.rt.notify_get_export_key(64, 1024, 0),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (
        acl.rt.ipc_mem_set_import_pid,
        lambda _, pids: acl.rt.notify_set_import_pid(0, pids),
        lambda _, pids: acl.rt.mem_set_pid_to_shareable_handle(0, pids),
    ):
        for pids in ((1,), 1, None):
            with pytest.raises(ValueError):
                call("key", pids)
        with pytest.raises(TypeError):
            call("key", [2**31])


def test_notifies_of_other_processes(device):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    key, ret = acl.rt.notify_get_export_key(notify, 65, 0)
    assert ret == 0 and type(key) is str and len(key) == 64
    assert acl.rt.notify_get_export_key(notify, 65, 0) == ("", 507000)
    assert acl.rt.notify_set_import_pid(notify, [os.getpid()]) == 0
    assert acl.rt.notify_import_by_key("key", 0) == (0, 107000)
    imported, ret = acl.rt.notify_import_by_key(key, 0)
    assert ret == 0 and imported != notify
    assert acl.rt.record_notify(imported, 0) == 0
    assert acl.rt.wait_and_reset_notify(notify, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.destroy_notify(imported) == 0
    assert acl.rt.destroy_notify(notify) == 0


def test_virtual_memory(device):
    prop = {"handleType": 0, "allocationType": 0, "memAttr": 4, "location": {"id": device, "type": 1}, "reserve": 0}
    granularity, ret = acl.rt.mem_get_allocation_granularity(prop, 0)
    if ret == NOT_SUPPORTED:  # an engine that cannot share memory
        assert acl.rt.malloc_physical(1 << 21, prop, 0) == (0, NOT_SUPPORTED)
        assert acl.rt.reserve_mem_address(1 << 21, 0, 0, 1) == (0, NOT_SUPPORTED)
        pytest.skip("this engine has no virtual memory")
    assert ret == 0 and granularity > 0
    handle, ret = acl.rt.malloc_physical(granularity, prop, 0)
    assert ret == 0 and handle
    address, ret = acl.rt.reserve_mem_address(granularity, 0, 0, 1)
    assert ret == 0 and address
    assert acl.rt.map_mem(address, granularity, 0, handle, 0) == 0
    assert acl.rt.memset(address, granularity, 1, granularity) == 0
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(address) == 0


def test_shareable_handles(device):
    prop = {"handleType": 0, "allocationType": 0, "memAttr": 4, "location": {"id": device, "type": 1}, "reserve": 0}
    handle, ret = acl.rt.malloc_physical(1 << 21, prop, 0)
    if ret == NOT_SUPPORTED:
        pytest.skip("this engine has no virtual memory")
    assert ret == 0
    shareable, ret = acl.rt.mem_export_to_shareable_handle(handle, 0, 0)
    assert ret == 0 and shareable
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [os.getpid()]) == 0
    assert acl.rt.mem_export_to_shareable_handle(handle, 0, 0) == (0, 107000)
    assert acl.rt.mem_import_from_shareable_handle(shareable, device) == (0, 107000), "not in the exporting process"
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.mem_set_pid_to_shareable_handle(shareable, [os.getpid()]) == 107000


def test_zero_names_the_default_stream(device):
    with Pinned(SIZE, pattern(SIZE)) as home, Device(SIZE) as block:
        assert acl.rt.memcpy_async(block.ptr, SIZE, home.ptr, SIZE, H2D, 0) == 0
        assert acl.rt.synchronize_stream(0) == 0
        assert block.read() == pattern(SIZE)


def test_log_lines_name_their_place():
    done = run_program(
        """
        import acl
        def submit():
            acl.app_log(3, "100 %s done %d")
        submit()
    """,
        env={"ASCEND_SLOG_PRINT_TO_STDOUT": "1"},
    )
    line = done.stdout + done.stderr
    assert "100 %s done %d" in line and "submit" in line
