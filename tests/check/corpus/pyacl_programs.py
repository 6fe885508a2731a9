#!/usr/bin/env python3
"""pyacl_programs.py --list | NAME: the corpus of `ropeway check` for programs in Python. As in program.h, each is wrong in one way and has a right twin."""
import sys

import acl
import numpy

SIZE = 64 << 10
H2D, D2H, D2D = 1, 2, 3
PROGRAMS = {}


def program(rule):
    def add(function):
        PROGRAMS[function.__name__] = (rule, function)
        return function

    return add


def must(answer):
    """What a call answered, without its code, which is the last or only part."""
    *values, code = answer if isinstance(answer, tuple) else (answer,)
    if code != 0:
        print(f"a call answered {code}: {acl.get_recent_err_msg()}", file=sys.stderr)
        sys.exit(3)
    return values[0] if values else None


def stream():
    return must(acl.rt.create_stream())


def device():
    return must(acl.rt.malloc(SIZE, 0))


def pinned():
    return must(acl.rt.malloc_host(SIZE))


def copy(to, source, kind, on):
    must(acl.rt.memcpy_async(to, SIZE, source, SIZE, kind, on))


def order(earlier, later):
    event = must(acl.rt.create_event_ex_with_flag(1))
    must(acl.rt.record_event(event, earlier))
    must(acl.rt.stream_wait_event(later, event))


def finish(*streams):
    for one in streams:
        must(acl.rt.synchronize_stream(one))


@program("RW-RACE-001")
def block_stored_while_it_is_loaded(right):
    load, store = stream(), stream()
    block = device()
    copy(block, pinned(), H2D, load)
    if right:
        order(load, store)
    copy(pinned(), block, D2H, store)
    finish(load, store)


@program("RW-RACE-002")
def block_reused_while_it_is_stored(right):
    load, store = stream(), stream()
    block = device()
    copy(pinned(), block, D2H, store)
    if right:
        finish(store)
    copy(block, pinned(), H2D, load)
    finish(load, store)


@program("RW-RACE-001")
def event_recorded_on_the_wrong_stream(right):
    load, work = stream(), stream()
    block, event = device(), must(acl.rt.create_event_ex_with_flag(1))
    copy(block, pinned(), H2D, load)
    must(acl.rt.record_event(event, load if right else work))
    must(acl.rt.stream_wait_event(work, event))
    copy(device(), block, D2D, work)
    finish(load, work)


@program("RW-LIFE-001")
def staging_freed_in_a_finally(right):
    load, staging = stream(), pinned()
    try:
        copy(device(), staging, H2D, load)
        if right:
            finish(load)
    finally:
        must(acl.rt.free_host(staging))
    finish(load)


@program("RW-HOST-003")
def result_fetched_into_an_array(right):
    work, block = stream(), device()
    result = numpy.zeros(SIZE, dtype=numpy.uint8)
    must(acl.rt.memset_async(block, SIZE, 1, SIZE, work))
    if right:
        finish(work)
    must(acl.rt.memcpy(result.ctypes.data, SIZE, block, SIZE, D2H))
    finish(work)


@program("RW-TIP-001")
def array_that_is_pageable(right):
    load, block = stream(), device()
    array = numpy.zeros(SIZE, dtype=numpy.uint8)
    copy(block, pinned() if right else array.ctypes.data, H2D, load)
    finish(load)


@program("RW-LIFE-002")
def array_unregistered_under_its_load(right):
    load, array = stream(), numpy.zeros(SIZE, dtype=numpy.uint8)
    must(acl.rt.host_register_v2(array.ctypes.data, SIZE, 0x10000000))
    copy(device(), array.ctypes.data, H2D, load)
    if right:
        finish(load)
    must(acl.rt.host_unregister(array.ctypes.data))
    finish(load)


@program("RW-LIFE-005")
def event_destroyed_under_its_waiter(right):
    load, work = stream(), stream()
    event = must(acl.rt.create_event_with_flag(1))
    copy(device(), pinned(), H2D, load)
    must(acl.rt.record_event(event, load))
    must(acl.rt.stream_wait_event(work, event))
    if right:
        finish(work)
    must(acl.rt.destroy_event(event))
    finish(load, work)


def main():
    if sys.argv[1:] == ["--list"]:
        for name, (rule, _) in PROGRAMS.items():
            print(f"{name}.wrong {rule}\n{name}.right -")
        return
    name, side = sys.argv[1].rsplit(".", 1)
    must(acl.init())
    must(acl.rt.set_device(0))
    PROGRAMS[name][1](side == "right")
    must(acl.rt.synchronize_device())
    must(acl.rt.reset_device(0))
    must(acl.finalize())


if __name__ == "__main__":
    main()
