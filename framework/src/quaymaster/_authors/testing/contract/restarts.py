"""A check: a new instance decides as the old one, whatever pods came before."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    binding_answers,
    first_open_node,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.results import PermitWait

__all__ = ["RESTARTS"]

_COPIES: Final = 3
"""The pods that come before; so many make a small group complete."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for count in range(1, _COPIES + 1):
            try:
                waits = _ask_after(subject, cluster, pod, count)
                if waits:
                    _ask_after(subject, cluster, pod, count, seconds=waits)
            except HookFailedError as failure:
                fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)


def _ask_after(
    subject: Subject, cluster: SmallCluster, pod: Pod, count: int, seconds: float = 0
) -> float:
    """Place copies of a pod, and compare two instances for the next copy.

    Args:
        subject: The plugin.
        cluster: The cluster.
        pod: The pod.
        count: How many copies come before.
        seconds: How long to let them wait on Permit.

    Returns:
        The longest timeout of those that wait.
    """
    bench = Bench(subject, cluster)
    *before, last = copies_of(pod, count + 1)
    for copy in (*before, last):
        bench.add(copy)
    results = [place(bench, copy) for copy in before]
    if seconds:
        bench.advance(seconds)
    waiting = len(bench.room.pods)
    _compare(bench, last, f"{count - waiting} like it were tried, {waiting} wait")
    waits = [each.timeout_seconds for each in results if isinstance(each, PermitWait)]
    return min(max(waits, default=0), MAX_PERMIT_TIMEOUT_SECONDS) if waiting else 0


def _compare(bench: Bench, pod: Pod, before: str) -> None:
    """Compare Reserve and Permit of a new instance with those of the old one."""
    renewed = bench.renewed()
    node_name = first_open_node(bench, pod)
    if first_open_node(renewed, pod) != node_name:
        hook = "filter" if bench.subject.has("filter") else "pre_filter"
        text = f"chooses node '{node_name}' for the next pod ({before}), a new instance"
        fail(hook, f"{text} with the same cluster another one", pod)
    if not node_name:
        return
    expected, found = (
        binding_answers(side, pod, node_name) for side in (renewed, bench)
    )
    for hook, answer in found.items():
        if answer != expected.get(hook):
            text = f"{shown(answer)} for the next pod ({before}), expected"
            text = f"{text} {shown(expected.get(hook))} as from a new instance with"
            fail(hook, f"{text} the same cluster: it keeps data of other attempts", pod)


RESTARTS: Final = Check(
    name="restarts",
    promise="reserve and permit of a new instance decide as those of the old one",
    ask=_ask,
    hooks=frozenset({"reserve", "permit"}),
)
