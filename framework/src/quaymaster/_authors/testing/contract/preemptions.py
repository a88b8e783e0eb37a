"""Runs PostFilter for a pod, and finds the pods that it evicts."""

from collections.abc import Collection, Sequence
from contextlib import suppress

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.contract.results import PostFilterResult

__all__ = ["evicted", "listed", "start_and_preempt", "try_post_filter"]


def start_and_preempt(
    harness: PluginHarness, cluster: SmallCluster, pod: Pod
) -> tuple[str, Sequence[str]]:
    """Start the plugin, and call PostFilter for a pod.

    Returns:
        The node that it names, or empty; and the keys of the pods that it evicts.
    """
    with suppress(Exception):
        harness.start()
    result = try_post_filter(harness, pod)
    nominating = result.nominating if result is not None else None
    name = nominating.node_name if nominating is not None else ""
    return name, evicted(harness, cluster)


def try_post_filter(harness: PluginHarness, pod: Pod) -> PostFilterResult | None:
    """Call PostFilter; None if it fails, which is a matter of other checks."""
    with suppress(Exception):
        return harness.post_filter(pod)
    return None


def evicted(harness: PluginHarness, cluster: SmallCluster) -> Sequence[str]:
    """Return the keys of the running pods that are terminating or gone."""
    staying = {
        pod.key
        for pod in harness.cluster.list(Pod).items
        if pod.metadata.deletion_timestamp is None
    }
    return [pod.key for pod in cluster.pods if pod.key not in staying]


def listed(keys: Collection[str]) -> str:
    """Return the keys of pods for a message."""
    return ", ".join(f"pod '{key}'" for key in keys)
