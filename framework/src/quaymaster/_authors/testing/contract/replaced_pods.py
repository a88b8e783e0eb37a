"""Ends the attempt of a pod after a pod of the same name has reserved a node."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.assuming import Outcome, attempt
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import begin
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.reserving import first_open_node
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS

__all__ = ["ask_replaced"]

_MOST_BEFORE: Final = 2
"""How many numbers of pods before them are tried."""


def ask_replaced(
    subject: Subject, cluster: SmallCluster, copies: Sequence[Pod], decisive: int
) -> None:
    """Reserve a node for a pod and for its successor, and undo only the first.

    Args:
        subject: The plugin.
        cluster: The cluster.
        copies: Pods like each other.
        decisive: After how many of them the next one gets another answer.

    Raises:
        Finding: Later pods do not get what they get if only the successor was there.
    """
    if not subject.has("unreserve"):
        return
    for count in _counts(decisive):
        before, pod, later = copies[:count], copies[count], copies[count + 1 :]
        uid = make_uid(Pod, f"{pod.name}-earlier", pod.namespace)
        earlier = replace(pod, metadata=replace(pod.metadata, uid=uid))
        plain = _prepared(subject, cluster, before)
        bench = _prepared(subject, cluster, before)
        expected, actual = attempt(plain, pod), _replace(bench, earlier, pod)
        if actual != expected or not expected.node_name:
            continue
        for each in (bench, plain):
            # It may remember for a while what it has let pass.
            each.advance(MAX_PERMIT_TIMEOUT_SECONDS)
        for following in later[: decisive - count + 1]:
            expected, actual = attempt(plain, following), attempt(bench, following)
            if actual != expected:
                text = (
                    f"called late for a pod '{pod.key}' that was deleted, it releases "
                    "what a new pod of the same name has reserved, or too little: pod "
                    f"'{following.key}' then gets: {actual}, expected: {expected}, as "
                    "without the earlier pod: use pod.uid as the key of what you keep"
                )
                fail("unreserve", text, earlier, pod, cluster.nodes)


def _counts(decisive: int) -> Iterator[int]:
    """Yield how many pods come before: both pods may hold a place meanwhile."""
    yield from range(decisive - 1, max(-1, decisive - 1 - _MOST_BEFORE), -1)


def _prepared(subject: Subject, cluster: SmallCluster, before: Sequence[Pod]) -> Bench:
    bench = Bench(subject, cluster)
    for pod in before:
        bench.add(pod)
        place(bench, pod)
    return bench


def _replace(bench: Bench, earlier: Pod, pod: Pod) -> Outcome:
    """Run an attempt for a pod while that of an earlier pod of its name goes on."""
    bench.add(earlier)
    node_name = first_open_node(bench, earlier)
    run = begin(bench, earlier, node_name) if node_name else None
    bench.room.drop()
    bench.remove(earlier)
    outcome = attempt(bench, pod)
    if run is not None:
        run.give_up()
    return outcome
