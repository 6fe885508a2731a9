"""Our own additions: batches of copies and captured graphs."""
import pytest

import acl
from helpers import D2D, D2H, H2D, INVALID_PARAM, Device, Gate, Pinned, pattern, run_program

HOST, DEVICE = 0, 1
BLOCK, NONE = 4096, 2**64 - 1
TO_DEVICE = {"dstLoc": {"id": 0, "type": DEVICE}, "srcLoc": {"id": 0, "type": HOST}}
TO_HOST = {"dstLoc": {"id": 0, "type": HOST}, "srcLoc": {"id": 0, "type": DEVICE}}
NAMES = {
    "rt": {"memcpy_batch", "memcpy_batch_async", "launch_host_func"},
    "mdl": {"ri_capture_begin", "ri_capture_get_info", "ri_capture_end", "ri_execute_async", "ri_destroy"},
}


def lists(target, source, count):
    order = range(count)
    return (
        [target.ptr + BLOCK * i for i in order],
        [BLOCK] * count,
        [source.ptr + BLOCK * i for i in order],
        [BLOCK] * count,
    )


def test_a_batch_there_and_back(stream):
    count = 256
    data = pattern(BLOCK * count)
    with Pinned(len(data), data) as source, Device(len(data)) as block, Pinned(len(data)) as back:
        assert acl.rt.memcpy_batch_async(*lists(block, source, count), [TO_DEVICE], [0], stream) == (NONE, 0)
        assert acl.rt.memcpy_batch_async(*lists(back, block, count), [TO_HOST], [0], stream) == (NONE, 0)
        assert acl.rt.synchronize_stream(stream) == 0
        assert back.read() == data


def test_a_batch_at_once(device):
    data = pattern(BLOCK * 4)
    with Pinned(len(data), data) as source, Device(len(data)) as block:
        assert acl.rt.memcpy_batch(*lists(block, source, 4), [TO_DEVICE], [0]) == (NONE, 0)
        assert block.read() == data


def test_the_item_at_fault_is_named(stream):
    with Pinned(BLOCK * 4) as source, Device(BLOCK * 4) as block:
        dsts, rooms, srcs, sizes = lists(block, source, 4)
        srcs[2] = 0
        index, ret = acl.rt.memcpy_batch_async(dsts, rooms, srcs, sizes, [TO_DEVICE], [0], stream)
        assert ret != 0 and index == 2
        srcs[2], rooms[2] = srcs[1], 1
        assert acl.rt.memcpy_batch_async(dsts, rooms, srcs, sizes, [TO_DEVICE], [0], stream) == (NONE, INVALID_PARAM)
        assert acl.rt.synchronize_stream(stream) == 0


def test_lists_of_a_batch(stream):
    good = ([64], [1], [64], [1], [TO_DEVICE], [0])
    for position in range(6):
        for wrong in ((), None, 1):
            broken = list(good)
            broken[position] = wrong
            with pytest.raises(ValueError):
                acl.rt.memcpy_batch(*broken)
        broken = list(good)
        broken[position] = good[position] * 2
        with pytest.raises(ValueError, match="unequal lengths"):
            acl.rt.memcpy_batch_async(*broken, stream)
        broken[position] = ["x"]
        with pytest.raises(TypeError):
            acl.rt.memcpy_batch_async(*broken, stream)
    with pytest.raises(TypeError):
        acl.rt.memcpy_batch_async(*good)
    with pytest.raises(ValueError):
        acl.rt.memcpy_batch(*good[:4], [dict(TO_DEVICE, rsv=[0] * 17)], [0])
    assert acl.rt.memcpy_batch([], [], [], [], [], [])[1] != 0


def test_a_blocked_batch_of_pageable_memory_lets_python_run(stream):
    data = bytes(BLOCK)
    seen = []
    assert acl.rt.launch_host_func(stream, seen.append, 1) == 0
    with Device(BLOCK) as block:
        index, ret = acl.rt.memcpy_batch_async(
            [block.ptr], [BLOCK], [acl.util.bytes_to_ptr(data)], [BLOCK], [TO_DEVICE], [0], stream
        )
        assert (index, ret) == (NONE, 0)
        assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [1]


@pytest.fixture
def captured(stream):
    with Pinned(BLOCK, pattern(BLOCK)) as source, Device(BLOCK) as block, Pinned(BLOCK, b"\0" * BLOCK) as back:
        assert acl.mdl.ri_capture_get_info(stream) == (0, 0, 0)
        assert acl.mdl.ri_capture_begin(stream, 0) == 0
        assert acl.rt.memcpy_async(block.ptr, BLOCK, source.ptr, BLOCK, H2D, stream) == 0
        assert acl.rt.memcpy_async(back.ptr, BLOCK, block.ptr, BLOCK, D2H, stream) == 0
        status, open_model, ret = acl.mdl.ri_capture_get_info(stream)
        assert (status, ret) == (1, 0)
        model, ret = acl.mdl.ri_capture_end(stream)
        assert ret == 0 and model == open_model
        yield model, source, back
        assert acl.mdl.ri_destroy(model) == 0


def test_a_captured_graph_runs_when_it_is_executed(stream, captured):
    model, source, back = captured
    assert acl.rt.synchronize_stream(stream) == 0
    assert back.read() == b"\0" * BLOCK, "capture runs nothing"
    for seed in (5, 6):
        source.write(pattern(BLOCK, seed))
        assert acl.mdl.ri_execute_async(model, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
        assert back.read() == pattern(BLOCK, seed)


def test_graphs_refuse_what_c_refuses(stream):
    assert acl.mdl.ri_capture_begin(0, 0) == INVALID_PARAM
    assert acl.mdl.ri_capture_begin(stream, 9) == 107000
    assert acl.mdl.ri_capture_end(stream) == (0, 107029)
    assert acl.mdl.ri_execute_async(0, stream) == INVALID_PARAM
    assert acl.mdl.ri_destroy(64) != 0


def test_additions_say_so_and_can_be_left_out():
    for module, names in NAMES.items():
        for name in names:
            assert "addition of Ropeway" in getattr(getattr(acl, module), name).__doc__
    run_program(
        f"""
        import acl
        for module, names in {NAMES!r}.items():
            assert not names & set(dir(getattr(acl, module)))
    """,
        env={"ROPEWAY_PYTHON_EXTENSIONS": "0"},
    )


def test_a_batch_waits_its_turn(stream):
    data = pattern(BLOCK)
    with Pinned(BLOCK, data) as source, Device(BLOCK, b"\0" * BLOCK) as block, Device(BLOCK) as copy, Gate(
        stream
    ) as gate:
        assert acl.rt.memcpy_batch_async([block.ptr], [BLOCK], [source.ptr], [BLOCK], [TO_DEVICE], [0], stream)[1] == 0
        assert acl.rt.memcpy_async(copy.ptr, BLOCK, block.ptr, BLOCK, D2D, stream) == 0
        assert block.read() == b"\0" * BLOCK
        gate.open()
        assert acl.rt.synchronize_stream(stream) == 0
        assert copy.read() == data
