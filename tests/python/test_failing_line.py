"""The text of a failed call ends with the line of the script that made it."""
import inspect
import threading

import acl


def line():
    return inspect.currentframe().f_back.f_lineno


def last_line():
    return acl.get_recent_err_msg().rstrip("\n").rpartition("\n")[2]


def here(number):
    return "        called at test_failing_line.py:%d" % number


def test_a_code_by_itself(device):
    assert acl.rt.free(0x1234) != 0; called = line()
    assert last_line() == here(called)


def test_a_code_behind_outputs(device):
    assert acl.rt.malloc(0, 0)[-1] != 0; called = line()
    assert last_line() == here(called)


def test_a_call_that_gives_the_lock_away(device):
    assert acl.rt.synchronize_stream(0x1234) != 0; called = line()
    assert last_line() == here(called)


def test_a_function_of_ours(device):
    assert acl.rt.memcpy_batch([], [], [], [], [], [])[-1] != 0; called = line()
    assert last_line() == here(called)


def test_each_text_has_its_own(device):
    assert acl.rt.free(0x1234) != 0; first = line()
    assert acl.rt.free_host(0x1234) != 0; second = line()
    lines = acl.get_recent_err_msg().splitlines()
    assert [one for one in lines if "called at" in one] == [here(second), here(first)]


def test_another_thread(device):
    said = []

    def fail():
        assert acl.rt.free(0x1234) != 0
        said.append((last_line(), line() - 1))

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert said[0][0] == here(said[0][1])


def test_calls_that_succeed_leave_a_text_alone(device):
    assert acl.rt.free(0x1234) != 0; called = line()
    assert acl.rt.get_run_mode()[-1] == 0
    stream, ret = acl.rt.create_stream()
    assert ret == 0 and acl.rt.destroy_stream(stream) == 0
    assert last_line() == here(called)


def told(number):
    return "(called at test_failing_line.py:%d)" % number


def test_a_block_that_is_too_small_says_where_it_was_made(device):
    pointer, code = acl.rt.malloc(64, 0); made = line()
    assert code == 0
    host, code = acl.rt.malloc_host(4096)
    assert code == 0
    assert acl.rt.memcpy(pointer, 4096, host, 4096, 1) != 0
    assert "made by aclrtMalloc " + told(made) in acl.get_recent_err_msg()
    assert acl.rt.free(pointer) == 0 and acl.rt.free_host(host) == 0


def test_a_block_that_is_freed_twice_says_where_it_was_made_and_freed(device):
    for make, free, names in ((lambda: acl.rt.malloc(64, 0), acl.rt.free, ("aclrtMalloc", "aclrtFree")),
                              (lambda: acl.rt.malloc_host(64), acl.rt.free_host, ("aclrtMallocHost", "aclrtFreeHost"))):
        made = make.__code__.co_firstlineno
        pointer, code = make()
        assert code == 0
        assert free(pointer) == 0; freed = line()
        assert free(pointer) != 0
        text = acl.get_recent_err_msg()
        assert "that %s made %s, and %s has freed %s" % (names[0], told(made), names[1], told(freed)) in text, text
