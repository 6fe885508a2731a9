"""What test_interpreters.py runs in every python3 that it finds: a bit of everything that the module does with the interpreter,
in words of Python 3.7 and without NumPy or pytest."""
import inspect
import struct
import sys
import threading

import acl
import acl.rt

H2D, D2H = 1, 2
SIZE = 4096
done = threading.Event()


def good(result):
    values = result if isinstance(result, tuple) else (result,)
    assert values[-1] == 0, (result, acl.get_recent_err_msg())
    return values[0] if len(values) == 2 else values[:-1]


def copy_there_and_back(stream):
    data = bytes(i * 7 & 0xFF for i in range(SIZE))
    there, back = good(acl.rt.malloc_host(SIZE)), good(acl.rt.malloc_host(SIZE))
    block = good(acl.rt.malloc(SIZE, 0))
    good(acl.rt.memcpy(there, SIZE, acl.util.bytes_to_ptr(data), SIZE, 0))
    good(acl.rt.memcpy_async(block, SIZE, there, SIZE, H2D, stream))
    good(acl.rt.memcpy_async(back, SIZE, block, SIZE, D2H, stream))
    good(acl.rt.synchronize_stream(stream))
    assert acl.util.ptr_to_bytes(back, SIZE) == data
    good(acl.rt.free(block))
    good(acl.rt.free_host(there))
    good(acl.rt.free_host(back))


def texts_and_structures():
    assert acl.get_soc_name()
    assert isinstance(acl.get_cann_version(0)[0], dict)
    desc = acl.create_tensor_desc(0, [2, 3], 2)
    acl.set_tensor_desc_name(desc, "größe")
    assert acl.get_tensor_desc_name(desc) == "größe"
    acl.destroy_tensor_desc(desc)
    acl.app_log(0, "a line")
    assert acl.rt.set_device(4711) != 0 and "4711" in acl.get_recent_err_msg()
    for arguments in ((), (1, 2), ("text",), (None,)):
        try:
            acl.rt.set_device(*arguments)
        except TypeError as error:
            assert "acl.rt.set_device args parse failed" in str(error)
        else:
            raise AssertionError(arguments)
    for name in ("a\0b", "\ud800", b"bytes", 7):
        try:
            acl.init(name)
        except TypeError as error:
            assert "acl.init args parse failed" in str(error)
        else:
            raise AssertionError(name)


def callbacks(stream):
    seen = []
    good(acl.rt.launch_host_func(stream, seen.append, "called"))
    good(acl.rt.synchronize_stream(stream))
    assert seen == ["called"]
    thread = good(acl.util.start_thread(lambda argument: seen.append(argument), 7))
    assert acl.util.stop_thread(thread) == 0 and seen == ["called", 7]


def main():
    for name, value in sorted(vars(acl.rt).items()):
        if inspect.isbuiltin(value):
            assert value.__doc__ and inspect.signature(value), name
    good(acl.rt.set_device(0))
    stream = good(acl.rt.create_stream())
    assert struct.pack("q", stream)
    copy_there_and_back(stream)
    texts_and_structures()
    callbacks(stream)
    # The interpreter ends while a callback is queued.
    good(acl.rt.launch_host_func(stream, lambda _: done.set(), None))
    print(acl.__file__, "works in %d.%d" % sys.version_info[:2])


main()
