#!/usr/bin/env python3
"""Offloads blocks of NumPy data to a device and fetches them back in another order, with two streams and events.

    source build/cann/set_env.sh && /usr/bin/python3 examples/offload_numpy.py

Written as for an NPU: nothing in it knows of Ropeway. Each block goes through one of a few pinned buffers, so the
copies are truly asynchronous; an event says when such a buffer may be used again, another when a block has arrived.
"""
import ctypes

import acl
import numpy as np

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2
ACL_EVENT_SYNC = 1


def check(ret, what):
    if ret != 0:
        raise RuntimeError(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


class PinnedBuffer:
    """Pinned host memory, seen as an array, with the event that says when it is free."""

    def __init__(self, shape, dtype):
        self.size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self.ptr, ret = acl.rt.malloc_host(self.size)
        check(ret, "malloc_host")
        memory = (ctypes.c_uint8 * self.size).from_address(self.ptr)
        self.array = np.frombuffer(memory, dtype).reshape(shape)
        self.free, ret = acl.rt.create_event_ex_with_flag(ACL_EVENT_SYNC)
        check(ret, "create_event_ex_with_flag")

    def release(self):
        check(acl.rt.destroy_event(self.free), "destroy_event")
        check(acl.rt.free_host(self.ptr), "free_host")


class BlockStore:
    """Blocks of one shape in device memory. put() does not wait for its copy; get() waits for its own block only."""

    def __init__(self, blocks, shape, dtype, buffers=4):
        self.buffers = [PinnedBuffer(shape, dtype) for _ in range(buffers)]
        self.block_size = self.buffers[0].size
        self.device, ret = acl.rt.malloc(self.block_size * blocks, ACL_MEM_MALLOC_HUGE_FIRST)
        check(ret, "malloc")
        self.to_device, ret = acl.rt.create_stream()
        check(ret, "create_stream")
        self.to_host, ret = acl.rt.create_stream()
        check(ret, "create_stream")
        self.arrived = []
        for _ in range(blocks):
            event, ret = acl.rt.create_event_ex_with_flag(ACL_EVENT_SYNC)
            check(ret, "create_event_ex_with_flag")
            self.arrived.append(event)
        self.turn = 0

    def next_buffer(self):
        buffer = self.buffers[self.turn % len(self.buffers)]
        self.turn += 1
        check(acl.rt.synchronize_event(buffer.free), "synchronize_event")
        return buffer

    def put(self, index, block):
        buffer = self.next_buffer()
        np.copyto(buffer.array, block)
        size, address = self.block_size, self.device + index * self.block_size
        check(
            acl.rt.memcpy_async(address, size, buffer.ptr, size, ACL_MEMCPY_HOST_TO_DEVICE, self.to_device),
            "memcpy_async",
        )
        check(acl.rt.record_event(buffer.free, self.to_device), "record_event")
        check(acl.rt.record_event(self.arrived[index], self.to_device), "record_event")

    def get(self, index):
        buffer = self.next_buffer()
        size, address = self.block_size, self.device + index * self.block_size
        check(acl.rt.stream_wait_event(self.to_host, self.arrived[index]), "stream_wait_event")
        check(
            acl.rt.memcpy_async(buffer.ptr, size, address, size, ACL_MEMCPY_DEVICE_TO_HOST, self.to_host),
            "memcpy_async",
        )
        check(acl.rt.record_event(buffer.free, self.to_host), "record_event")
        check(acl.rt.synchronize_event(buffer.free), "synchronize_event")
        return buffer.array.copy()

    def release(self):
        for stream in (self.to_device, self.to_host):
            check(acl.rt.synchronize_stream(stream), "synchronize_stream")
            check(acl.rt.destroy_stream(stream), "destroy_stream")
        for event in self.arrived:
            check(acl.rt.destroy_event(event), "destroy_event")
        for buffer in self.buffers:
            buffer.release()
        check(acl.rt.free(self.device), "free")


def main():
    blocks, shape = 64, (128, 256)
    check(acl.init(), "init")
    check(acl.rt.set_device(0), "set_device")
    store = BlockStore(blocks, shape, np.float32)
    random = np.random.default_rng(2026)
    originals = [random.standard_normal(shape, dtype=np.float32) for _ in range(blocks)]
    for index, block in enumerate(originals):
        store.put(index, block)
    order = random.permutation(blocks)
    same = all(np.array_equal(store.get(int(index)), originals[index]) for index in order)
    store.release()
    check(acl.rt.reset_device(0), "reset_device")
    check(acl.finalize(), "finalize")
    mebibytes = blocks * originals[0].nbytes / 2**20
    print(
        f"{blocks} blocks, {mebibytes:.0f} MiB, went to the device and came back in another order:",
        "same" if same else "DIFFERENT",
    )
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
