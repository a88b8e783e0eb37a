"""A check: a plugin looks at pods no more than its ``pod_use`` says."""

import attrs
from msgspec.structs import replace

from quaymaster._contract.declarations import PodUse
from quaymaster._objects import Container, Pod, PodSpec
from quaymaster._testing.contract.answers import Answers, answers, difference, shown
from quaymaster._testing.contract.bench import Bench
from quaymaster._testing.contract.check import Check, fail
from quaymaster._testing.contract.small_cluster import SmallCluster
from quaymaster._testing.contract.subject import Subject

__all__ = ["POD_USE"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    use = subject.pod_use
    if use is PodUse.PODS or not cluster.pods:
        return
    pods = () if use is PodUse.NONE else tuple(map(_plain, cluster.pods))
    bench = Bench(subject, cluster)
    changed_bench = Bench(subject, attrs.evolve(cluster, pods=pods))
    without = (
        "with no pods at all"
        if use is PodUse.NONE
        else ("with other pods that request the same")
    )
    for pod in cluster.pending:
        before = _raw(answers(bench, pod))
        changed = difference(_raw(answers(changed_bench, pod)), before)
        if changed is not None:
            text = (
                f"{shown(changed.expected)} for node '{changed.node}', "
                f"{shown(changed.found)} {without}, but pod_use is {use}"
            )
            fail(changed.hook, text, pod, cluster.nodes, cluster.pods)


def _raw(found: Answers) -> Answers:
    return attrs.evolve(found, normalized={}, pre_enqueue=None)


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
    promise="filter and score look no more at pods than pod_use says",
    ask=_ask,
    hooks=frozenset({"filter", "score"}),
)
