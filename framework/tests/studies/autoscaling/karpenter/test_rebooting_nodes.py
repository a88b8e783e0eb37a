"""A node that reboots is not disrupted otherwise, and uses its pool's budgets up."""

import pytest
from msgspec.structs import replace

from quaymaster.objects import NodeCondition, from_wire
from tests.kit.internals.karpenter import ClusterState, NodeClaim
from tests.kit.internals.karpenter_disruption import BlockedNode, Survey
from tests.kit.karpenter import OPTIONS, TYPES, make_pool, zoned_node

POOL = {"karpenter.sh/nodepool": "pool"}
INITIALIZED = {"karpenter.sh/initialized": "true"}


def make_survey(rebooting: str, *, initialized: bool) -> Survey:
    labels = POOL | {"karpenter.sh/registered": "true"}
    if initialized:
        labels |= INITIALIZED
    node = zoned_node("n", labels=labels | {"node.kubernetes.io/instance-type": "m-4"})
    ready = NodeCondition(type="Ready", status="True")
    node = replace(node, status=replace(node.status, conditions=(ready,)))
    conditions = [{"type": "Rebooting", "status": rebooting}]
    tree = {
        "metadata": {"name": "c", "labels": POOL},
        "status": {"providerID": "n", "nodeName": "n", "conditions": conditions},
    }
    objects = [make_pool(), node, from_wire(tree, NodeClaim)]
    return Survey(ClusterState.from_objects(objects, TYPES, now=0.0), OPTIONS)


@pytest.mark.parametrize("initialized", [True, False], ids=["drained", "restarted"])
def test_rebooting_node_is_no_candidate(initialized: bool) -> None:
    [judged] = make_survey("True", initialized=initialized).judged().verdicts
    assert isinstance(judged, BlockedNode)
    assert judged.problem == (
        "validating node for disruption, node is rebooting (Node=n)"
    )
    assert judged.message == "Node is rebooting"


@pytest.mark.parametrize("initialized", [True, False], ids=["drained", "restarted"])
def test_rebooting_node_uses_budgets_up(initialized: bool) -> None:
    survey = make_survey("True", initialized=initialized)
    assert survey.counts_of("pool") == (1, 1)


def test_node_that_has_rebooted_may_be_disrupted() -> None:
    [candidate] = make_survey("False", initialized=True).judged().candidates
    assert candidate.name == "n"
