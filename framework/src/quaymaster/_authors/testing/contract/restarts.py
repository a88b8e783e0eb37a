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

__all__ = ["RESTARTS"]

_COPIES: Final = 3
"""The pods that come before; so many make a small group complete."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for count in range(1, _COPIES + 1):
            try:
                _ask_after(subject, cluster, pod, count)
            except HookFailedError as failure:
                fail(failure.hook, failure.problem, pod, cluster.nodes, cluster.pods)


def _ask_after(subject: Subject, cluster: SmallCluster, pod: Pod, count: int) -> None:
    """Place copies of a pod, and compare two instances for the next copy.

    A Permit plugin may remember for a while what it has let pass, so that it limits
    the rate. So its answers are compared once all waits have ended.
    """
    bench = Bench(subject, cluster)
    *before, last = copies_of(pod, count + 1)
    for copy in (*before, last):
        bench.add(copy)
    for copy in before:
        place(bench, copy)
    _compare(bench, last, "reserve", f"{count} like it were tried")
    if subject.has("permit"):
        bench.advance(MAX_PERMIT_TIMEOUT_SECONDS)
        _compare(bench, last, "permit", f"{count} like it were bound or timed out")


def _compare(bench: Bench, pod: Pod, hook: str, before: str) -> None:
    """Compare a hook of a new instance with that of the old one."""
    renewed = bench.renewed()
    node_name = first_open_node(bench, pod)
    renewed_name = first_open_node(renewed, pod)
    if renewed_name != node_name:
        text = (
            f"the next pod ({before}) gets {_shown_node(node_name)}, but from a new "
            f"instance with the same cluster it gets {_shown_node(renewed_name)}: "
            "after a restart, a plugin has only the cluster, so it has to read the "
            "bound pods, for example by handle.informers.on_change"
        )
        fail("filter", text, pod)
    if not node_name:
        return
    expected = binding_answers(renewed, pod, node_name).get(hook)
    actual = binding_answers(bench, pod, node_name).get(hook)
    if actual != expected:
        text = (
            f"{shown(actual)} for the next pod ({before}), expected {shown(expected)}"
        )
        text = f"{text} as from a new instance with the same cluster"
        text = (
            f"{text}: it keeps data of other attempts. Drop what an attempt has noted, "
            "such as a deadline, in unreserve and post_bind"
        )
        fail(hook, text, pod)


def _shown_node(name: str) -> str:
    return f"node '{name}'" if name else "no node"


RESTARTS: Final = Check(
    name="restarts",
    promise="reserve and permit of a new instance decide as those of the old one",
    ask=_ask,
    hooks=frozenset({"reserve", "permit"}),
)
