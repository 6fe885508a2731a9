"""Whole programs: our example, and samples in the style that public ones have, none of which knows of Ropeway."""
import pathlib
import subprocess
import sys

import pytest

from helpers import run_program

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("schedule", ["fast", "latest", "random:3"])
def test_the_example(schedule, monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.setenv("ROPEWAY_SCHEDULE", schedule)
    done = subprocess.run(
        [sys.executable, REPOSITORY / "examples" / "offload_numpy.py"], text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "64 blocks, 8 MiB, went to the device and came back in another order: same\n"


def test_a_memory_sample():
    """Host and device memory with a fill, printed as the sample prints it."""
    pytest.importorskip("numpy")
    done = run_program(
        """
        import acl
        import numpy as np

        ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST = 1, 2
        ACL_MEM_MALLOC_NORMAL_ONLY = 2

        class Memory:
            def __init__(self, device_id, size):
                self.device_id, self.size = device_id, size
                self.check(acl.init())
                self.check(acl.rt.set_device(device_id))
                self.context, ret = acl.rt.create_context(device_id)
                self.check(ret)
                self.stream, ret = acl.rt.create_stream()
                self.check(ret)
                print("init resource success")

            @staticmethod
            def check(ret):
                assert ret == 0, ret

            def run(self):
                host, ret = acl.rt.malloc_host(self.size)
                self.check(ret)
                self.check(acl.rt.memset_async(host, self.size, 7, self.size, self.stream))
                device, ret = acl.rt.malloc(self.size, ACL_MEM_MALLOC_NORMAL_ONLY)
                self.check(ret)
                self.check(acl.rt.synchronize_stream(self.stream))
                ret = acl.rt.memcpy_async(device, self.size, host, self.size, ACL_MEMCPY_HOST_TO_DEVICE, self.stream)
                self.check(ret)
                self.check(acl.rt.synchronize_stream(self.stream))
                output = np.zeros(self.size, dtype=np.byte).tobytes()
                self.check(acl.rt.memcpy(acl.util.bytes_to_ptr(output), self.size, device, self.size,
                                         ACL_MEMCPY_DEVICE_TO_HOST))
                print(np.frombuffer(output, np.uint8).sum())
                self.check(acl.rt.free_host(host))
                self.check(acl.rt.free(device))

            def __del__(self):
                self.check(acl.rt.destroy_stream(self.stream))
                self.check(acl.rt.destroy_context(self.context))
                self.check(acl.rt.reset_device(self.device_id))
                self.check(acl.finalize())
                print("release source success")

        memory = Memory(0, 1 << 20)
        memory.run()
    """
    )
    assert done.stdout == f"init resource success\n{7 << 20}\nrelease source success\n"
    assert done.stderr == ""


def test_an_asynchronous_sample_with_a_callback_thread():
    done = run_program(
        """
        import acl

        class Sample:
            def __init__(self):
                self.is_exit, self.timeout, self.results = False, 50, []
                assert acl.init() == 0
                assert acl.rt.set_device(0) == 0
                self.context, ret = acl.rt.create_context(0)
                assert ret == 0

            def thread_function(self, args_list):
                context, timeout = args_list
                assert acl.rt.set_context(context) == 0
                print("start thread")
                while not self.is_exit:
                    acl.rt.process_report(timeout)

            def callback(self, args_list):
                for device, size in args_list:
                    host, ret = acl.rt.malloc_host(size)
                    assert ret == 0
                    assert acl.rt.memcpy(host, size, device, size, 2) == 0
                    self.results.append(sum(acl.util.ptr_to_bytes(host, size)))
                    assert acl.rt.free_host(host) == 0

            def run(self):
                stream, ret = acl.rt.create_stream()
                assert ret == 0
                tid, ret = acl.util.start_thread(self.thread_function, [self.context, self.timeout])
                assert ret == 0
                assert acl.rt.subscribe_report(tid, stream) == 0
                blocks = []
                for value in range(1, 5):
                    device, ret = acl.rt.malloc(1000, 2)
                    assert ret == 0
                    assert acl.rt.memset_async(device, 1000, value, 1000, stream) == 0
                    blocks.append([device, 1000])
                    assert acl.rt.launch_callback(self.callback, list(blocks[-1:]), 1, stream) == 0
                assert acl.rt.synchronize_stream(stream) == 0
                assert acl.rt.unsubscribe_report(tid, stream) == 0
                self.is_exit = True
                assert acl.util.stop_thread(tid) == 0
                for device, _ in blocks:
                    assert acl.rt.free(device) == 0
                assert acl.rt.destroy_stream(stream) == 0
                print(self.results)

            def release(self):
                assert acl.rt.destroy_context(self.context) == 0
                assert acl.rt.reset_device(0) == 0
                assert acl.finalize() == 0
                print("done")

        sample = Sample()
        sample.run()
        sample.release()
    """
    )
    assert done.stdout == "start thread\n[1000, 2000, 3000, 4000]\ndone\n"


def test_several_devices_each_with_a_thread():
    done = run_program(
        """
        import threading, acl

        def work(device_id, results):
            assert acl.rt.set_device(device_id) == 0
            context, ret = acl.rt.create_context(device_id)
            pointer, ret = acl.rt.malloc(4096, 0)
            assert ret == 0
            assert acl.rt.memset(pointer, 4096, device_id + 1, 4096) == 0
            assert acl.rt.synchronize_device(device_id) == 0
            output = bytes(4096)
            assert acl.rt.memcpy(acl.util.bytes_to_ptr(output), 4096, pointer, 4096, 2) == 0
            results[device_id] = output[0]
            assert acl.rt.free(pointer) == 0
            assert acl.rt.destroy_context(context) == 0
            assert acl.rt.reset_device(device_id) == 0

        assert acl.init() == 0
        count, ret = acl.rt.get_device_count()
        results = {}
        threads = [threading.Thread(target=work, args=(device, results)) for device in range(count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert acl.finalize() == 0
        print(results == {device: device + 1 for device in range(count)})
    """
    )
    assert done.stdout == "True\n"
