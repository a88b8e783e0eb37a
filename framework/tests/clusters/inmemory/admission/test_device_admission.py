"""The in-memory cluster completes and rejects devices, classes and claims.

Each path is the one that an API server 1.36 names.
"""

from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.config import Kubernetes
from quaymaster.inmemory import AdmissionError
from quaymaster.objects import (
    KINDS,
    Counter,
    DeviceAttribute,
    DeviceClass,
    DeviceCounterConsumption,
    Quantity,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    decode,
    encode,
    from_wire,
)
from quaymaster.testing import make_device, make_resource_slice
from tests.kit.admission import problems_of
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]
ObjT = TypeVar("ObjT", bound=ApiObject)


def stored(kind: type[ObjT], spec: Tree) -> ObjT:
    cluster = make_cluster(controllers=False)
    return cluster.create(from_wire({"metadata": {"name": "a"}, "spec": spec}, kind))


def paths_of(kind: type[ApiObject], spec: Tree) -> list[str]:
    try:
        stored(kind, spec)
    except AdmissionError as error:
        return [problem.path for problem in error.problems]
    return []


def claim(*requests: Tree, **others: object) -> Tree:
    return {"devices": {"requests": list(requests), **others}}


def exactly(name: str = "r", **fields: object) -> Tree:
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def first_of(*alternatives: Tree) -> Tree:
    return {"name": "r", "firstAvailable": list(alternatives)}


POOL = {"name": "a", "generation": 1, "resourceSliceCount": 1}


def slice_of(*devices: Tree, **fields: object) -> Tree:
    named = [{"name": f"d{i}", **device} for i, device in enumerate(devices)]
    return {
        "driver": "gpu.example.com",
        "pool": POOL,
        "nodeName": "node-a",
        "devices": named,
        **fields,
    }


def test_request_is_for_one_device_by_default() -> None:
    alternatives = first_of({"name": "s", "deviceClassName": "gpu"})
    spec = stored(ResourceClaim, claim(exactly("one"), alternatives)).spec
    first, other = spec.devices.requests
    assert first.exactly is not None
    assert (first.exactly.allocation_mode, first.exactly.count) == ("ExactCount", 1)
    [alternative] = other.first_available
    assert (alternative.allocation_mode, alternative.count) == ("ExactCount", 1)


def test_request_for_all_devices_has_no_count() -> None:
    spec = stored(ResourceClaim, claim(exactly(allocationMode="All"))).spec
    [request] = spec.devices.requests
    assert request.exactly is not None
    assert request.exactly.count == 0


def test_toleration_compares_values_by_default() -> None:
    given = claim(exactly(tolerations=[{"key": "k", "value": "v"}]))
    [request] = stored(ResourceClaim, given).spec.devices.requests
    assert request.exactly is not None
    assert [toleration.operator for toleration in request.exactly.tolerations] == [
        "Equal"
    ]


def test_template_is_filled_in_as_its_claims_are() -> None:
    template = stored(ResourceClaimTemplate, {"spec": claim(exactly())})
    [request] = template.spec.spec.devices.requests
    assert request.exactly is not None
    assert request.exactly.count == 1


def test_template_names_its_fields_by_their_place() -> None:
    spec = {"spec": claim(exactly(count=-1))}
    path = "spec.spec.devices.requests[0].exactly.count"
    assert paths_of(ResourceClaimTemplate, spec) == [path]


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (claim(exactly()), []),
        (claim(exactly("a"), exactly("a")), ["requests[1].name"]),
        (claim(exactly("R")), ["requests[0].name"]),
        (claim({"name": "r"}), ["requests[0]"]),
        (claim(exactly(deviceClassName="")), ["requests[0].exactly.deviceClassName"]),
        (claim(exactly(count=-1)), ["requests[0].exactly.count"]),
        (
            claim(exactly(allocationMode="All", count=2)),
            ["requests[0].exactly.count"],
        ),
        (claim(exactly(allocationMode="Most")), ["requests[0].exactly.allocationMode"]),
        (claim(exactly(selectors=[{}])), ["requests[0].exactly.selectors[0].cel"]),
        (
            claim(exactly(selectors=[{"cel": {"expression": ""}}])),
            ["requests[0].exactly.selectors[0].cel.expression"],
        ),
        (
            claim(exactly(tolerations=[{"operator": "Equal"}])),
            ["requests[0].exactly.tolerations[0].operator"],
        ),
        (
            claim(exactly(tolerations=[{"operator": "Exists", "value": "v"}])),
            ["requests[0].exactly.tolerations[0].value"],
        ),
        (
            claim(exactly(tolerations=[{"operator": "Exists", "effect": "Never"}])),
            ["requests[0].exactly.tolerations[0].effect"],
        ),
        (
            claim(
                first_of(
                    {"name": "s", "deviceClassName": "gpu"},
                    {"name": "s", "deviceClassName": "gpu"},
                )
            ),
            ["requests[0].firstAvailable[1].name"],
        ),
        (claim(exactly(), constraints=[{}]), ["constraints[0]"]),
        (
            claim(exactly(), constraints=[{"matchAttribute": "numa"}]),
            ["constraints[0].matchAttribute"],
        ),
        (
            claim(
                exactly(), constraints=[{"requests": ["s"], "matchAttribute": "d/n"}]
            ),
            ["constraints[0].requests[0]"],
        ),
        (claim(exactly(), config=[{"requests": ["r"]}]), ["config[0].opaque"]),
        (
            claim(*(exactly(f"r{index}") for index in range(33))),
            ["requests"],
        ),
    ],
)
def test_claim_is_refused_by_the_field_that_is_wrong(
    spec: Tree, paths: list[str]
) -> None:
    expected = [f"spec.devices.{path}" for path in paths]
    assert paths_of(ResourceClaim, spec) == expected


@pytest.mark.parametrize(
    ("spec", "paths"),
    [
        (slice_of({}), []),
        (slice_of({}, driver=""), ["spec.driver"]),
        (slice_of({}, pool={**POOL, "name": ""}), ["spec.pool.name"]),
        (
            slice_of({}, pool={**POOL, "resourceSliceCount": 0}),
            ["spec.pool.resourceSliceCount"],
        ),
        (slice_of({}, allNodes=True), ["spec"]),
        (
            slice_of({}, sharedCounters=[{"name": "c"}]),
            ["spec", "spec.sharedCounters[0].counters"],
        ),
        (slice_of({}, {"name": "d0"}), ["spec.devices[1].name"]),
        (slice_of({"attributes": {"a": {}}}), ["spec.devices[0].attributes[a]"]),
        (slice_of({"nodeName": "node-a"}), ["spec.devices[0]"]),
        (
            slice_of({"taints": [{"key": "k", "effect": "Never"}]}),
            ["spec.devices[0].taints[0].effect"],
        ),
        (
            slice_of({"bindingConditions": ["ready"]}),
            ["spec.devices[0].bindingFailureConditions"],
        ),
        (
            slice_of(
                {"capacity": {"m": {"value": "1", "requestPolicy": {"default": "1"}}}}
            ),
            ["spec.devices[0].capacity[m].requestPolicy"],
        ),
        (slice_of(*({} for _ in range(129))), ["spec.devices"]),
    ],
)
def test_slice_is_refused_by_the_field_that_is_wrong(
    spec: Tree, paths: list[str]
) -> None:
    assert paths_of(ResourceSlice, spec) == paths


NAMES = {"attributes": {"names": {"strings": ["fish"]}}}


def test_lists_of_new_devices_are_dropped_and_leave_no_value() -> None:
    path = "spec.devices[0].attributes[names]"
    assert paths_of(ResourceSlice, slice_of(NAMES)) == [path]
    both = {"attributes": {"names": {"strings": ["fish"], "int": 1}}}
    [device] = stored(ResourceSlice, slice_of(both)).spec.devices
    assert not device.attributes["names"].has_lists


def test_lists_that_a_cluster_has_stored_are_kept() -> None:
    metadata = {"name": "a", "resourceVersion": "7"}
    tree = {"metadata": metadata, "spec": slice_of(NAMES)}
    cluster = make_cluster(from_wire(tree, ResourceSlice), controllers=False)
    [device] = cluster.get(ResourceSlice, "a").spec.devices
    assert device.attributes["names"].string_values == ("fish",)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_new_selectors_take_attributes_for_any(version: str) -> None:
    text = 'device.attributes["d"].names.exists(name, name == "fish")'
    spec = claim(exactly(selectors=[{"cel": {"expression": text}}]))
    cluster = make_cluster(controllers=False, kubernetes=Kubernetes(version))
    with pytest.raises(AdmissionError, match="cannot be range of a comprehension"):
        cluster.create(
            from_wire({"metadata": {"name": "a"}, "spec": spec}, ResourceClaim)
        )


def test_devices_name_their_nodes_if_the_slice_leaves_it_to_them() -> None:
    spec = slice_of({"nodeName": "node-a"}, {}, perDeviceNodeSelection=True)
    del spec["nodeName"]
    assert paths_of(ResourceSlice, spec) == ["spec.devices[1]"]


def test_extended_resource_belongs_to_one_class() -> None:
    assert paths_of(DeviceClass, {"extendedResourceName": "example.com/gpu"}) == []
    path = "spec.extendedResourceName"
    assert paths_of(DeviceClass, {"extendedResourceName": "cpu"}) == [path]


DEAR = (
    "device.driver.split('').all(x, " + "device.driver.split('').all(y, x == y)" + ")"
)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('device.driver == "gpu.example.com"', None),
        ("device.driver ==", "compilation failed"),
        ("device.drivers == 'a'", "compilation failed"),
        ("device.driver", "compilation failed: must evaluate to bool"),
        ("1 == 1.0", "compilation failed"),
        (
            "device.driver == '" + "a" * 10 * 1024 + "'",
            "expected at most 10240 bytes, got 10259",
        ),
        (DEAR, "expected an estimated cost of at most 1000000, got"),
    ],
)
def test_selectors_are_compiled_before_they_are_stored(
    expression: str, message: str | None
) -> None:
    selectors = [{"cel": {"expression": expression}}]
    request = claim(exactly(selectors=selectors))
    place = "devices.requests[0].exactly.selectors[0].cel.expression"
    alternative = claim(
        first_of({"name": "s", "deviceClassName": "gpu", "selectors": selectors})
    )
    other = "devices.requests[0].firstAvailable[0].selectors[0].cel.expression"
    given: list[tuple[type[ApiObject], Tree, str]] = [
        (DeviceClass, {"selectors": selectors}, "spec.selectors[0].cel.expression"),
        (ResourceClaim, request, f"spec.{place}"),
        (ResourceClaim, alternative, f"spec.{other}"),
        (ResourceClaimTemplate, {"spec": request}, f"spec.spec.{place}"),
    ]
    for kind, spec, path in given:
        if message is None:
            assert paths_of(kind, spec) == []
        else:
            with pytest.raises(AdmissionError) as caught:
                stored(kind, spec)
            [problem] = caught.value.problems
            assert problem.path == path
            assert problem.message.startswith(message)


def test_selector_that_does_not_compile_is_shown_with_its_place() -> None:
    selectors = [{"cel": {"expression": "device.driver == 1"}}]
    with pytest.raises(AdmissionError, match=r"failed: 1:15: .*'device.driver == 1'"):
        stored(DeviceClass, {"selectors": selectors})


def unknown_selectors() -> list[Tree]:
    return [{"cel": {"expression": "device.of(2030).is('ready')"}}]


@pytest.mark.parametrize("kind", [DeviceClass, ResourceClaim, ResourceClaimTemplate])
def test_selectors_that_a_cluster_has_stored_are_not_compiled(
    kind: type[ApiObject],
) -> None:
    selectors = unknown_selectors()
    request = claim(exactly(selectors=selectors))
    specs: dict[type[ApiObject], Tree] = {
        DeviceClass: {"selectors": selectors},
        ResourceClaim: request,
        ResourceClaimTemplate: {"spec": request},
    }
    metadata = {"name": "a", "resourceVersion": "7"}
    obj = from_wire({"metadata": metadata, "spec": specs[kind]}, kind)
    cluster = make_cluster(obj, controllers=False)
    [found] = cluster.list(kind).items
    labelled = replace(found, metadata=replace(found.metadata, labels={"a": "b"}))
    assert cluster.update(labelled).metadata.labels == {"a": "b"}


def test_changed_selectors_of_a_class_are_compiled() -> None:
    cluster = make_cluster(controllers=False)
    old = cluster.create(from_wire({"metadata": {"name": "a"}}, DeviceClass))
    spec = {"selectors": unknown_selectors()}
    new = from_wire({"metadata": {"name": "a"}, "spec": spec}, DeviceClass)
    path = r"spec\.selectors\[0\]\.cel\.expression: compilation failed"
    with pytest.raises(AdmissionError, match=path):
        cluster.update(replace(new, metadata=old.metadata))


@pytest.mark.parametrize("kind", ["ResourceSlice", "ResourceClaim"])
def test_written_object_is_read_as_the_same(kind: str) -> None:
    specs = {
        "ResourceSlice": slice_of(
            {
                "attributes": {"a": {"int": 1}, "b": {"bool": False}},
                "capacity": {"memory": {"value": "80Gi"}},
                "taints": [{"key": "k", "effect": "NoExecute"}],
            }
        ),
        "ResourceClaim": claim(exactly(capacity={"requests": {"memory": "1Gi"}})),
    }
    obj = stored(KINDS[kind], specs[kind])
    assert decode(encode(obj), KINDS[kind]) == obj


def gated_slice() -> ResourceSlice:
    """Return a slice with a field of each gate that is off by default in 1.37."""
    consumption = DeviceCounterConsumption(
        counter_set="set",
        counters={"units": Counter(value=Quantity(1))},
        compatibility_groups=("mig",),
    )
    device = replace(
        make_device(name="a"),
        attributes={"rail": DeviceAttribute(string_values=("x", "y"))},
        consumes_counters=(consumption,),
    )
    resource_slice = make_resource_slice(devices=[device])
    spec = replace(resource_slice.spec, skip_node_operations=("*",))
    return replace(resource_slice, spec=spec)


def test_fields_of_gates_are_kept_while_these_are_on() -> None:
    gates = (
        "DRADeviceCompatibilityGroups",
        "DRAListTypeAttributes",
        "DRAOptionalNodeOperations",
    )
    on = Kubernetes(feature_gates=dict.fromkeys(gates, True))
    cluster = make_cluster(kubernetes=on)
    assert cluster.create(gated_slice()).spec == gated_slice().spec


def test_fields_of_gates_are_dropped_while_these_are_off() -> None:
    """An attribute that was a list has no value afterwards."""
    lists_on = Kubernetes(feature_gates={"DRAListTypeAttributes": True})
    stored = make_cluster(kubernetes=lists_on).create(gated_slice())
    assert stored.spec.skip_node_operations == ()
    (part,) = stored.spec.devices[0].consumes_counters
    assert part.compatibility_groups == ()
    (problem,) = problems_of(gated_slice())
    assert problem.startswith("spec.devices[0].attributes[rail]: expected one of int")
