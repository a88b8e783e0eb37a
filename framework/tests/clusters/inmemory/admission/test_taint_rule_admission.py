"""The cluster checks and completes DeviceTaintRules and taints of slices.

Cases follow upstream's ``pkg/apis/resource/validation`` and
``pkg/registry/resource/devicetaintrule`` (Kubernetes v1.37). Each path is the one that
an API server names.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import (
    Condition,
    DeviceTaint,
    DeviceTaintRule,
    ResourceSlice,
    Time,
    decode,
    encode,
    from_wire,
)
from quaymaster.testing import (
    make_device,
    make_device_taint_rule,
    make_resource_slice,
)
from tests.kit.clusters import make_cluster, pass_time

TAINT = {"key": "example.com/broken", "effect": "NoSchedule"}
RULE = make_device_taint_rule()


def rule_of(spec: Mapping[str, Any]) -> DeviceTaintRule:
    tree = {"metadata": {"name": "rule"}, "spec": spec}
    return from_wire(tree, DeviceTaintRule)


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        ({"taint": TAINT}, []),
        ({"taint": TAINT, "deviceSelector": {}}, []),
        ({"taint": TAINT, "deviceSelector": {"pool": "a/b.c"}}, []),
        ({"taint": {**TAINT, "effect": "None", "value": "yes"}}, []),
        ({"taint": {"effect": "NoSchedule"}}, ["spec.taint.key"]),
        ({"taint": {"key": "a"}}, ["spec.taint.effect"]),
        ({"taint": {"key": "a", "effect": "Never"}}, ["spec.taint.effect"]),
        ({"taint": {**TAINT, "value": "no good"}}, ["spec.taint.value"]),
        ({}, ["spec.taint.key", "spec.taint.effect"]),
        (
            {
                "taint": TAINT,
                "deviceSelector": {"driver": "A_", "pool": "B_/c", "device": "D.e"},
            },
            [f"spec.deviceSelector.{field}" for field in ("driver", "pool", "device")],
        ),
        (
            {
                "taint": TAINT,
                "deviceSelector": {"driver": "", "pool": "", "device": ""},
            },
            [f"spec.deviceSelector.{field}" for field in ("driver", "pool", "device")],
        ),
    ],
)
def test_rule_is_checked(spec: Mapping[str, Any], paths: list[str]) -> None:
    found = []
    try:
        make_cluster().create(rule_of(spec))
    except AdmissionError as error:
        found = [problem.path for problem in error.problems]
    assert found == paths


def test_device_has_sixteen_taints_at_most() -> None:
    taints = [DeviceTaint(key=f"t{i}", effect="None") for i in range(17)]
    make_cluster().create(
        make_resource_slice(devices=[make_device(taints=taints[:16])])
    )
    with pytest.raises(AdmissionError, match="at most 16 taints"):
        make_cluster().create(make_resource_slice(devices=[make_device(taints=taints)]))


def added(cluster: InMemoryCluster, name: str = "rule") -> float | None:
    return cluster.get(DeviceTaintRule, name).spec.taint.time_added


def test_taint_begins_when_it_is_stored() -> None:
    cluster = make_cluster(RULE)
    began = added(cluster)
    assert began == cluster.clock.now()
    pass_time(cluster, 7.25)
    cluster.create(make_device_taint_rule(name="later"))
    assert added(cluster, "later") == began + 7  # whole seconds
    cluster.create(make_device_taint_rule(name="given", time_added=5.0))
    assert added(cluster, "given") == 5.0


def test_taint_of_a_slice_begins_when_it_is_stored() -> None:
    given = DeviceTaint(key="given", effect="None", time_added=Time(5.0))
    taints = [DeviceTaint(key="new", effect="NoSchedule"), given]
    cluster = make_cluster(make_resource_slice(devices=[make_device(taints=taints)]))
    [listed] = cluster.list(ResourceSlice).items
    [device] = listed.spec.devices
    times = [taint.time_added for taint in device.taints]
    assert times == [cluster.clock.now(), 5.0]


def test_a_new_effect_renews_the_time_and_a_new_value_does_not() -> None:
    cluster = make_cluster(RULE, controllers=False)
    stored = cluster.get(DeviceTaintRule, "rule")
    pass_time(cluster, 10)
    taint = replace(stored.spec.taint, value="other")
    stored = cluster.update(replace(stored, spec=replace(stored.spec, taint=taint)))
    assert stored.spec.taint.time_added == cluster.clock.now() - 10
    assert stored.metadata.generation == 2
    taint = replace(stored.spec.taint, effect="NoExecute")
    stored = cluster.update(replace(stored, spec=replace(stored.spec, taint=taint)))
    assert stored.spec.taint.time_added == cluster.clock.now()
    assert stored.metadata.generation == 3


def test_update_leaves_the_status_and_the_generation_of_an_equal_spec() -> None:
    cluster = make_cluster(RULE, controllers=False)
    stored = cluster.get(DeviceTaintRule, "rule")
    conditions = (Condition(type="EvictionInProgress", status="False"),)
    cluster.patch_status(stored, {"conditions": conditions})
    metadata = replace(stored.metadata, labels={"a": "b"}, resource_version="")
    updated = cluster.update(replace(stored, metadata=metadata))
    assert updated.status.conditions == conditions
    assert updated.metadata.generation == 1


def test_rule_survives_a_file() -> None:
    cluster = make_cluster(RULE)
    stored = cluster.get(DeviceTaintRule, "rule")
    assert decode(encode(stored), DeviceTaintRule) == stored
    other = make_cluster()
    other.load([stored], as_it_is=True)
    copied = other.get(DeviceTaintRule, "rule")
    assert copied.spec == stored.spec
    assert copied.uid == stored.uid
