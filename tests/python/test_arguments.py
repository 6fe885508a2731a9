"""Argument lists: what is taken, what is refused, for every function by its documented classes."""
import inspect
import sys

import pytest

import acl
import facts
from helpers import INVALID_PARAM, run_program

WITH_ARGUMENTS = [fact for fact in facts.ALL + facts.OURS if fact.required]
WITHOUT = [fact for fact in facts.ALL if not fact.classes]

# What does not fit a class. numpy integers and other things with __index__ do fit: a superset of the original.
MISFITS = {letter: [None, "text", 1.5, b"1"] for letter in "PQIULHBT"}
MISFITS["I"] += [2**31, -(2**31) - 1]
MISFITS["L"] += [2**63, -(2**63) - 1]
MISFITS["T"] += [-1, 2**32]
MISFITS["F"] = [None, "1.5", []]
MISFITS["S"] = [None, b"bytes", 1, "zero\0inside"]
MISFITS["c"] = [None, 1, "print"]
MISFITS["d"] = [None, [], 1]
MISFITS["l"] = [None, (), {}, 1]


def arguments_of(fact):
    return [facts.ZERO.get(letter, 0) for letter in fact.required]


@pytest.mark.parametrize("fact", WITH_ARGUMENTS, ids=str)
def test_the_wrong_number_is_a_type_error(fact):
    arguments = arguments_of(fact)
    with pytest.raises(TypeError, match="args parse failed"):
        fact.find()(*arguments[:-1])
    if not fact.open_ended:
        with pytest.raises(TypeError, match="args parse failed"):
            fact.find()(*arguments, 0)


@pytest.mark.parametrize("fact", WITH_ARGUMENTS, ids=str)
def test_misfits_are_refused(fact):
    for position, letter in enumerate(fact.required):
        for misfit in MISFITS.get(letter, []):
            arguments = arguments_of(fact)
            arguments[position] = misfit
            with pytest.raises((TypeError, ValueError)) as caught:
                fact.find()(*arguments)
            if letter != "l":
                assert caught.type is TypeError, f"argument {position + 1} = {misfit!r}"


@pytest.mark.parametrize("fact", facts.ALL + facts.OURS, ids=str)
def test_keywords_are_refused(fact):
    with pytest.raises(TypeError, match="keyword"):
        fact.find()(device_id=0)


def test_optional_arguments_have_limits():
    for function in (acl.init, acl.mdl.set_dump, acl.rt.set_exception_info_callback):
        with pytest.raises(TypeError):
            function("a", "b")
    for refused in (None, b"path", 1):
        with pytest.raises(TypeError):
            acl.init(refused)


def test_every_function_answers_in_its_shape_when_given_zeros():
    """In a program of its own: among them are calls that end devices and create what nobody destroys."""
    run_program(
        """
        import sys, warnings
        sys.path.insert(0, sys.argv[1])
        warnings.simplefilter("ignore")
        import facts
        for fact in facts.ALL + facts.OURS:
            if "a" in fact.required or fact.name in ("acl.util.ptr_to_numpy", "acl.rt.get_group_info_detail"):
                continue
            result = fact.find()(*(facts.ZERO[letter] for letter in fact.required))
            if fact.returns.startswith("("):
                assert type(result) is tuple and len(result) == len(fact.items), (fact, result)
                assert type(result[-1]) is int, (fact, result)
            elif fact.returns in ("ret", "int", "handle", "addr", "err"):
                assert type(result) is int, (fact, result)
            for item, value in zip(fact.items, result if type(result) is tuple else (result,)):
                wanted = {"dict": dict, "list": list, "float": float}.get(item.split()[-1].rstrip(")"))
                assert wanted is None or type(value) is wanted, (fact, result)
                assert ": str" not in item or type(value) is str, (fact, result)
                if wanted is None and item not in ("None", "bytes") and "str" not in item and "None" not in item:
                    assert type(value) is int and value >= -1, (fact, result)
    """,
        __file__.rsplit("/", 1)[0],
    )


@pytest.mark.parametrize("fact", WITHOUT, ids=str)
def test_functions_without_arguments_ignore_what_they_get(fact):
    parameters = inspect.signature(fact.find()).parameters.values()
    assert [parameter.kind for parameter in parameters] == [inspect.Parameter.VAR_POSITIONAL]


def test_extra_positionals_to_functions_without_arguments_are_accepted(device):
    assert acl.rt.synchronize_device(device) == 0
    stream, ret = acl.rt.create_stream(5)
    assert ret == 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.get_device("x", None)[1] == 0


def test_group_count_demands_an_argument_and_ignores_it():
    assert acl.rt.get_group_count(7) == (0, 207000)
    with pytest.raises(TypeError):
        acl.rt.get_group_count()


def test_64_bit_classes_take_numbers_modulo_two_to_the_64():
    assert acl.get_data_buffer_addr(0) == 0
    buffer = acl.create_data_buffer(-1, 2**64 + 5)
    assert acl.get_data_buffer_addr(buffer) == 2**64 - 1
    assert acl.get_data_buffer_size_v2(buffer) == 5
    assert acl.update_data_buffer(buffer, True, -(2**64) + 8) == 0
    assert acl.get_data_buffer_addr(buffer) == 1
    assert acl.get_data_buffer_size(buffer) == 8
    assert acl.destroy_data_buffer(buffer) == 0


def test_32_bit_classes_mask_and_16_bit_ones_too(stream):
    assert acl.rt.set_stream_overflow_switch(stream, 2**32 + 1) == 0
    assert acl.rt.get_stream_overflow_switch(stream) == (1, 0)
    assert acl.float16_to_float(0x10000 + 0x3C00) == 1.0
    assert acl.float16_to_float(-0x10000 + 0x3C00) == 1.0


def test_negative_sizes_reach_c_which_refuses_them(device):
    pointer, ret = acl.rt.malloc(-1, 0)
    assert (pointer, ret != 0) == (0, True)
    assert acl.rt.malloc(0, 0) == (0, INVALID_PARAM)


def test_objects_with_an_index_are_taken(device):
    class Size:
        def __index__(self):
            return 4096

    pointer, ret = acl.rt.malloc(Size(), 0)
    assert ret == 0
    assert acl.rt.free(pointer) == 0


def test_numpy_integers_are_taken(device):
    numpy = pytest.importorskip("numpy")
    pointer, ret = acl.rt.malloc(numpy.int64(4096), numpy.int32(2))
    assert ret == 0
    assert acl.rt.memset(numpy.uint64(pointer), 4096, numpy.int8(-1), 4096) == 0
    assert acl.rt.free(pointer) == 0


def test_what_an_index_raises_becomes_a_type_error():
    class Broken:
        def __index__(self):
            raise OverflowError("no")

    with pytest.raises(TypeError, match="acl.rt.free args parse failed: argument 1: no"):
        acl.rt.free(Broken())


def test_texts_travel_as_utf8():
    desc = acl.create_tensor_desc(0, [], 2)
    acl.set_tensor_desc_name(desc, "Seilbahn über 索道")
    assert acl.get_tensor_desc_name(desc) == "Seilbahn über 索道"
    acl.destroy_tensor_desc(desc)


def test_handles_are_non_negative_plain_ints(stream):
    context, ret = acl.rt.get_context()
    assert ret == 0
    for handle in (context, stream):
        assert type(handle) is int and 0 < handle < 2**64
        assert bool(handle) and int(handle) == handle and {handle: 1}[handle] == 1
    assert sys.getsizeof(stream) > 0
