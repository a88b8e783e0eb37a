"""A check: PostFilter evicts pods only if it may, where it helps, and nominates."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.budgets_kept import ask_budgets
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.late_evictions import ask_late_evictions
from quaymaster._authors.testing.contract.nodes_left_out import ask_left_out
from quaymaster._authors.testing.contract.preemptions import (
    evicted,
    listed,
    try_post_filter,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._core.contract.results import NominatingMode, PostFilterResult

__all__ = ["EVICTING"]

_REMEDY = "ask preemption.why_not_eligible first"


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pending in cluster.pending[:1]:
        # The nominated node is tried before PreFilter leaves out nodes, as upstream.
        status = replace(pending.status, nominated_node_name="")
        pod = preempting(replace(pending, status=status))
        spec = replace(pod.spec, preemption_policy="Never")
        for harness in evicting_harnesses(subject, cluster, PluginHarness):
            with harness:
                _ask_never(harness, cluster, replace(pod, spec=spec))
        node_names: set[str] = set()
        for harness in evicting_harnesses(subject, cluster, PluginHarness):
            with harness:
                node_names.add(_ask_again(harness, cluster, pod))
        for node_name in sorted(filter(None, node_names))[:1]:
            ask_left_out(subject, cluster, pod, node_name)
            ask_budgets(subject, cluster, pod, node_name)
            ask_late_evictions(subject, cluster, pod)


def _ask_never(harness: PluginHarness, cluster: SmallCluster, pod: Pod) -> None:
    with suppress(Exception):
        harness.start()
    try_post_filter(harness, pod)
    keys = evicted(harness, cluster)
    if keys:
        text = f"evicts {listed(keys)} for a pod with preemptionPolicy Never: {_REMEDY}"
        fail("post_filter", text, pod, cluster.nodes, cluster.pods)


def _ask_again(harness: PluginHarness, cluster: SmallCluster, pod: Pod) -> str:
    """Try a pod again while its victims are terminating.

    Returns:
        The node to which it was nominated at first, if pods were evicted for it.
    """
    with suppress(Exception):
        harness.start()
    result = try_post_filter(harness, pod)
    victims = evicted(harness, cluster)
    node_name = _nominated(result, victims, cluster, pod)
    leaving = [
        victim
        for key in victims
        for victim in harness.cluster.list(Pod).items
        if victim.key == key and victim.node_name == node_name
    ]
    if not node_name or not leaving:
        return node_name if victims else ""
    for victim in leaving:
        harness.put(victim)
    before = evicted(harness, cluster)
    status = replace(pod.status, nominated_node_name=node_name)
    nominated = replace(pod, status=status)
    if _is_held_back(harness, nominated):
        return node_name
    try_post_filter(harness, nominated)
    more = [key for key in evicted(harness, cluster) if key not in before]
    if more:
        text = (
            f"evicts {listed(more)} although its victims on node '{node_name}' are "
            f"still terminating: {_REMEDY}"
        )
        fail("post_filter", text, pod, cluster.nodes, cluster.pods)
    return node_name


def _nominated(
    result: PostFilterResult | None,
    victims: Sequence[str],
    cluster: SmallCluster,
    pod: Pod,
) -> str:
    """Return the node to which a result nominates the pod, which has none yet.

    Raises:
        Finding: The nomination is not written, or pods were evicted without one.
    """
    nominating = result.nominating if result is not None else None
    node_name = nominating.node_name if nominating is not None else ""
    problem = ""
    if node_name and nominating and nominating.mode is NominatingMode.NOOP:
        problem = (
            f"names node '{node_name}' with NominatingMode.NOOP, the default of "
            "NominatingInfo, which writes no nomination"
        )
    elif victims and result is not None and not node_name:
        problem = f"evicts {listed(victims)} and nominates no node"
    if problem:
        text = (
            f"{problem}; other pods may take the room meanwhile: return "
            "NominatingInfo(node_name, NominatingMode.OVERRIDE)"
        )
        fail("post_filter", text, pod, cluster.nodes, cluster.pods)
    return node_name


def _is_held_back(harness: PluginHarness, pod: Pod) -> bool:
    """Return whether the plugin keeps a pod out of the queue meanwhile."""
    with suppress(Exception):
        return harness.pre_enqueue(pod) is not None
    return False


EVICTING = Check(
    name="evicting",
    promise="post_filter evicts pods only if it may and where it helps, and nominates",
    ask=_ask,
    hooks=frozenset({"post_filter"}),
)
