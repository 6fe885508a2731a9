"""os.fork: a child of a process with devices is refused by every function that needs one, whatever the parent's threads were doing,
and its interpreter ends in order. A child that was forked earlier uses the module as its own."""
from helpers import run_program

# Facts about devices, values that the caller has in hand, and what makes an object without a device: 0 is its handle.
PLAIN = {
    "allocator_create_desc",
    "create_binary",
    "create_group_info",
    "device_get_bare_tgid",
    "device_get_stream_priority_range",
    "device_get_uuid",
    "get_device_capability",
    "get_device_count",
    "get_device_id_from_exception_info",
    "get_device_info",
    "get_devices_topo",
    "get_error_code_from_exception_info",
    "get_logic_dev_id_by_phy_dev_id",
    "get_logic_dev_id_by_user_dev_id",
    "get_phy_dev_id_by_logic_dev_id",
    "get_run_mode",
    "get_stream_id_from_exception_info",
    "get_task_id_from_exception_info",
    "get_thread_id_from_exception_info",
    "get_user_dev_id_by_logic_dev_id",
}

# Calls every function of acl.rt that takes numbers alone, with zeros, as many as it wants.
CALL_ALL = """
import os, sys, threading, acl

def answer(function):
    for count in range(13):
        try:
            result = function(*[0] * count)
        except RuntimeError as error:  # where there is no room for a code
            return int(str(error).split()[-1])
        except (TypeError, ValueError):
            continue
        return result[-1] if isinstance(result, tuple) else result

def answers():
    names = [name for name in dir(acl.rt) if callable(getattr(acl.rt, name))]
    return {name: answer(getattr(acl.rt, name)) for name in names}

def in_child(body):
    child = os.fork()
    if child == 0:
        sys.exit(body())
    return os.waitpid(child, 0)[1]
"""


def test_a_child_of_a_process_with_devices_is_refused():
    done = run_program(
        CALL_ALL
        + f"""
PLAIN = {sorted(PLAIN)!r}
stop = threading.Event()

def work():
    assert acl.rt.set_device(0) == 0
    while not stop.is_set():
        block, ret = acl.rt.malloc(4096, 0)
        stream, ret = acl.rt.create_stream()
        acl.rt.destroy_stream(stream)
        acl.rt.free(block)

def child():
    found = {{name: code for name, code in answers().items() if code is not None}}
    served = sorted(name for name, code in found.items() if code != 507033)
    assert served == PLAIN, set(served) ^ set(PLAIN)
    assert len(found) > 140, len(found)
    assert "this process was forked" in acl.get_recent_err_msg()
    return 0

assert acl.rt.set_device(0) == 0
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
print([in_child(child) for _ in range(5)])
stop.set()
for thread in threads: thread.join()
"""
    )
    assert done.stdout == "[0, 0, 0, 0, 0]\n", done.stderr


def test_a_child_that_was_forked_earlier_has_devices_of_its_own():
    done = run_program(
        CALL_ALL
        + """
def child():
    assert acl.rt.set_device(0) == 0
    block, ret = acl.rt.malloc(4096, 0)
    return ret or acl.rt.free(block) or acl.rt.reset_device(0)

assert acl.init() == 0 and acl.rt.get_device_count()[1] == 0
print(in_child(child), child())
"""
    )
    assert done.stdout == "0 0\n", done.stderr
