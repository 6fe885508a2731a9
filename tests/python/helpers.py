"""Small things that many tests need. Constants are spelt as programs spell them: the module exports none."""
import os
import subprocess
import sys
import textwrap
import threading

import acl

H2H, H2D, D2H, D2D, DEFAULT = 0, 1, 2, 3, 4
INNER_D2D = 6
HUGE_FIRST, NORMAL_ONLY = 0, 2
INVALID_PARAM, NOT_SUPPORTED = 100000, 207000


def pattern(size, seed=1):
    """Bytes that differ from place to place and from seed to seed."""
    return bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 0xFF for i in range(size))


class Pinned:
    """Pinned host memory that frees itself."""

    def __init__(self, size, data=None):
        self.size = size
        self.ptr, ret = acl.rt.malloc_host(size)
        assert ret == 0
        if data is not None:
            self.write(data)

    def write(self, data):
        assert acl.rt.memcpy(self.ptr, self.size, acl.util.bytes_to_ptr(data), len(data), H2H) == 0

    def read(self):
        return acl.util.ptr_to_bytes(self.ptr, self.size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert acl.rt.free_host(self.ptr) == 0


class Device:
    """Device memory that frees itself."""

    def __init__(self, size, data=None):
        self.size = size
        self.ptr, ret = acl.rt.malloc(size, NORMAL_ONLY)
        assert ret == 0
        if data is not None:
            self.write(data)

    def write(self, data):
        assert acl.rt.memcpy(self.ptr, self.size, acl.util.bytes_to_ptr(data), len(data), H2D) == 0

    def read(self):
        back = bytes(bytearray(self.size))
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(back), self.size, self.ptr, self.size, D2H) == 0
        return back

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert acl.rt.free(self.ptr) == 0


class Gate:
    """Holds a stream back by a host function, until open(); no sleeping."""

    def __init__(self, stream):
        self._opened = threading.Event()
        self._arrived = threading.Event()
        assert acl.rt.launch_host_func(stream, self._hold, None) == 0

    def _hold(self, _):
        self._arrived.set()
        self._opened.wait()

    def await_arrival(self):
        self._arrived.wait()

    def open(self):
        self._opened.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.open()


class Server:
    """A thread that serves the callbacks of a stream, as the samples write it."""

    def __init__(self, stream, context=None):
        self._stream = stream
        self._stop = False
        self._context = context if context is not None else acl.rt.get_context()[0]
        self.codes = set()
        self.thread_id, ret = acl.util.start_thread(self._loop, [self._context, 50])
        assert ret == 0
        assert acl.rt.subscribe_report(self.thread_id, stream) == 0

    def _loop(self, args):
        context, timeout_ms = args
        assert acl.rt.set_context(context) == 0
        while not self._stop:
            self.codes.add(acl.rt.process_report(timeout_ms))

    def stop(self):
        assert acl.rt.unsubscribe_report(self.thread_id, self._stream) == 0
        self.join()

    def join(self):
        self._stop = True
        assert acl.util.stop_thread(self.thread_id) == 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def run_program(source, *arguments, env=None, check=True):
    """A program of its own: what happens at the end of an interpreter cannot be seen from inside."""
    environment = dict(os.environ, **(env or {}))
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), *arguments],
        env=environment,
        text=True,
        capture_output=True,
        timeout=200,
    )
    if check:
        assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done
