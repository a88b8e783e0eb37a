"""Which devices of slices an API server rejects.

Cases follow ``TestValidateResourceSlice`` of upstream (Kubernetes v1.37,
``pkg/apis/resource/validation/validation_resourceslice_test.go``).
"""

from typing import Any

import pytest

from quaymaster.config import Kubernetes
from tests.kit.admission import rejected_paths

Tree = dict[str, Any]

D0 = "spec.devices[0]"
POLICY = f"{D0}.capacity[memory].requestPolicy"


def slice_of(device: Tree, **spec: object) -> Tree:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    driver = {"driver": "d.example.com", "pool": pool, "allNodes": True}
    return {"spec": {**driver, "devices": [{"name": "a", **device}], **spec}}


def shared(policy: Tree) -> Tree:
    capacity = {"memory": {"value": "10", "requestPolicy": policy}}
    return slice_of({"capacity": capacity, "allowMultipleAllocations": True})


def using(*parts: Tree) -> Tree:
    return slice_of({"consumesCounters": list(parts)})


def attribute(name: str, **value: object) -> Tree:
    return slice_of({"attributes": {name: value}})


def on_its_nodes(**nodes: object) -> Tree:
    return slice_of(nodes, allNodes=None, perDeviceNodeSelection=True)


COUNTERS = {"memory": {"value": "1"}}


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        pytest.param(attribute("a/b/c", int=1), [], id="a name with two slashes"),
        pytest.param(
            attribute("a." * 17, int=1), [f"{D0}.attributes"], id="a malformed name"
        ),
        pytest.param(attribute("/", int=1), [f"{D0}.attributes"], id="no name"),
        pytest.param(
            attribute("v", version="1.2"),
            [f"{D0}.attributes[v].version"],
            id="a malformed version",
        ),
        pytest.param(attribute("v", version="1.2.3-a+b"), [], id="a version"),
        pytest.param(
            attribute("s", string="a" * 65),
            [f"{D0}.attributes[s].string"],
            id="a long text",
        ),
        pytest.param(
            shared({"validValues": ["5", "20", "5"], "default": "1"}),
            [f"{POLICY}.validValues{place}" for place in ("[2]", "[1]", "")],
            id="values that are too large, descend, and lack the default",
        ),
        pytest.param(
            shared({"validRange": {}}), [f"{POLICY}.default"], id="no default"
        ),
        pytest.param(
            shared({"validRange": {"min": "2", "step": "3"}, "default": "4"}),
            [f"{POLICY}.validRange.step"],
            id="a default between two steps",
        ),
        pytest.param(
            shared({"validRange": {"min": "2", "max": "11"}, "default": "1"}),
            [f"{POLICY}.validRange.{field}" for field in ("default", "max")],
            id="a range beyond the capacity",
        ),
        pytest.param(
            using({"counterSet": "s", "counters": COUNTERS}, {"counterSet": "s"}),
            [f"{D0}.consumesCounters[1]", f"{D0}.consumesCounters[1].counters"],
            id="a counter set twice",
        ),
        pytest.param(
            slice_of({"bindingConditions": ["a"], "bindingFailureConditions": ["a"]}),
            [f"{D0}.bindingFailureConditions[0]"],
            id="a condition for success and failure",
        ),
        pytest.param(
            on_its_nodes(nodeName="", allNodes=False),
            [f"{D0}.nodeName", f"{D0}.allNodes", D0],
            id="a device without nodes",
        ),
    ],
)
def test_slice_is_rejected_for_the_fields_that_an_api_server_names(
    tree: Tree, paths: list[str]
) -> None:
    assert rejected_paths("ResourceSlice", tree) == paths


@pytest.mark.parametrize(
    ("attributes", "paths"),
    [
        pytest.param({"l": {"strings": ["x"] * 48}}, [], id="48 in a list"),
        pytest.param(
            {"l": {"bools": [True] * 48}, "i": {"int": 1}}, [D0], id="49 with lists"
        ),
        pytest.param(
            {f"i{index}": {"int": 1} for index in range(49)},
            [D0, D0],
            id="49 without lists, so also too many attributes",
        ),
    ],
)
def test_device_has_at_most_48_values(attributes: Tree, paths: list[str]) -> None:
    lists = Kubernetes("1.37", {"DRAListTypeAttributes": True})
    tree = slice_of({"attributes": attributes})
    assert rejected_paths("ResourceSlice", tree, lists) == paths


@pytest.mark.parametrize(
    ("more", "most"),
    [
        pytest.param({}, 128, id="plain"),
        pytest.param({"attributes": {"l": {"ints": [1]}}}, 64, id="a list"),
        pytest.param({"taints": [{"key": "a", "effect": "None"}]}, 64, id="a taint"),
    ],
)
def test_fewer_devices_fit_into_a_slice_with_advanced_features(
    more: Tree, most: int
) -> None:
    lists = Kubernetes("1.37", {"DRAListTypeAttributes": True})

    def paths(number: int) -> list[str]:
        devices = [{"name": f"d{index}"} for index in range(number)]
        devices[-1] |= more
        return rejected_paths("ResourceSlice", slice_of({}, devices=devices), lists)

    assert paths(most) == []
    assert paths(most + 1) == ["spec.devices"]
