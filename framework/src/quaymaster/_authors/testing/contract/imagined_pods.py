"""Checks of ``add_pod`` and ``remove_pod``, which imagine a node with other pods."""

from collections.abc import Iterator

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import filter_all, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import copy_on
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState, StateCloneError
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["CLONES", "IMAGINING", "TERMINATING"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        for other in cluster.pods:
            _take_away(bench, pod, other)


def _take_away(bench: Bench, pod: Pod, other: Pod) -> None:
    """Imagine that a pod is removed, and that it is added again."""
    full, imagined_away = _imagined(bench, pod, other, is_added=False)
    bench.remove(other)
    less, imagined_there = _imagined(bench, pod, other, is_added=True)
    for hook, actual, expected in (
        ("remove_pod", imagined_away, less),
        ("add_pod", imagined_there, full),
    ):
        if _UNKNOWN not in (actual, expected) and actual != expected:
            text = (
                f"filter then says {shown(actual)} for node '{other.node_name}', "
                f"expected {shown(expected)} as after a new pre_filter"
            )
            has = bench.subject.has(hook)
            text = text if has else f"is missing: without it, {text}"
            node = bench.snapshot.get(other.node_name)
            assert node is not None
            fail(hook, text, pod, other, node.node, node.pods.values())


_UNKNOWN = "unknown"


def _imagined(
    bench: Bench, pod: Pod, other: Pod, *, is_added: bool
) -> tuple[object, object]:
    """Return Filter's answers for a node as it is, and with one pod more or less."""
    info = bench.snapshot.get(other.node_name)
    assert info is not None
    state = CycleState()
    if isinstance(prepared := bench.pre_filter(state, pod), Status):
        # Plugins that skip get no calls about imagined pods.
        return (None if prepared.is_skip else _UNKNOWN), _UNKNOWN
    plain = filter_all(bench, state, pod, info).get(info.name)
    clone, imagined = _clone(state), info.clone()
    if is_added:
        imagined.add_pod(other)
    else:
        imagined.remove_pod(other)
    hook = "add_pod" if is_added else "remove_pod"
    if bench.subject.has(hook) and bench.ask(hook, clone, pod, other, imagined):
        return plain, _UNKNOWN
    return plain, filter_all(bench, clone, pod, imagined).get(info.name)


def _clone(state: CycleState) -> CycleState:
    try:
        return state.clone()
    except StateCloneError as error:
        fail("pre_filter", str(error))


def _ask_clones(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        state = CycleState()
        if isinstance(bench.pre_filter(state, pod), Status):
            continue
        before = filter_all(bench, state, pod)
        for info, other in _pods(bench):
            clone, imagined = _clone(state), info.clone()
            imagined.remove_pod(other)
            if bench.subject.has("remove_pod"):
                bench.ask("remove_pod", clone, pod, other, imagined)
            filter_all(bench, clone, pod, imagined)
            imagined.add_pod(other)
            if bench.subject.has("add_pod"):
                bench.ask("add_pod", clone, pod, other, imagined)
                bench.ask("add_pod", clone, pod, other, imagined)
            if filter_all(bench, state, pod) != before:
                text = (
                    "what add_pod and remove_pod write to a clone of the state is "
                    "seen in the original: its values need a clone() that copies"
                )
                fail("pre_filter", text, pod, other, info.node)


def _pods(bench: Bench) -> Iterator[tuple[NodeInfo, Pod]]:
    for info in list(bench.snapshot):
        for pod in list(info.pods.values())[:2]:
            yield info, pod


def _ask_terminating(
    subject: Subject, cluster: SmallCluster, _other: SmallCluster
) -> None:
    """Imagine pods away that are terminating."""
    for pod in cluster.pending:
        for victim in cluster.pods:
            _take_away_leaving(subject, cluster, pod, victim)
        # Rules often count pods like the waiting one, of which few are drawn.
        for node in cluster.nodes[:2]:
            alike = copy_on(pod, node)
            more = attrs.evolve(cluster, pods=(*cluster.pods, alike))
            _take_away_leaving(subject, more, pod, alike)


def _take_away_leaving(
    subject: Subject, cluster: SmallCluster, pod: Pod, victim: Pod
) -> None:
    deleted = replace(victim.metadata, deletion_timestamp=0.0)
    leaving = replace(victim, metadata=deleted)
    # Identity: pods that are drawn may be equal.
    pods = tuple(leaving if other is victim else other for other in cluster.pods)
    _take_away(Bench(subject, attrs.evolve(cluster, pods=pods)), pod, leaving)


IMAGINING = Check(
    name="imagining",
    promise="add_pod and remove_pod leave what a new pre_filter would write",
    ask=_ask,
    hooks=frozenset({"filter"}),
)
TERMINATING = Check(
    name="terminating pods",
    promise="add_pod and remove_pod count terminating pods as pre_filter does",
    ask=_ask_terminating,
    hooks=frozenset({"add_pod", "remove_pod"}),
)
CLONES = Check(
    name="clones",
    promise="add_pod and remove_pod change a clone() of the state, not the original",
    ask=_ask_clones,
    hooks=frozenset({"pre_filter"}),
)
