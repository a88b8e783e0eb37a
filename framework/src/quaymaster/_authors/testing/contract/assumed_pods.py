"""A check: pods that are assumed on a node count as those that are bound."""

from collections.abc import Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    Difference,
    answers,
    is_open,
    shown,
)
from quaymaster._authors.testing.contract.assuming import assume, attempt
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import open_nodes
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status

__all__ = ["ASSUMED_PODS"]

_MOST_COPIES: Final = 8
_REMEDY: Final = (
    "count the pods of handle.snapshot, which has assumed pods (handle.informers does "
    "not), or count them in reserve, and forget them in unreserve"
)


@attrs.frozen
class _Bound:
    """A pod that was bound.

    Attributes:
        pod: The pod as it was created.
        node_name: Its node.
    """

    pod: Pod
    node_name: str


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending[:2]:
        _ask_limit(subject, cluster, pod)
    if subject.has("reserve"):
        for pod in cluster.pending:
            _ask_itself(subject, cluster, pod)
    if subject.has("score"):
        _ask_scores(subject, cluster)


def _ask_limit(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Bind pods until the next one is rejected; it is when they are assumed, too."""
    bench = Bench(subject, cluster)
    copies = copies_of(pod, _MOST_COPIES)
    bound: list[_Bound] = []
    for copy in copies:
        outcome = attempt(bench, copy)
        if not outcome.node_name:
            break
        bound.append(_bind(bench, copy, outcome.node_name))
    else:
        return  # there is no limit
    rejecting, bench = outcome.hook, Bench(subject, cluster)
    if not bound or not rejecting or not _assume_all(bench, bound):
        return
    last = copies[len(bound)]
    outcome = attempt(bench, last)
    if outcome.node_name:
        text = (
            f"rejects pod '{last.key}' when {_counted(bound)} bound, but accepts it on "
            f"node '{outcome.node_name}' while they are assumed and not bound yet: "
            f"{_REMEDY}"
        )
        fail(rejecting, text, pod, cluster.nodes, cluster.pods)


def _ask_scores(subject: Subject, cluster: SmallCluster) -> None:
    """Compare the scores of the next pod after a bound and after an assumed one."""
    first, *others = cluster.pending
    bench = Bench(subject, cluster)
    (copy,) = copies_of(first, 1)
    outcome = attempt(bench, copy)
    if not outcome.node_name:
        return
    bound = _bind(bench, copy, outcome.node_name)
    early = Bench(subject, cluster)
    if not _assume_all(early, [bound]):
        return
    for pod in others:
        changed = _score_difference(early, bench, pod)
        if changed is not None:
            text = (
                f"{changed} as when pod '{copy.key}' is bound to node "
                f"'{outcome.node_name}', where it is assumed: {_REMEDY}"
            )
            fail(changed.hook, text, pod, cluster.nodes, cluster.pods)


def _ask_itself(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Reserve a pod on each node, with and without the pod on it.

    As upstream, the pod is assumed before Reserve. A plugin that then counts it twice
    rejects what its filter has accepted, in each attempt.
    """
    for node_name in open_nodes(Bench(subject, cluster), pod):
        assumed = assume(Bench(subject, cluster), pod, node_name)
        if assumed.hook != "reserve":
            continue
        bench, state = Bench(subject, cluster), CycleState()
        bench.filter_on(state, pod, node_name)
        placed = replace(pod, node_name=node_name)
        if bench.ask("reserve", state, placed, node_name) is None:
            text = (
                f"says {shown(assumed.answer)} for node '{node_name}', which filter "
                "accepts, only because the pod itself is assumed there already, as "
                "always in reserve: leave out the pod's own uid"
            )
            fail("reserve", text, pod, cluster.nodes, cluster.pods)


def _score_difference(early: Bench, late: Bench, pod: Pod) -> Difference | None:
    actual, expected = answers(early, pod), answers(late, pod)
    for name, score in expected.score.items():
        other = actual.score.get(name, score)
        if other != score:
            return Difference("score", name, other, score)
    return None


def _bind(bench: Bench, pod: Pod, node_name: str) -> _Bound:
    """Bind an assumed pod."""
    info = bench.snapshot.get(node_name)
    assert info is not None
    assumed = info.pods[pod.uid]
    bench.snapshot.remove_pod(assumed)
    bench.add(assumed)
    if bench.subject.has("post_bind"):
        bench.ask("post_bind", CycleState(), assumed, node_name)
    return _Bound(pod, node_name)


def _assume_all(bench: Bench, bound: Sequence[_Bound]) -> bool:
    """Assume pods on the nodes where they were bound; return whether all may run."""
    for each in bound:
        bench.add(each.pod)
        actual = answers(bench, each.pod)
        if isinstance(actual.pre_enqueue, Status) or not is_open(actual.pre_filter):
            return False
        if each.node_name in actual.rejected:
            return False
        if assume(bench, each.pod, each.node_name).hook:
            return False
    return True


def _counted(bound: Sequence[_Bound]) -> str:
    return f"{len(bound)} like it are" if len(bound) > 1 else "one like it is"


ASSUMED_PODS: Final = Check(
    name="assumed pods",
    promise="pods that are assumed on a node count as those that are bound",
    ask=_ask,
    hooks=frozenset({"pre_filter", "filter", "score", "reserve", "permit"}),
)
