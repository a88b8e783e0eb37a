"""Devices that serve a scored resource count in the scores of resources."""

from collections.abc import Mapping

import pytest

from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    PluginHarness,
    make_device,
    make_device_class,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)
from quaymaster_dynamic_resources import DynamicResources

GPU = "example.com/gpu"
FIT = {
    "scoringStrategy": {
        "type": "MostAllocated",
        "resources": [{"name": GPU, "weight": 1}],
    }
}

BALANCE = {"resources": [{"name": "cpu"}, {"name": GPU}]}
POD = make_pod(requests={"cpu": "1", GPU: "1"})


def harness(
    plugin: str,
    args: Mapping[str, object],
    *,
    selector: str = 'model == "a"',
    offered: Mapping[str, str] | None = None,
) -> PluginHarness:
    """A cluster with two nodes: three of the devices of quay serve GPU, one of pier.

    The first device of quay is allocated.
    """
    return PluginHarness(
        PluginRegistry.discover()[plugin].load(),
        args=args,
        beside=[DynamicResources],
        nodes=[
            make_node(name="quay", allocatable={"cpu": "4", **(offered or {})}),
            make_node(name="pier", allocatable={"cpu": "4"}),
        ],
        objects=[
            make_device_class(
                extended_resource_name=GPU,
                selectors=[f'device.attributes["gpu.example.com"].{selector}'],
            ),
            make_resource_slice(
                name="quay",
                node="quay",
                pool="quay",
                devices=[
                    make_device(name=f"gpu-{number}", attributes={"model": model})
                    for number, model in enumerate("aaab")
                ],
            ),
            make_resource_slice(
                name="pier",
                node="pier",
                pool="pier",
                devices=[make_device(attributes={"model": "a"})],
            ),
            make_resource_claim(devices=["gpu.example.com/quay/gpu-0"]),
        ],
    )


def test_devices_count_in_scores_of_node_resources_fit() -> None:
    with harness("NodeResourcesFit", FIT) as fit:
        assert fit.score(POD) == {"quay": 100 * 2 // 3, "pier": 100}


def test_devices_count_in_scores_of_balanced_allocation() -> None:
    with harness("NodeResourcesBalancedAllocation", BALANCE) as balance:
        # The usage of quay becomes less even: from 0 and 1/3 to 1/4 and 2/3.
        scores = balance.score(POD)
        assert scores["quay"] > scores["pier"]
        assert scores["pier"] < 75


def test_devices_do_not_count_on_nodes_with_a_device_plugin() -> None:
    with harness("NodeResourcesFit", FIT, offered={GPU: "4"}) as fit:
        assert fit.score(POD)["quay"] == 25


@pytest.mark.parametrize("selector", ['model == "c"', "size > 1"])
def test_nodes_have_no_devices_if_a_selector_matches_none_or_fails(
    selector: str,
) -> None:
    with harness("NodeResourcesFit", FIT, selector=selector) as fit:
        assert fit.score(POD) == {"quay": 0, "pier": 0}


def test_pod_that_requests_devices_has_no_signature() -> None:
    with harness("NodeResourcesBalancedAllocation", BALANCE) as balance:
        assert balance.sign_pod(POD) is None
        assert balance.sign_pod(make_pod(requests={"cpu": "1"})) is not None
