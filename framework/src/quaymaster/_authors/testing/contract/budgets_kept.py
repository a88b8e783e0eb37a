"""Asks whether PostFilter keeps disruption budgets where it has a choice.

Upstream, too, the violations of budgets come first: see ``pickOneNodeForPreemption``
in ``pkg/scheduler/framework/preemption/preemption.go`` of Kubernetes v1.36.
"""

from collections.abc import Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodDisruptionBudget
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import evicting_harnesses
from quaymaster._authors.testing.contract.preemptions import listed, start_and_preempt
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import copy_of, copy_on
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.makers.workloads import make_pod_disruption_budget

__all__ = ["ask_budgets"]

_LABEL: Final = "contract.test/side"
_SIDES: Final = ("side-0", "side-1")


def ask_budgets(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str
) -> None:
    """Protect the pods of one of two equal nodes by a budget, then those of the other.

    Args:
        subject: The plugin.
        cluster: The cluster.
        pod: A pod that may preempt others.
        node_name: The node on which the plugin evicts pods for it.
    """
    model = next(node for node in cluster.nodes if node.name == node_name)
    equal = _with_sides(cluster, model, _SIDES)
    # Without the other node, it evicts pods of either.
    alone = [_with_sides(cluster, model, [side]) for side in _SIDES]
    if not all(_evicted(subject, each, pod) for each in alone):
        return
    for side, other in (_SIDES, _SIDES[::-1]):
        guarded = _guarded(equal, side)
        subject.exercised["preemptions with a budget on one of two equal nodes"] += 1
        keys = _evicted(subject, guarded, pod)
        names = {each.key: each.node_name for each in guarded.pods}
        violating = [key for key in keys if names[key] == side]
        if violating:
            text = (
                f"evicts {listed(violating)} on node '{side}', which a disruption "
                f"budget protects, although node '{other}' has the same pods without "
                "a budget: compare the candidates' violations first, as "
                "preemption.best_candidates does without a cost"
            )
            fail(
                "post_filter", text, pod, guarded.nodes, guarded.pods, _budgets(guarded)
            )


def _evicted(subject: Subject, cluster: SmallCluster, pod: Pod) -> Sequence[str]:
    """Return the pods that the plugin evicts, in the first way in which it does."""
    for harness in evicting_harnesses(subject, cluster, PluginHarness):
        with harness:
            # They are left out with other objects that no API server would accept.
            kept = harness.cluster.list(PodDisruptionBudget).items
            if len(kept) < len(_budgets(cluster)):
                return ()
            _, keys = start_and_preempt(harness, cluster, pod)
        if keys:
            return keys
    return ()


def _with_sides(
    cluster: SmallCluster, model: Node, sides: Sequence[str]
) -> SmallCluster:
    """Return a cluster of nodes with the same pods apart from names and one label."""
    nodes = tuple(copy_of(model, side) for side in sides)
    running = [pod for pod in cluster.pods if pod.node_name == model.name]
    pods = tuple(
        _labelled(copy_on(pod, node), node.name) for node in nodes for pod in running
    )
    objects = tuple(
        obj for obj in cluster.objects if not isinstance(obj, PodDisruptionBudget)
    )
    return attrs.evolve(cluster, nodes=nodes, pods=pods, objects=objects)


def _labelled(pod: Pod, side: str) -> Pod:
    labels = {**pod.metadata.labels, _LABEL: side}
    return replace(pod, metadata=replace(pod.metadata, labels=labels))


def _guarded(cluster: SmallCluster, side: str) -> SmallCluster:
    """Return the cluster with budgets that allow no eviction on one node."""
    namespaces = sorted({pod.namespace for pod in cluster.pods})
    budgets = [
        make_pod_disruption_budget(
            name=side, namespace=namespace, selector={_LABEL: side}
        )
        for namespace in namespaces
    ]
    return attrs.evolve(cluster, objects=(*cluster.objects, *budgets))


def _budgets(cluster: SmallCluster) -> Sequence[PodDisruptionBudget]:
    return [obj for obj in cluster.objects if isinstance(obj, PodDisruptionBudget)]
