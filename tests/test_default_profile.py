"""The default profile as a whole, compared with kube-scheduler's."""

from typing import Any

import pytest

from quaymaster.config import default_config, parse_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

REGISTRY = PluginRegistry.discover()
ORDERS = {
    "preFilter": "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
    "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
    "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures",
    "filter": "NodeName NodeUnschedulable TaintToleration NodeAffinity NodePorts "
    "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
    "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures",
    "postFilter": "DynamicResources DefaultPreemption",
    "reserve": "VolumeBinding DynamicResources",
}
WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


@pytest.mark.parametrize(("point", "order"), ORDERS.items())
def test_rule_1_plugins_are_called_in_upstreams_order(point: str, order: str) -> None:
    [profile] = default_config(REGISTRY).profiles
    assert [plugin.name for plugin in profile.plugins[point]] == order.split()


def test_rule_1_scores_have_upstreams_weights() -> None:
    [profile] = default_config(REGISTRY).profiles
    scores = profile.plugins["score"]
    assert {plugin.name: plugin.weight for plugin in scores} == WEIGHTS


def test_rule_1_preemption_and_devices_have_a_say_before_the_queue() -> None:
    [profile] = default_config(REGISTRY).profiles
    gates = {plugin.name for plugin in profile.plugins["preEnqueue"]}
    assert gates == {"SchedulingGates", "DynamicResources", "DefaultPreemption"}


def test_rule_3_both_post_filter_plugins_are_heard() -> None:
    nodes = [make_node(name=f"n{number}") for number in range(2)]
    harness = SchedulerHarness([*nodes, make_pod(name="p", requests={"cpu": "9"})])
    harness.schedule_one()
    assert harness.message("p") == (
        "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
        "available: 2 Preemption is not helpful for scheduling."
    )


def test_rule_4_after_an_early_stop_post_filter_finds_no_state() -> None:
    harness = SchedulerHarness([make_node(), make_pod(name="p", claims=["nosuch"])])
    harness.schedule_one()
    assert harness.message("p") == (
        '0/1 nodes are available: persistentvolumeclaim "nosuch" not found. not found'
    )


def test_rule_9_a_plugin_of_a_single_point_goes_first_and_keeps_its_weight() -> None:
    document: dict[str, Any] = {
        **HEADER,
        "profiles": [
            {
                "plugins": {
                    "score": {"enabled": [{"name": "ImageLocality", "weight": 7}]},
                    "multiPoint": {"enabled": [{"name": "NodeName"}]},
                }
            }
        ],
    }
    [profile] = parse_config(document, REGISTRY).profiles
    first = profile.plugins["score"][0]
    assert (first.name, first.weight) == ("ImageLocality", 7)
