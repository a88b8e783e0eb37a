"""Checks: equal calls get equal answers, and answers follow the cluster."""

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["DETERMINISM", "STALENESS"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench, again = Bench(subject, cluster), Bench(subject, cluster)
    for pod in cluster.pending:
        expected = answers(bench, pod)
        for who, found in (
            ("when it is called again", answers(bench, pod)),
            ("when another instance is called", answers(again, pod)),
        ):
            changed = difference(found, expected)
            if changed is not None:
                text = f"{changed} as before, {who} with an unchanged cluster"
                fail(changed.hook, text, pod, cluster.nodes, cluster.pods)
        _ask_permit(subject, cluster, pod)


def _ask_permit(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Compare Reserve and Permit of two new instances."""
    if not subject.has("reserve") and not subject.has("permit"):
        return
    bench, again = Bench(subject, cluster), Bench(subject, cluster)
    node_name = first_open_node(bench, pod)
    if not node_name or first_open_node(again, pod) != node_name:
        return
    expected = reserve_and_return(bench, pod, node_name)
    for hook, answer in reserve_and_return(again, pod, node_name).items():
        if answer != expected.get(hook):
            text = f"{shown(answer)}, expected {shown(expected.get(hook))} as from"
            text = f"{text} another instance with the same cluster"
            fail(hook, text, pod, cluster.nodes, cluster.pods)


def _ask_later(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        answers(bench, pod)
    bench.become(cluster, other)
    renewed = bench.renewed()
    for pod in cluster.pending:
        changed = difference(answers(bench, pod), answers(renewed, pod))
        if changed is not None:
            text = f"{changed} as from a new instance"
            fail(
                changed.hook,
                f"{text}; it keeps data of the earlier cluster",
                pod,
                [*cluster.nodes, *cluster.pods],
                [*other.nodes, *other.pods, *other.objects],
            )
    if subject.has("reserve"):
        _compare_reserve(bench, bench.renewed(), other)


def _compare_reserve(bench: Bench, renewed: Bench, other: SmallCluster) -> None:
    """Compare what Reserve chooses with the choice of a new instance."""
    for pod in other.pending:
        node_name = first_open_node(bench, pod)
        if not node_name or first_open_node(renewed, pod) != node_name:
            continue
        choices = []
        for place in (bench, renewed):
            state = CycleState()
            answer = reserve_and_return(place, pod, node_name, state).get("reserve")
            choices.append((answer, dict(state.annotations)))
        (found, chosen), (expected, renewed_choice) = choices
        if (found, chosen) != (expected, renewed_choice):
            text = f"{shown(found)} {chosen}, expected {shown(expected)}"
            text = f"{text} {renewed_choice} as from a new instance"
            text = f"{text}; it keeps data of the earlier cluster"
            fail("reserve", text, pod, [*other.nodes, *other.pods, *other.objects])


DETERMINISM = Check(
    name="determinism",
    promise="the same call with the same cluster has the same answer",
    ask=_ask,
)
STALENESS = Check(
    name="staleness",
    promise="answers follow the cluster: no outdated data is used",
    ask=_ask_later,
    needs_other=True,
)
