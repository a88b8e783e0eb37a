"""Explanations of stored objects use the state of the cluster itself."""

import msgspec
import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodDisruptionBudget
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import (
    ExplainedPod,
    explain_pending,
    explain_pod,
    suggest_changes,
)
from quaymaster.testing import (
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_pod_disruption_budget,
    make_storage_class,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
POD = make_pod(name="p", claims=["claim"])
UNBOUND = "pod has unbound immediate PersistentVolumeClaims"


def stored(obj: ApiObject) -> ApiObject:
    """Return an object as a server stores it."""
    metadata = msgspec.structs.replace(obj.metadata, resource_version="7")
    return msgspec.structs.replace(obj, metadata=metadata)


def cluster_with(mode: str, *, is_stored: bool = True) -> list[ApiObject]:
    """Return a cluster with a claim that has no volume."""
    claim = make_persistent_volume_claim()
    return [
        make_node(name="n", capacity={"cpu": "2", "memory": "4Gi", "pods": "9"}),
        make_storage_class(volume_binding_mode=mode),
        stored(claim) if is_stored else claim,
        POD,
    ]


def why(pod: str, objects: list[ApiObject], *, as_it_is: bool = True) -> ExplainedPod:
    return explain_pod(
        pod, objects, config=CONFIG, registry=REGISTRY, as_it_is=as_it_is
    )


def test_claim_without_a_volume_keeps_its_pod_waiting() -> None:
    objects = cluster_with("Immediate")
    assert UNBOUND in why("p", objects).message
    assert why("p", objects, as_it_is=False).node == "n"


@pytest.mark.parametrize(
    ("mode", "is_stored"), [("WaitForFirstConsumer", True), ("Immediate", False)]
)
def test_claim_that_waits_for_its_pod_or_is_new_gets_a_volume(
    mode: str, is_stored: bool
) -> None:
    assert why("p", cluster_with(mode, is_stored=is_stored)).node == "n"


def test_summaries_and_suggestions_see_the_same_cluster() -> None:
    objects = cluster_with("Immediate")
    summary = explain_pending(objects, config=CONFIG, registry=REGISTRY, as_it_is=True)
    assert UNBOUND in str(summary)
    found = suggest_changes(
        "p", objects, config=CONFIG, registry=REGISTRY, as_it_is=True
    )
    assert found.pending == 1


def test_stored_budget_without_allowed_disruptions_stays_so() -> None:
    budget = make_pod_disruption_budget(selector={"app": "x"}, min_available=0)
    nodes = [make_node(name=name, capacity={"cpu": "1"}) for name in ("a", "b")]
    objects = [
        *nodes,
        make_pod(name="x", node="a", requests={"cpu": "1"}, labels={"app": "x"}),
        make_pod(name="y", node="b", requests={"cpu": "1"}, priority=1),
        make_pod(name="p", requests={"cpu": "1"}, priority=9),
        stored(budget),
    ]
    assert why("p", objects, as_it_is=False).node == "a"
    assert why("p", objects).node == "b"


def test_allowed_disruptions_follow_the_pods() -> None:
    clock = VirtualClock()
    cluster = InMemoryCluster(clock)
    budget = make_pod_disruption_budget(
        selector={"app": "x"}, min_available=1, disruptions_allowed=3
    )

    def pod(name: str) -> ApiObject:
        return make_pod(name=name, node="n", labels={"app": "x"})

    cluster.load(
        [make_node(name="n"), pod("a"), pod("b"), stored(budget)], as_it_is=True
    )

    def allowed() -> int:
        clock.advance(0.0)
        return cluster.get(PodDisruptionBudget, budget.key).status.disruptions_allowed

    assert allowed() == 3
    cluster.create(pod("c"))
    assert allowed() == 4
