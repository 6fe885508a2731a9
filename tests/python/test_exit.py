"""The end of the interpreter, with threads, callbacks and work still there. Each is a program of its own that has to
end by itself and well, whatever it has left behind."""
import pytest

from helpers import run_program

PRELUDE = """
import atexit, os, sys, threading, acl
assert acl.rt.set_device(0) == 0
context, ret = acl.rt.get_context()
stream, ret = acl.rt.create_stream()
assert ret == 0
"""

PROGRAMS = {
    "with work queued": """
        host, ret = acl.rt.malloc_host(1 << 20)
        device, ret = acl.rt.malloc(1 << 20, 0)
        for _ in range(100):
            assert acl.rt.memcpy_async(device, 1 << 20, host, 1 << 20, 1, stream) == 0
        print("done")
    """,
    "with a thread that polls": """
        def loop(args):
            acl.rt.set_context(args)
            while True:
                acl.rt.process_report(10)
        thread, ret = acl.util.start_thread(loop, context)
        assert acl.rt.subscribe_report(thread, stream) == 0
        assert acl.rt.launch_callback(print, "done", 1, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
    """,
    "with a thread that waits for ever": """
        def loop():
            while True:
                acl.rt.process_report(-1)
        thread, ret = acl.util.start_thread(loop, None)
        assert acl.rt.subscribe_report(thread, stream) == 0
        print("done")
    """,
    "with daemon threads in every kind of call": """
        event, ret = acl.rt.create_event()
        opened = threading.Event()
        assert acl.rt.launch_host_func(stream, lambda _: opened.wait(), None) == 0
        assert acl.rt.record_event(event, stream) == 0
        for call, handle in ((acl.rt.synchronize_stream, stream), (acl.rt.synchronize_event, event)):
            threading.Thread(target=call, args=(handle,), daemon=True).start()
        print("done")
        opened.set()
    """,
    "with callbacks that nobody serves": """
        thread, ret = acl.util.start_thread(lambda: None, None)
        assert acl.rt.subscribe_report(thread, stream) == 0
        for _ in range(10):
            assert acl.rt.launch_callback(print, "never", 1, stream) == 0
        print("done")
    """,
    "with a callback in the middle": """
        started = threading.Event()
        def slow(_):
            started.set()
            sum(range(3_000_000))
            print("done", flush=True)
        assert acl.rt.launch_host_func(stream, slow, None) == 0
        started.wait()
    """,
    "with many callbacks queued": """
        for _ in range(1000):
            assert acl.rt.launch_host_func(stream, lambda _: sum(range(100)), None) == 0
        print("done")
    """,
    "with an exception callback": """
        acl.rt.set_exception_info_callback(lambda info: None)
        print("done")
    """,
    "with calls in an exit handler": """
        @atexit.register
        def release():
            codes = [acl.rt.synchronize_stream(stream), acl.rt.destroy_stream(stream), acl.rt.reset_device(0),
                     acl.finalize()]
            print("done" if codes == [0, 0, 0, 0] else codes)
        assert acl.rt.launch_host_func(stream, lambda _: None, None) == 0
    """,
    "with calls after everything is gone": """
        class Late:
            # The functions themselves: the names in modules are gone by then.
            def __del__(self, wait=acl.rt.synchronize_stream, destroy=acl.rt.destroy_stream, reset=acl.rt.reset_device,
                        finalize=acl.finalize, stream=stream, write=os.write):
                codes = (wait(stream), destroy(stream), reset(0), reset(0), finalize(), finalize(), destroy(stream))
                write(1, b"done\\n" if codes == (0, 0, 0, 507007, 0, 100037, 107017) else str(codes).encode())
        sys.late = Late()
    """,
    "by an exception": """
        print("done")
        threading.Thread(target=acl.rt.process_report, args=(-1,), daemon=True).start()
        sys.exit(0)
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_exit(name):
    source = "\n".join(line[8:] if line.startswith("        ") else line for line in PROGRAMS[name].splitlines())
    done = run_program(PRELUDE + source)
    assert done.stdout == "done\n"
    assert "terminate called" not in done.stderr and "Fatal" not in done.stderr


@pytest.mark.parametrize(
    "endless", ["threading.Event().wait()", "sum(0 for _ in iter(int, 1))"], ids=["waits", "computes"]
)
def test_a_callback_that_never_returns_does_not_hold_the_process_for_ever(endless):
    done = run_program(
        PRELUDE
        + f"""
started = threading.Event()
assert acl.rt.launch_host_func(stream, lambda _: (started.set(), {endless}), None) == 0
started.wait()
print("done")
"""
    )
    assert done.stdout == "done\n"
    assert "terminate called" not in done.stderr and "Fatal" not in done.stderr


def test_a_forked_child_ends_well():
    done = run_program(
        """
        import os, acl
        child = os.fork()
        if child == 0:
            raise SystemExit(0 if acl.rt.get_run_mode() == (1, 0) else 1)
        print("done" if os.waitpid(child, 0)[1] == 0 else "failed")
    """
    )
    assert done.stdout == "done\n"


def test_the_module_can_be_imported_by_many_threads_at_once():
    done = run_program(
        """
        import threading
        found = []
        def load():
            import acl.rt
            found.append(acl.rt.memcpy)
        threads = [threading.Thread(target=load) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(found), len(set(found)))
    """
    )
    assert done.stdout == "8 1\n"
