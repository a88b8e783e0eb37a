"""Checks: choices of Reserve survive in annotations, which the bind writes."""

from contextlib import suppress
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
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.harnesses import admitted_harness
from quaymaster._authors.testing.contract.reserving import reserve_and_return
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["BINDING", "CHOICES"]

_RESTARTED: Final = (
    "when a new instance of the plugin finds what it has chosen on the pod"
)
_BOUND: Final = f"{_RESTARTED}, and the old one has got the pod with them"
_KEY: Final = "quaymaster.test/chosen"


def _ask_choices(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        chosen = _reserved(bench, pod)
        if chosen is None:
            continue
        # Identity: pods that are drawn may be equal, and one of them was chosen.
        others = tuple(other for other in cluster.pending if other is not pod)
        after = attrs.evolve(cluster, pods=(*cluster.pods, chosen), pending=others)
        restarted = Bench(subject, after)
        for other in others:
            _compare(restarted, bench, other, chosen, _RESTARTED)
        bench.snapshot.remove_pod(chosen)
        bench.add(chosen)
        for other in others:
            _compare(restarted, bench, other, chosen, _BOUND)


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


def _ask_binding(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for node in cluster.nodes:
            stored = _bound(subject, cluster, pod, node.name)
            if stored is not None and stored.node_name and not _has_choice(stored):
                text = (
                    "binds without the annotations that plugins have chosen: give "
                    "Cluster.bind annotations=state.annotations"
                )
                fail("bind", text, pod, node)


def _has_choice(pod: Pod) -> bool:
    return pod.annotations.get(_KEY) == "yes"


def _bound(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str
) -> Pod | None:
    """Return a pod as it is stored after the bind; None if that cannot be tried."""
    harness = admitted_harness(subject, cluster)
    if harness is None:
        return None
    with harness:
        harness.state.annotate(_KEY, "yes")
        # Other checks report other failures.
        with suppress(Exception):
            harness.start()
            harness.bind(replace(pod, node_name=node_name), node_name)
        with suppress(QuaymasterError):
            return harness.cluster.get(Pod, pod.key)
    return None


CHOICES = Check(
    name="choices",
    promise="a restarted plugin reads the choices of reserve from the annotations",
    ask=_ask_choices,
    hooks=frozenset({"reserve"}),
)
BINDING = Check(
    name="binding",
    promise="bind writes the annotations that plugins have chosen",
    ask=_ask_binding,
    hooks=frozenset({"bind"}),
)
