"""TaintToleration with the gate TaintTolerationComparisonOperators.

The cases are those of ``TestTaintTolerationFilter``, ``TestTaintTolerationScore`` and
``TestTaintTolerationFilterWithFeatureGate`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/tainttoleration/taint_toleration_test.go``).
"""

import pytest

from quaymaster import ActionType, ClusterEvent, EventResource, QueueingHint, Status
from quaymaster.config import Kubernetes
from quaymaster.objects import Toleration
from quaymaster.testing import PluginContract, PluginHarness, make_node, make_pod
from quaymaster_taint_toleration import TaintToleration

GATE = "TaintTolerationComparisonOperators"
ON = Kubernetes(feature_gates={GATE: True})
UNTOLERATED = Status.unresolvable("node(s) had untolerated taint(s)")
NODE_TAINTED = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
SLA = "node.kubernetes.io/sla"


def sla(operator: str, value: str, effect: str = "NoSchedule") -> Toleration:
    """A toleration that compares the level of service."""
    return Toleration(key=SLA, operator=operator, value=value, effect=effect)


def harness_of(*levels: str, effect: str = "NoSchedule") -> PluginHarness:
    """A cluster of nodes a, b, c, ... with these levels."""
    nodes = [
        make_node(name=name, taints=[f"{SLA}={level}:{effect}"])
        for name, level in zip("abcdef", levels, strict=False)
    ]
    return PluginHarness(TaintToleration, nodes=nodes, kubernetes=ON)


@pytest.mark.parametrize(
    ("toleration", "rejected"),
    [
        (sla("Gt", "750"), "b"),
        (sla("Lt", "800"), "ac"),
        (sla("Gt", "750", "NoExecute"), "abc"),
    ],
    ids=["greater than", "less than", "another effect"],
)
def test_nodes_are_rejected_by_the_number_of_their_taint(
    toleration: Toleration, rejected: str
) -> None:
    harness = harness_of("950", "700", "800")
    pod = make_pod(tolerations=[toleration])
    assert harness.filter(pod) == dict.fromkeys(rejected, UNTOLERATED)


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_comparison_rejects_each_node_while_the_gate_is_off(version: str) -> None:
    node = make_node(name="a", taints=[f"{SLA}=950:NoSchedule"])
    kubernetes = Kubernetes(version)
    harness = PluginHarness(TaintToleration, nodes=[node], kubernetes=kubernetes)
    pod = make_pod(tolerations=[sla("Gt", "750")])
    assert harness.filter(pod) == {"a": UNTOLERATED}


@pytest.mark.parametrize(
    ("toleration", "levels"),
    [
        (sla("Gt", "950", "PreferNoSchedule"), ("800", "999")),
        (sla("Lt", "800", "PreferNoSchedule"), ("950", "700")),
    ],
    ids=["greater than", "less than"],
)
def test_soft_taint_that_a_comparison_covers_costs_nothing(
    toleration: Toleration, levels: tuple[str, str]
) -> None:
    harness = harness_of(*levels, effect="PreferNoSchedule")
    pod = make_pod(tolerations=[toleration])
    assert harness.score(pod) == {"a": 1, "b": 0}
    assert harness.normalized(pod) == {"a": 0, "b": 100}


@pytest.mark.parametrize(
    ("after", "hint"), [("800", QueueingHint.QUEUE), ("600", QueueingHint.SKIP)]
)
def test_taint_that_passes_the_limit_wakes_the_pod(
    after: str, hint: QueueingHint
) -> None:
    harness = harness_of()
    old = make_node(name="a", taints=[f"{SLA}=700:NoSchedule"])
    new = make_node(name="a", taints=[f"{SLA}={after}:NoSchedule"])
    pod = make_pod(tolerations=[sla("Gt", "750")])
    assert harness.hint(pod, NODE_TAINTED, old, new) is hint


class TestContract(PluginContract):
    plugin = TaintToleration
    kubernetes = (ON,)
