"""DeviceTaintRules taint devices, which requests may tolerate.

Cases follow upstream's ``resourceslice/tracker/tracker_test.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from quaymaster.config import Kubernetes
from quaymaster.devices import AllocatedDevices, Allocator, Inventory
from quaymaster.objects import DeviceTaint, DeviceTaintRule, DeviceToleration
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_device_request,
    make_device_taint_rule,
    make_node,
    make_resource_claim,
    make_resource_slice,
)

NODE = make_node(name="n")
OWN = DeviceTaint(key="own", value="yes", effect="NoSchedule")
SLICES = [
    make_resource_slice(node="n", devices=2),
    make_resource_slice(node="n", driver="nic.example.com", devices=1),
    make_resource_slice(pool="shared", devices=[make_device(name="far")]),
]
EVERY_DEVICE = ["gpu-0", "gpu-1", "gpu-0", "far"]
BEFORE_1_37 = Kubernetes("1.36", {"DRADeviceTaintRules": True})


def free(
    rules: Iterable[DeviceTaintRule] = (),
    *tolerations: DeviceToleration,
    inventory: Inventory | None = None,
    kubernetes: Kubernetes | None = None,
) -> int:
    """Count the devices that a claim may get."""
    version = kubernetes or Kubernetes()
    if inventory is None:
        inventory = Inventory(SLICES, rules, kubernetes=version)
    for count in range(len(EVERY_DEVICE), 0, -1):
        request = make_device_request(count=count, tolerations=tolerations)
        allocator = Allocator(
            inventory,
            AllocatedDevices(),
            lambda _name: make_device_class(),
            [make_resource_claim(requests=[request])],
            kubernetes=version,
        )
        if allocator.allocate(NODE) is not None:
            return count
    return 0


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param(make_device_taint_rule(), 0, id="every device"),
        pytest.param(
            make_device_taint_rule(driver="gpu.example.com"), 1, id="of a driver"
        ),
        pytest.param(make_device_taint_rule(pool="n"), 1, id="of a pool"),
        pytest.param(make_device_taint_rule(device="gpu-0"), 2, id="of a name"),
        pytest.param(
            make_device_taint_rule(driver="gpu.example.com", pool="n", device="gpu-1"),
            3,
            id="one device",
        ),
        pytest.param(make_device_taint_rule(driver="other.example.com"), 4, id="none"),
        pytest.param(make_device_taint_rule(effect="NoExecute"), 0, id="NoExecute"),
        pytest.param(make_device_taint_rule(effect="None"), 4, id="without effect"),
    ],
)
def test_rule_keeps_requests_off_the_devices_that_it_selects(
    rule: DeviceTaintRule, expected: int
) -> None:
    assert free([rule]) == expected


def without_selector() -> DeviceTaintRule:
    rule = make_device_taint_rule()
    return replace(rule, spec=replace(rule.spec, device_selector=None))


def test_rule_without_a_selector_selects_nothing_since_1_37_and_all_before() -> None:
    assert free([without_selector()]) == 4
    assert free([without_selector()], kubernetes=BEFORE_1_37) == 0


def test_taints_of_rules_are_tolerated_like_those_of_slices() -> None:
    rules = [make_device_taint_rule(key="a"), make_device_taint_rule(name="b", key="b")]
    both = [DeviceToleration(key=key, operator="Exists") for key in "ab"]
    assert free(rules, *both) == 4
    assert free(rules, both[0]) == 0


def test_taints_have_no_effect_while_their_gate_is_off() -> None:
    gates = {"DRADeviceTaintRules": False, "DRADeviceTaints": False}
    tainted = [make_resource_slice(node="n", devices=[make_device(taints=[OWN])])]
    assert free(inventory=Inventory(tainted)) == 0
    off = Kubernetes("1.37", gates)
    assert free(inventory=Inventory(tainted), kubernetes=off) == 1


def test_inventory_follows_rules_that_come_change_and_go() -> None:
    inventory = Inventory(SLICES)
    assert free(inventory=inventory) == 4
    tainted = inventory.add_rule(make_device_taint_rule(pool="n"))
    assert [device.name for device in tainted] == [
        "n-gpu.example.com",
        "n-nic.example.com",
    ]
    assert free(inventory=inventory) == 1
    tainted = inventory.add_rule(make_device_taint_rule(device="far"))
    assert len(tainted) == 3
    assert free(inventory=inventory) == 3
    tainted = inventory.remove_rule(make_device_taint_rule())
    assert [device.name for device in tainted] == ["shared-gpu.example.com"]
    assert free(inventory=inventory) == 4
    assert inventory.remove_rule(make_device_taint_rule()) == []


def test_slice_that_comes_later_gets_the_taints_of_rules() -> None:
    inventory = Inventory(rules=[make_device_taint_rule(device="gpu-0")])
    inventory.add(make_resource_slice(node="n", devices=2))
    assert free(inventory=inventory) == 1


def test_explanation_names_the_rule_that_tainted_a_device() -> None:
    slices = [
        make_resource_slice(
            node="n", devices=[make_device(), make_device(name="b", taints=[OWN])]
        )
    ]
    rules = [make_device_taint_rule(name=name, device="gpu-0") for name in "zy"]
    allocator = Allocator(
        Inventory(slices, rules),
        AllocatedDevices(),
        lambda _name: make_device_class(),
        [make_resource_claim()],
    )
    [shortage] = allocator.why_not(NODE)
    key = "example.com/unhealthy:NoSchedule"
    assert str(shortage) == (
        "claim default/claim, request devices: wants 1, 0 of 2 devices would do: 1 "
        f"with taint {key} of DeviceTaintRule y and with taint {key} of "
        "DeviceTaintRule z, 1 with taint own=yes:NoSchedule"
    )
