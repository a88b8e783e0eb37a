"""A check: choices of Reserve survive in the annotations of the pod."""

from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    answers,
    difference,
    is_open,
    shown,
)
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    open_nodes,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["CHOICES"]

_RESTARTED: Final = (
    "when a new instance of the plugin finds what it has chosen on the pod"
)
_BOUND: Final = f"{_RESTARTED}, and the old one has got the pod with them"


def _ask_choices(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        chosen = _reserved(bench, pod)
        if chosen is None:
            continue
        # Identity: pods that are drawn may be equal, and one of them was chosen.
        others = tuple(other for other in cluster.pending if other is not pod)
        after = attrs.evolve(cluster, pods=(*cluster.pods, chosen), pending=others)
        # A copy chooses from the same things.
        others = (*copies_of(pod, 1), *others)
        restarted = Bench(subject, after)
        _ask_of_old_choices(restarted, pod, chosen)
        for other in others:
            _compare(restarted, bench, other, chosen, _RESTARTED)
        bench.snapshot.remove_pod(chosen)
        bench.add(chosen)
        for other in others:
            _compare(restarted, bench, other, chosen, _BOUND)


def _ask_of_old_choices(bench: Bench, pod: Pod, chosen: Pod) -> None:
    """Check that reserve follows no annotation of a pod in the queue.

    Users may write it, and the choice of an earlier attempt was for another node.

    Args:
        bench: Its cluster has the chosen pod on its node.
        pod: The pod as it was drawn.
        chosen: The pod with the annotations that reserve has chosen.
    """
    (copy,) = copies_of(pod, 1)
    own = copy.metadata.annotations
    written = {
        key: text
        for key, text in chosen.metadata.annotations.items()
        if own.get(key) != text
    }
    metadata = replace(copy.metadata, annotations={**own, **written})
    marked = replace(copy, metadata=metadata)
    choices = []
    for each in (marked, copy):
        state = CycleState()
        if chosen.node_name not in open_nodes(bench, each):
            return
        answer = reserve_and_return(bench, each, chosen.node_name, state)
        if answer.get("reserve") is not None:
            return
        choices.append({**each.metadata.annotations, **state.annotations})
    for key, given in written.items():
        actual, expected = (choice.get(key) for choice in choices)
        if actual != expected:
            text = (
                f"chooses {actual!r} for a pod that has {key}={given!r} in the "
                f"queue, expected {expected!r} as without: only the annotations of "
                "pods with a node are choices"
            )
            fail("reserve", text, marked, chosen)


def _compare(
    restarted: Bench, bench: Bench, other: Pod, chosen: Pod, when: str
) -> None:
    """Compare all answers for the next pod."""
    changed = difference(answers(restarted, other), answers(bench, other))
    if changed is not None:
        fail(
            "reserve", f"{changed.hook} says {changed} before it, {when}", other, chosen
        )
    _compare_next(restarted, bench, other, chosen, when)


def _compare_next(
    restarted: Bench, bench: Bench, other: Pod, chosen: Pod, when: str
) -> None:
    """Compare what Reserve chooses for the next pod, before and after a restart."""
    choices = []
    for place in (restarted, bench):
        node, state = place.snapshot.get(chosen.node_name), CycleState()
        actual = answers(place, other)
        if (
            node is None
            or not is_open(actual.pre_filter)
            or node.name in actual.rejected
        ):
            return
        answer = reserve_and_return(place, other, node.name, state)
        choices.append((answer.get("reserve"), dict(state.annotations)))
    after, before = choices
    if after != before:
        text = f"chooses {shown(after[0])} {after[1]} for the next pod, expected"
        text = f"{text} {shown(before[0])} {before[1]} as before it, {when}"
        fail("reserve", text, other, chosen)


def _reserved(bench: Bench, pod: Pod) -> Pod | None:
    """Run a pod through Reserve; return the assumed pod if it got any annotations.

    From then on, the pod is assumed on its node in the bench: a watch has not
    delivered its binding yet, so the plugin has only what it has written itself.
    """
    node = _passing_node(bench, pod)
    if node is None:
        return None
    state = CycleState()
    if not is_open(bench.pre_filter(state, pod)):
        return None
    with bench.assuming(pod, node.name) as assumed:
        status = bench.ask("reserve", state, assumed, node.name)
    if status is not None or not state.annotations:
        return None
    annotations = {**pod.annotations, **state.annotations}
    metadata = replace(assumed.metadata, annotations=annotations)
    chosen = replace(assumed, metadata=metadata)
    bench.snapshot.add_pod(chosen)
    return chosen


def _passing_node(bench: Bench, pod: Pod) -> NodeInfo | None:
    actual = answers(bench, pod)
    if not is_open(actual.pre_filter):
        return None
    passing = (info for info in bench.snapshot if info.name not in actual.rejected)
    return next(passing, None)


CHOICES = Check(
    name="choices",
    promise="a restarted plugin reads the choices of reserve from the annotations",
    ask=_ask_choices,
    hooks=frozenset({"reserve"}),
)
