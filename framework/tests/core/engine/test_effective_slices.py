"""Changed rules reach plugins as changes of the slices whose devices they taint.

Cases follow upstream's ``resourceslice/tracker/tracker_test.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.config import Kubernetes
from quaymaster.objects import (
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleStatus,
    ResourceSlice,
)
from quaymaster.testing import (
    make_device,
    make_device_taint_rule,
    make_resource_slice,
)
from tests.kit.internals.engine import EffectiveSlices

ObjT = TypeVar("ObjT", bound=ApiObject)

A = make_resource_slice(node="a", devices=2)
B = make_resource_slice(node="b")
OF_A = make_device_taint_rule(pool="a", device="gpu-0")
OF_B = make_device_taint_rule(pool="b")


class Copy:
    """The informers' copy: some slices and rules."""

    def __init__(self, *objects: ApiObject) -> None:
        self.objects = list(objects)

    def list(self, kind: type[ObjT]) -> Sequence[ObjT]:
        return [obj for obj in self.objects if isinstance(obj, kind)]


TaintChanges = list[tuple[list[str], list[str]]]


def taint_changes(
    copy: Copy,
    old: ApiObject | None,
    new: ApiObject | None,
    *,
    slices: EffectiveSlices | None = None,
) -> TaintChanges:
    """Return the taints of each changed slice, before and after."""
    slices = slices or EffectiveSlices(copy, Kubernetes())
    kind = DeviceTaintRule if new is None else type(new)
    return [
        (taints_of(before), taints_of(after))
        for kind, before, after in slices.changes(kind, old, new)
        if kind is ResourceSlice
    ]


def taints_of(obj: ApiObject | None) -> list[str]:
    assert obj is None or isinstance(obj, ResourceSlice)
    devices = () if obj is None else obj.spec.devices
    return [
        f"{device.name} {taint.key}" for device in devices for taint in device.taints
    ]


TAINTED = ["gpu-0 example.com/unhealthy"]


def test_new_rule_changes_the_slices_of_its_devices() -> None:
    assert taint_changes(Copy(A, B, OF_A), None, OF_A) == [([], TAINTED)]


def test_rule_that_is_gone_changes_them_back() -> None:
    assert taint_changes(Copy(A, B), OF_A, None) == [(TAINTED, [])]


def test_rule_that_selects_others_changes_both() -> None:
    found = taint_changes(Copy(A, B, OF_B), OF_A, OF_B)
    assert found == [(TAINTED, []), ([], TAINTED)]


def test_rule_whose_status_changes_changes_no_slice() -> None:
    updated = replace(OF_A, status=DeviceTaintRuleStatus())
    assert taint_changes(Copy(A, updated), OF_A, updated) == []


def test_rule_without_devices_changes_no_slice() -> None:
    nowhere = make_device_taint_rule(driver="other.example.com")
    assert taint_changes(Copy(A, B, nowhere), None, nowhere) == []


def test_slice_has_the_taints_of_rules_beside_its_own() -> None:
    own = DeviceTaint(key="own", effect="NoSchedule")
    listed = make_resource_slice(node="a", devices=[make_device(taints=[own])])
    copy = Copy(listed, OF_A)
    slices = EffectiveSlices(copy, Kubernetes())
    list(slices.changes(DeviceTaintRule, None, OF_A))
    assert taint_changes(copy, None, listed, slices=slices) == [
        ([], ["gpu-0 own", *TAINTED])
    ]


def test_rule_is_delivered_as_an_object_too() -> None:
    slices = EffectiveSlices(Copy(), Kubernetes())
    changes = list(slices.changes(DeviceTaintRule, None, OF_A))
    assert changes == [(DeviceTaintRule, None, OF_A)]
