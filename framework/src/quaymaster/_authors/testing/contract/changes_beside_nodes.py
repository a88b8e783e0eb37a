"""Changes after a failed attempt that change neither nodes nor the pods on them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod, PodDisruptionBudget
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.changes import Step, is_declared, object_steps
from quaymaster._authors.testing.contract.repeating_harness import RepeatingHarness
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.time_passing import time_steps
from quaymaster._authors.testing.makers.workloads import make_pod_disruption_budget

__all__ = ["Change", "Changed", "changes_beside_nodes", "no_change"]

_MOST_STEPS: Final = 8
"""The changes of objects; those of kinds that plugins declare come first."""


@attrs.frozen
class Changed:
    """What has changed since the attempt.

    Attributes:
        when: The change, as the end of a sentence.
        objects: The objects that have changed.
    """

    when: str
    objects: Sequence[ApiObject] = ()


Change: TypeAlias = Callable[[RepeatingHarness, Pod], Iterator[Changed]]
"""Changes the cluster of a harness step by step after an attempt of a pod."""


def no_change(_harness: RepeatingHarness, _pod: Pod) -> Iterator[Changed]:
    """Change nothing."""
    yield Changed("with an unchanged cluster")


def changes_beside_nodes(
    subject: Subject, cluster: SmallCluster, other: SmallCluster
) -> Iterator[Change]:
    """Yield changes after which the framework keeps the results of an attempt.

    Args:
        subject: The plugin.
        cluster: The cluster before.
        other: The cluster with new objects.
    """
    yield _pass_time
    yield _queue
    yield partial(_dequeue, cluster=cluster)
    yield partial(_nominate, cluster=cluster)
    if PodDisruptionBudget in subject.kinds:
        yield partial(_protect, cluster=cluster)
    kinds = {kind for kind in subject.kinds if kind not in (Node, Pod)}
    steps = list(object_steps(cluster, other, kinds))
    steps.sort(key=lambda step: not is_declared(type(step.subject)))
    for step in steps[:_MOST_STEPS]:
        yield partial(_deliver, step=step)


def _pass_time(harness: RepeatingHarness, _pod: Pod) -> Iterator[Changed]:
    """Let time pass; meanwhile, tasks may read data from outside."""
    clock, passed = harness.plugin_clock, 0
    for seconds in time_steps(clock):
        clock.advance(seconds)
        passed += seconds
        yield Changed(f"{passed:,} s later")


def _nominate(
    harness: RepeatingHarness, pod: Pod, *, cluster: SmallCluster
) -> Iterator[Changed]:
    """Nominate a pod of a lower priority: the pod need not leave room for it."""
    for node in cluster.nodes[:1]:
        (copy,) = copies_of(pod, 1, f"{pod.namespace}-other")
        spec = replace(copy.spec, priority=pod.priority - 1)
        status = replace(copy.status, nominated_node_name=node.name)
        nominated = replace(copy, spec=spec, status=status)
        harness.queue([nominated])
        harness.nominate(nominated, node.name)
        text = f"once pod '{nominated.key}' is nominated to node '{node.name}'"
        yield Changed(text, [nominated])


def _queue(harness: RepeatingHarness, pod: Pod) -> Iterator[Changed]:
    """Queue another pod, whose priority then changes."""
    (copy,) = copies_of(pod, 1, f"{pod.namespace}-other")
    harness.queue([copy])
    yield Changed(f"once pod '{copy.key}' waits in the queue", [copy])
    spec = replace(copy.spec, priority=copy.priority + 1)
    updated = replace(copy, spec=spec)
    harness.queue([updated])
    yield Changed(f"once the queued pod '{copy.key}' has another priority", [updated])


def _dequeue(
    harness: RepeatingHarness, _pod: Pod, *, cluster: SmallCluster
) -> Iterator[Changed]:
    """Delete a pod that waits in the queue."""
    for other in cluster.pending[1:2]:
        harness.unqueue(other)
        yield Changed(f"once the queued pod '{other.key}' is deleted", [other])


def _protect(
    harness: RepeatingHarness, _pod: Pod, *, cluster: SmallCluster
) -> Iterator[Changed]:
    """Add budgets that protect all running pods, and then allow all evictions."""
    namespaces = sorted({pod.namespace for pod in cluster.pods}) or ["default"]
    for allowed in (0, len(cluster.pods) + 1):
        budgets = [
            make_pod_disruption_budget(
                name="all",
                namespace=namespace,
                selector={},
                disruptions_allowed=allowed,
            )
            for namespace in namespaces
        ]
        for budget in budgets:
            harness.deliver(None, budget)
        yield Changed(f"once budgets allow {allowed} disruptions", budgets)


def _deliver(harness: RepeatingHarness, _pod: Pod, *, step: Step) -> Iterator[Changed]:
    harness.deliver(step.old, step.new)
    objects = [obj for obj in (step.old, step.new) if obj is not None]
    yield Changed(f"after {step}", objects)
