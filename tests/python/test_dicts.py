"""Structures as dicts: lenient about what is missing, strict about what does not fit."""
import pytest

import acl
from helpers import NOT_SUPPORTED

SIZE = 4096


def allocate(config, call=acl.rt.malloc_with_cfg):
    pointer, ret = call(SIZE, 0, config)
    if ret == 0:
        assert acl.rt.free(pointer) == 0
    else:
        assert pointer == 0
    return ret


@pytest.mark.parametrize(
    "call", [acl.rt.malloc_with_cfg, acl.rt.malloc_for_task_scheduler, acl.media.dvpp_malloc_with_cfg]
)
def test_allocations_with_attributes(device, call):
    assert allocate({}, call) == 0
    assert allocate({"attrs": [{"attr": 1, "value": {"moduleId": 33}}], "numAttrs": 1}, call) == 0
    assert (
        allocate(
            {"attrs": [{"attr": 2, "value": {"deviceId": 0}}, {"attr": 0, "value": {"rsv": [0] * 8}}], "numAttrs": 2},
            call,
        )
        == 0
    )
    assert allocate({"attrs": [{"attr": 2, "value": {"deviceId": 1}}], "numAttrs": 1}, call) == 107000
    assert allocate({"attrs": [{"attr": 99, "value": {"moduleId": 1}}], "numAttrs": 1}, call) == 107000


def test_pinned_allocations_with_attributes(device):
    for config in ({}, {"attrs": [{"attr": 1, "value": {"moduleId": 1}}], "numAttrs": 1}):
        pointer, ret = acl.rt.malloc_host_with_cfg(SIZE, config)
        assert ret == 0
        assert acl.rt.free_host(pointer) == 0


@pytest.mark.parametrize(
    "config, error",
    [
        ([], TypeError),
        (None, TypeError),
        ({"numAttrs": 1}, TypeError),
        ({"attrs": (), "numAttrs": 0}, TypeError),
        ({"attrs": [1], "numAttrs": 1}, TypeError),
        ({"attrs": [{"attr": 1, "value": 5}], "numAttrs": 1}, TypeError),
        ({"attrs": [{"attr": 1, "value": {"moduleId": 1}}]}, KeyError),
        ({"attrs": [{"attr": 1, "value": {"moduleId": 1}}], "numAttrs": 2}, KeyError),
        ({"attrs": [{"attr": 1, "value": {"other": 1}}], "numAttrs": 1}, KeyError),
        ({"attrs": [{"attr": 1}], "numAttrs": 1}, KeyError),
        ({"attrs": [{"attr": 1, "value": {"moduleId": 65536}}], "numAttrs": 1}, ValueError),
        ({"attrs": [{"attr": 2**40, "value": {"moduleId": 1}}], "numAttrs": 1}, ValueError),
        ({"attrs": [{"attr": 0, "value": {"rsv": [0] * 9}}], "numAttrs": 1}, ValueError),
    ],
)
def test_broken_configurations(device, config, error):
    with pytest.raises(error):
        acl.rt.malloc_with_cfg(SIZE, 0, config)


def test_stream_attributes(stream):
    for attribute, key, value in ((2, "overflowSwitch", 1), (3, "userCustomTag", 77)):
        assert acl.rt.set_stream_attribute(stream, attribute, {key: value}) == 0
        assert acl.rt.get_stream_attribute(stream, attribute) == ({key: value}, 0)
    assert acl.rt.get_stream_attribute(stream, 1)[0].keys() == {"failureMode"}
    value, ret = acl.rt.get_stream_attribute(stream, 5)
    assert ret == 0 and list(value) == ["reserved"] and len(value["reserved"]) == 4
    assert acl.rt.get_stream_attribute(stream, 99)[1] == 107000


def test_reading_is_lenient(stream):
    assert acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 5}) == 0
    for lenient in ({}, {"userCustomTag": "text"}, {"overflowSwitch": 9}, {"userCustomTag": None}):
        assert acl.rt.set_stream_attribute(stream, 3, lenient) == 0
        assert acl.rt.get_stream_attribute(stream, 3) == ({"userCustomTag": 0}, 0)


def test_what_does_not_fit_is_refused(stream):
    for wrong, error in (
        ({"userCustomTag": 2**32}, ValueError),
        ({"userCustomTag": -(2**31) - 1}, ValueError),
        ([], TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            acl.rt.set_stream_attribute(stream, 3, wrong)
    with pytest.raises(ValueError):
        acl.rt.set_stream_attribute(stream, 5, {"reserved": [0] * 5})
    with pytest.raises(ValueError):
        acl.rt.set_stream_attribute(stream, 1, {"failureMode": 2**64})


def test_properties_of_physical_memory(device):
    known = (0, NOT_SUPPORTED)
    prop = {"handleType": 0, "allocationType": 0, "memAttr": 4, "location": {"id": 0, "type": 1}, "reserve": 0}
    assert acl.rt.mem_get_allocation_granularity(prop, 0)[1] in known
    for wrong, error in (
        (dict(prop, memAttr=2**33), ValueError),
        (dict(prop, location={"id": 2**40}), ValueError),
        ([], TypeError),
        (None, TypeError),
    ):
        with pytest.raises(error):
            acl.rt.mem_get_allocation_granularity(wrong, 0)
        with pytest.raises(error):
            acl.rt.malloc_physical(1 << 21, wrong, 0)


def test_fault_records():
    assert acl.rt.mem_uce_repair(0, [{}]) == 0
    assert acl.rt.mem_uce_repair(0, []) == 100000
    for wrong, error in (({}, ValueError), ((), ValueError), ([1], TypeError), ([{"reserved": [0] * 15}], ValueError)):
        with pytest.raises(error):
            acl.rt.mem_uce_repair(0, wrong)
