"""A check: PostFilter evicts nothing for pods that must not preempt, or must wait."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.contract.results import PostFilterResult

__all__ = ["EVICTING"]

_REMEDY = "ask preemption.why_not_eligible first"


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in map(preempting, cluster.pending[:1]):
        spec = replace(pod.spec, preemption_policy="Never")
        for harness in evicting_harnesses(subject, cluster, PluginHarness):
            with harness:
                _ask_never(harness, cluster, replace(pod, spec=spec))
        for harness in evicting_harnesses(subject, cluster, PluginHarness):
            with harness:
                _ask_again(harness, cluster, pod)


def _ask_never(harness: PluginHarness, cluster: SmallCluster, pod: Pod) -> None:
    with suppress(Exception):
        harness.start()
    _post_filter(harness, pod)
    evicted = _evicted(harness, cluster)
    if evicted:
        text = (
            f"evicts {_listed(evicted)} for a pod with preemptionPolicy Never: "
            f"{_REMEDY}"
        )
        fail("post_filter", text, pod, cluster.nodes, cluster.pods)


def _ask_again(harness: PluginHarness, cluster: SmallCluster, pod: Pod) -> None:
    """Try a pod again while its victims are terminating."""
    with suppress(Exception):
        harness.start()
    result = _post_filter(harness, pod)
    node_name = result.nominating.node_name if result and result.nominating else ""
    leaving = [
        victim
        for key in _evicted(harness, cluster)
        for victim in harness.cluster.list(Pod).items
        if victim.key == key and victim.node_name == node_name
    ]
    if not node_name or not leaving:
        return
    for victim in leaving:
        harness.put(victim)
    before = _evicted(harness, cluster)
    status = replace(pod.status, nominated_node_name=node_name)
    nominated = replace(pod, status=status)
    if _is_held_back(harness, nominated):
        return
    _post_filter(harness, nominated)
    more = [key for key in _evicted(harness, cluster) if key not in before]
    if more:
        text = (
            f"evicts {_listed(more)} although its victims on node '{node_name}' are "
            f"still terminating: {_REMEDY}"
        )
        fail("post_filter", text, pod, cluster.nodes, cluster.pods)


def _post_filter(harness: PluginHarness, pod: Pod) -> PostFilterResult | None:
    """Call PostFilter; None if it fails, which is a matter of other checks."""
    with suppress(Exception):
        return harness.post_filter(pod)
    return None


def _is_held_back(harness: PluginHarness, pod: Pod) -> bool:
    """Return whether the plugin keeps a pod out of the queue meanwhile."""
    with suppress(Exception):
        return harness.pre_enqueue(pod) is not None
    return False


def _evicted(harness: PluginHarness, cluster: SmallCluster) -> Sequence[str]:
    """Return the keys of the running pods that are terminating or gone."""
    staying = {
        pod.key
        for pod in harness.cluster.list(Pod).items
        if pod.metadata.deletion_timestamp is None
    }
    return [pod.key for pod in cluster.pods if pod.key not in staying]


def _listed(keys: Collection[str]) -> str:
    return ", ".join(f"pod '{key}'" for key in keys)


EVICTING = Check(
    name="evicting",
    promise="post_filter evicts nothing for pods that must not preempt, or must wait",
    ask=_ask,
    hooks=frozenset({"post_filter"}),
)
