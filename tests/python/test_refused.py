"""What is not there says so: its arguments are checked, the code is 207000, nothing succeeds without effect."""
import ctypes

import pytest

import acl
import facts
from helpers import INVALID_PARAM, NOT_SUPPORTED, Device

INVALID_FILE = 100003
STALE = 107017
ELSEWHERE = {"acl.rt.get_group_info_detail", "acl.rt.launch_kernel_with_host_args"}  # have tests of their own
TIER_C = [fact for fact in facts.ALL if fact.tier == "C" and fact.name not in ELSEWHERE]
# Bookkeeping and settings that the library does carry out.
WORKING = {
    "allocator_create_desc",
    "allocator_destroy_desc",
    "allocator_set_obj_to_desc",
    "allocator_set_alloc_func_to_desc",
    "allocator_set_free_func_to_desc",
    "allocator_set_alloc_advise_func_to_desc",
    "allocator_set_get_addr_from_block_func_to_desc",
    "allocator_register",
    "allocator_unregister",
    "set_op_execute_time_out",
    "set_op_execute_timeout_v2",
    "get_op_timeout_interval",
    "get_op_execute_timeout",
    "create_binary",
    "init_dump",
    "set_dump",
    "finalize_dump",
}
ONES = {"P": 64, "Q": 64, "S": "x", "c": print, "l": [], "d": {}, "F": 1.0}


@pytest.mark.parametrize("fact", [fact for fact in TIER_C if fact.name.split(".")[-1] not in WORKING], ids=str)
def test_it_is_refused_in_its_shape(fact):
    result = fact.find()(*(ONES.get(letter, 1) for letter in fact.required))
    items = result if isinstance(result, tuple) else (result,)
    assert len(items) == len(fact.items)
    for name, item in zip(fact.items, items):
        if name == "ret":
            assert item in (NOT_SUPPORTED, INVALID_PARAM, INVALID_FILE, 107017), "stale handles may be noticed first"
        else:
            assert not item, f"{name} is {item!r}"
    text = acl.get_recent_err_msg()
    assert text and any(str(code) in text for code in (NOT_SUPPORTED, INVALID_PARAM, INVALID_FILE, 107017))


def test_the_text_names_the_function_and_what_to_do():
    assert acl.mdl.load_from_file("model.om") == (0, NOT_SUPPORTED)
    assert acl.op.create_attr() == 0
    text = acl.get_recent_err_msg()
    assert text.index("acl.op.create_attr") < text.index("acl.mdl.load_from_file"), "newest first"
    assert "host function" in text
    assert acl.get_recent_err_msg() is None


def test_texts_of_the_module_and_of_the_library_come_together():
    acl.rt.set_device(1000)
    acl.mdl.unload(1)
    text = acl.get_recent_err_msg()
    assert "aclrtSetDevice" in text and "acl.mdl.unload" in text


def test_texts_do_not_grow_without_end():
    for _ in range(1000):
        acl.mdl.unload(1)
    assert len(acl.get_recent_err_msg()) < 10000


def test_a_dump_is_a_switch_without_effect():
    assert acl.mdl.finalize_dump() == 100045
    assert acl.mdl.init_dump() == 0
    assert acl.mdl.init_dump() == 100044
    assert acl.mdl.set_dump("dump.json") == 0
    assert acl.mdl.finalize_dump() == 0


def test_core_groups_raise_where_the_original_does():
    with pytest.raises(RuntimeError):
        acl.rt.get_group_info_detail(64, 0, 0)


def test_kernel_calls_read_their_lists():
    options = [{"type": 1, "value": 1}, {"type": 2, "value": 0x43554245}]
    assert acl.rt.binary_load_from_file("/no/such/kernel.o", options) == (0, INVALID_FILE)
    assert acl.rt.binary_load_from_file(__file__, options) == (0, NOT_SUPPORTED), "nothing stands in for a kernel"
    assert "ropewayRegisterKernel" in acl.get_recent_err_msg()
    assert acl.rt.binary_load_from_data(64, 8, []) == (0, NOT_SUPPORTED)
    assert acl.rt.binary_load_from_data(0, 8, []) == (0, INVALID_PARAM)
    assert acl.rt.launch_kernel_with_config(64, 1, 0, [{"id": 1, "value": 1}], 64, 0) == STALE
    arguments = (ctypes.c_uint64 * 2)()
    places = [{"addrOffset": 0, "dataOffset": 8}]
    assert acl.rt.launch_kernel_with_host_args(64, 1, 0, [], ctypes.addressof(arguments), 16, places, 1) == STALE
    with pytest.raises(ValueError):
        acl.rt.launch_kernel_with_host_args(64, 1, 0, [], 64, 8, [{"addrOffset": 0, "dataOffset": 8}], 2)
    for wrong, error in (((), ValueError), (None, ValueError), ([1], TypeError), ([{"type": 2**40}], ValueError)):
        with pytest.raises(error):
            acl.rt.binary_load_from_file("kernel.o", wrong)
    with pytest.raises(ValueError):
        acl.rt.get_function_name(64, 1024)
    assert acl.rt.get_function_name(64, 100) == ("", STALE)


def test_blas_and_profiler_take_anything():
    for name in ("gemm_ex", "gemv_ex", "hgemm", "hgemv", "s8gemm", "s8gemv"):
        assert getattr(acl.blas, name)(1, "two", None) == NOT_SUPPORTED
        assert getattr(acl.blas, f"create_handle_for_{name}")() == (0, NOT_SUPPORTED)
    assert acl.prof.init("/tmp/prof", 9) == NOT_SUPPORTED
    assert acl.prof.create_config([0], 1, 2, 3) == 0
    assert acl.prof.range_start(1) == (0, NOT_SUPPORTED)


def test_time_limits_of_kernels_are_kept():
    assert acl.rt.set_op_execute_time_out(10) == 0
    limit_ms, ret = acl.rt.get_op_execute_timeout()
    assert ret == 0 and limit_ms >= 10000
    assert acl.rt.get_op_timeout_interval()[1] == 0
    actual, ret = acl.rt.set_op_execute_timeout_v2(1_000_000)
    assert ret == 0 and actual >= 1_000_000


def test_allocators_reach_their_python_functions(stream):
    """What C code finds under the stream calls the Python functions, and gets their results."""
    import live

    blocks, freed = {}, []

    def alloc(allocator, size):
        blocks[0x1000 + size] = (allocator, size)
        return 0x1000 + size

    desc = acl.rt.allocator_create_desc()
    assert desc
    assert acl.rt.allocator_register(stream, desc) == INVALID_PARAM, "not complete"
    assert acl.rt.allocator_set_obj_to_desc(desc, 77) == 0
    assert acl.rt.allocator_set_alloc_func_to_desc(desc, alloc) == 0
    assert (
        acl.rt.allocator_set_alloc_advise_func_to_desc(
            desc, lambda allocator, size, addr: alloc(allocator, size + addr)
        )
        == 0
    )
    assert acl.rt.allocator_set_free_func_to_desc(desc, lambda allocator, block: freed.append((allocator, block))) == 0
    assert acl.rt.allocator_set_get_addr_from_block_func_to_desc(desc, lambda block: block + 1) == 0
    assert acl.rt.allocator_register(stream, desc) == 0
    assert acl.rt.allocator_destroy_desc(desc) == 0
    assert acl.rt.allocator_destroy_desc(desc) == INVALID_PARAM

    pointer = ctypes.c_void_p
    outputs = [pointer() for _ in range(6)]
    assert live.library.aclrtAllocatorGetByStream(pointer(stream), *map(ctypes.byref, outputs)) == 0
    _, allocator, *functions = (output.value for output in outputs)
    kinds = [
        (pointer, pointer, ctypes.c_size_t),
        (None, pointer, pointer),
        (pointer, pointer, ctypes.c_size_t, pointer),
        (pointer, pointer),
    ]
    c_alloc, c_free, c_advise, c_address = (
        ctypes.CFUNCTYPE(*kind)(function) for kind, function in zip(kinds, functions)
    )
    assert c_alloc(allocator, 64) == 0x1040 and blocks[0x1040] == (77, 64)
    assert c_advise(allocator, 64, 1) == 0x1041
    assert c_address(0x1040) == 0x1041
    c_free(allocator, 0x1040)
    assert freed == [(77, 0x1040)] and c_address(0x1040) is None
    assert acl.rt.allocator_unregister(stream) == 0
    assert c_alloc(allocator, 64) is None, "the functions are gone"


def test_kernels_do_not_run(stream):
    with Device(64) as block:
        assert acl.rt.launch_kernel(64, 1, block.ptr, 8, stream) == STALE
        assert acl.rt.get_overflow_status(block.ptr, 64, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0
