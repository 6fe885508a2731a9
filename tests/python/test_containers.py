"""Tensor descriptors, datasets and data buffers: what host programs keep next to their copies."""
import pytest

import acl
from helpers import INVALID_PARAM, NOT_SUPPORTED

FLOAT, FLOAT16, INT64 = 0, 1, 9
NCHW, NHWC, ND, NC1HWC0, HWCN = 0, 1, 2, 3, 16


@pytest.fixture
def desc():
    handle = acl.create_tensor_desc(FLOAT, [2, 3, 4, 5], NCHW)
    assert handle
    yield handle
    assert acl.destroy_tensor_desc(handle) is None


def test_a_descriptor_says_what_it_was_made_of(desc):
    assert acl.get_tensor_desc_type(desc) == FLOAT
    assert acl.get_tensor_desc_format(desc) == NCHW
    assert acl.get_tensor_desc_num_dims(desc) == 4
    assert [acl.get_tensor_desc_dim(desc, index) for index in range(5)] == [2, 3, 4, 5, -1]
    assert acl.get_tensor_desc_dim_v2(desc, 3) == (5, 0)
    assert acl.get_tensor_desc_dim_v2(desc, 4) == (0, INVALID_PARAM)
    assert acl.get_tensor_desc_element_count(desc) == 120
    assert acl.get_tensor_desc_size(desc) == 480
    assert acl.get_tensor_desc_address(desc) == 0
    assert acl.get_tensor_desc_by_index(desc, 0) == desc
    assert acl.get_tensor_desc_by_index(desc, 1) == 0


@pytest.mark.parametrize("dims, count", [([], 1), ([0], 0), ([7], 7), ([-1, 4], 0), ([2**20, 2**20], 2**40)])
def test_element_counts(dims, count):
    handle = acl.create_tensor_desc(FLOAT16, dims, ND)
    assert acl.get_tensor_desc_element_count(handle) == count
    assert acl.get_tensor_desc_size(handle) == 2 * count
    acl.destroy_tensor_desc(handle)


def test_an_unknown_rank_is_said_so():
    handle = acl.create_tensor_desc(FLOAT, [-2], ND)
    assert acl.get_tensor_desc_num_dims(handle) == 0xFFFFFFFFFFFFFFFE
    acl.destroy_tensor_desc(handle)


def test_names(desc):
    assert acl.get_tensor_desc_name(desc) == ""
    assert acl.set_tensor_desc_name(desc, "input") is None
    assert acl.get_tensor_desc_name(desc) == "input"


def test_ranges(desc):
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == ([3, 3], 0)
    assert acl.set_tensor_shape_range(desc, [[1, 2], [3, 9], [4, 4], [5, -1]]) == 0
    assert acl.get_tensor_desc_dim_range(desc, 1, 2) == ([3, 9], 0)
    assert acl.get_tensor_desc_dim_range(desc, 4, 2) == (None, INVALID_PARAM)
    assert acl.get_tensor_desc_dim_range(desc, 0, 1) == (None, INVALID_PARAM)
    assert acl.get_tensor_desc_dim_range(desc, 0, 4097) == (None, INVALID_PARAM)
    for wrong in ([[1]], [1], (1, 2)):
        with pytest.raises(ValueError):
            acl.set_tensor_shape_range(desc, wrong)


def test_settings_are_taken(desc):
    for code in (
        acl.set_tensor_format(desc, ND),
        acl.set_tensor_storage_format(desc, NC1HWC0),
        acl.set_tensor_origin_format(desc, NHWC),
        acl.set_tensor_dynamic_input(desc, "x"),
        acl.set_tensor_storage_shape(desc, [1]),
        acl.set_tensor_shape(desc, [1, 2]),
        acl.set_tensor_origin_shape(desc, []),
        acl.set_tensor_value_range(desc, [[0, 1]]),
        acl.set_tensor_place_ment(desc, 1),
        acl.set_tensor_const(desc, 64, 8),
    ):
        assert code == 0
    assert acl.get_tensor_desc_format(desc) == NCHW, "the format itself is not changed by these"


def test_formats_that_are_permutations(desc):
    turned, ret = acl.trans_tensor_desc_format(desc, NHWC)
    assert ret == 0
    assert [acl.get_tensor_desc_dim(turned, index) for index in range(4)] == [2, 4, 5, 3]
    again, ret = acl.trans_tensor_desc_format(turned, HWCN)
    assert ret == 0
    assert [acl.get_tensor_desc_dim(again, index) for index in range(4)] == [4, 5, 3, 2]
    assert acl.trans_tensor_desc_format(desc, NC1HWC0) == (0, NOT_SUPPORTED)
    assert "NCHW" in acl.get_recent_err_msg()
    for handle in (turned, again):
        acl.destroy_tensor_desc(handle)


def test_handles_that_are_not_live_are_noticed():
    handle = acl.create_tensor_desc(FLOAT, [1], ND)
    acl.destroy_tensor_desc(handle)
    for stale in (handle, 0, 12345):
        assert acl.get_tensor_desc_type(stale) == -1
        assert acl.get_tensor_desc_format(stale) == -1
        assert acl.get_tensor_desc_size(stale) == 0
        assert acl.get_tensor_desc_num_dims(stale) == 0
        assert acl.get_tensor_desc_name(stale) is None
        assert acl.get_tensor_desc_dim(stale, 0) == -1
        assert acl.get_tensor_desc_by_index(stale, 0) == 0
        assert acl.set_tensor_format(stale, 0) == INVALID_PARAM
        assert acl.set_tensor_shape(stale, [1]) == INVALID_PARAM
        assert acl.set_tensor_const(stale, 0, 0) == INVALID_PARAM
        assert acl.trans_tensor_desc_format(stale, 0) == (0, INVALID_PARAM)
        assert acl.destroy_tensor_desc(stale) is None
        assert "not a live tensor descriptor" in acl.get_recent_err_msg()


def test_dims_are_a_list_of_ints():
    for wrong, error in (((1, 2), ValueError), (3, ValueError), ([1.5], TypeError), ([2**63], TypeError)):
        with pytest.raises(error):
            acl.create_tensor_desc(FLOAT, wrong, ND)


def test_datasets():
    dataset = acl.mdl.create_dataset()
    buffers = [acl.create_data_buffer(64 * index, index) for index in range(1, 4)]
    for buffer in buffers:
        assert acl.mdl.add_dataset_buffer(dataset, buffer) == (dataset, 0)
    assert acl.mdl.get_dataset_num_buffers(dataset) == 3
    assert [acl.mdl.get_dataset_buffer(dataset, index) for index in range(4)] == buffers + [0]
    desc = acl.create_tensor_desc(INT64, [4], ND)
    assert acl.mdl.get_dataset_tensor_desc(dataset, 1) == 0
    assert acl.mdl.set_dataset_tensor_desc(dataset, desc, 1) == (dataset, 0)
    assert acl.mdl.get_dataset_tensor_desc(dataset, 1) == desc
    assert acl.mdl.set_dataset_tensor_desc(dataset, desc, 3) == (dataset, INVALID_PARAM)
    assert acl.mdl.add_dataset_buffer(dataset, 0) == (dataset, INVALID_PARAM)
    assert acl.mdl.destroy_dataset(dataset) == 0
    assert acl.mdl.destroy_dataset(dataset) == INVALID_PARAM
    assert acl.mdl.get_dataset_num_buffers(dataset) == 0
    assert acl.mdl.get_dataset_buffer(0, 0) == 0
    assert acl.mdl.add_dataset_buffer(0, buffers[0]) == (0, INVALID_PARAM)
    acl.destroy_tensor_desc(desc)
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0


def test_data_buffers():
    empty = acl.create_data_buffer(0, 0)
    assert empty
    assert acl.update_data_buffer(empty, 4096, 2**33 + 1) == 0
    assert acl.get_data_buffer_addr(empty) == 4096
    assert acl.get_data_buffer_size(empty) == 1, "32 bits"
    assert acl.get_data_buffer_size_v2(empty) == 2**33 + 1
    assert acl.destroy_data_buffer(empty) == 0
    assert acl.destroy_data_buffer(0) == INVALID_PARAM


@pytest.mark.parametrize(
    "number, bits", [(0.0, 0), (1.0, 0x3C00), (-2.0, 0xC000), (65504.0, 0x7BFF), (1e9, 0x7C00), (2**-24, 1)]
)
def test_half_precision(number, bits):
    assert acl.float_to_float16(number) == bits
    if bits != 0x7C00:
        assert acl.float16_to_float(bits) == number
