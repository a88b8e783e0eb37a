"""A check: a plugin depends on pods no more than its ``pod_use`` declares."""

from collections.abc import Iterable

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Container, Pod, PodSpec
from quaymaster._authors.testing.contract.answers import (
    Answers,
    answers,
    difference,
    shown,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.status import Status

__all__ = ["POD_USE"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if cluster.pods:
        _ask_of(subject, cluster, subject.pod_use, cluster.pending, by_class=True)
    if cluster.pods and subject.has("filter_pod_use"):
        for pod in cluster.pending:
            use = _use_for(Bench(subject, cluster), pod)
            _ask_of(subject, cluster, use, [pod], by_class=False)


def _use_for(bench: Bench, pod: Pod) -> PodUse:
    """Return the filter's `PodUse` in an attempt for a pod."""
    state = CycleState()
    prepared = bench.pre_filter(state, pod)
    if isinstance(prepared, Status):  # then filter is not called
        return PodUse.PODS
    said = bench.ask("filter_pod_use", state)
    assert isinstance(said, PodUse), "other answers are failures"
    return said


def _ask_of(
    subject: Subject,
    cluster: SmallCluster,
    use: PodUse,
    pending: Iterable[Pod],
    *,
    by_class: bool,
) -> None:
    """Check whether answers depend on more of the pods than declared.

    Args:
        subject: The plugin.
        cluster: The cluster.
        use: How much the answers may depend on the pods.
        pending: The waiting pods to try.
        by_class: Whether the class declares it, and for scores, too.
    """
    if use is PodUse.PODS:
        return
    pods = () if use is PodUse.NONE else tuple(map(_plain, cluster.pods))
    bench = Bench(subject, cluster)
    changed_bench = Bench(subject, attrs.evolve(cluster, pods=pods))
    without = (
        "with no pods at all"
        if use is PodUse.NONE
        else ("with other pods that request the same")
    )
    raw = _raw if by_class else _filtered
    said = "pod_use is" if by_class else "filter_pod_use says"
    for pod in pending:
        before = raw(answers(bench, pod))
        changed = difference(raw(answers(changed_bench, pod)), before)
        if changed is not None:
            text = (
                f"{shown(changed.expected)} for node '{changed.node}', "
                f"{shown(changed.actual)} {without}, but {said} {use}"
            )
            fail(changed.hook, text, pod, cluster.nodes, cluster.pods)


def _raw(actual: Answers) -> Answers:
    return attrs.evolve(actual, normalized={}, pre_enqueue=None)


def _filtered(actual: Answers) -> Answers:
    return attrs.evolve(_raw(actual), score={})


def _plain(pod: Pod) -> Pod:
    """Return a pod that has only the requests of another."""
    spec = PodSpec(
        containers=tuple(map(_plain_container, pod.spec.containers)),
        init_containers=tuple(map(_plain_container, pod.spec.init_containers)),
        overhead=pod.spec.overhead,
        resources=pod.spec.resources,
        priority=0,
    )
    metadata = replace(pod.metadata, labels={}, annotations={}, owner_references=())
    return replace(pod, spec=spec, metadata=metadata)


def _plain_container(container: Container) -> Container:
    return Container(
        name=container.name,
        resources=container.resources,
        restart_policy=container.restart_policy,
    )


POD_USE = Check(
    name="pod use",
    promise="filter and score depend on pods no more than pod_use declares",
    ask=_ask,
    hooks=frozenset({"filter", "score"}),
)
