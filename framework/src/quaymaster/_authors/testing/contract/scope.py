"""A check: a plugin depends on no more of the cluster than its ``scope`` declares."""

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.answers import (
    Answers,
    Difference,
    answers,
    difference,
    shown,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import Scope

__all__ = ["SCOPE"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if subject.scope is Scope.CLUSTER or not subject.has("sign_pod"):
        return
    bench = Bench(subject, cluster)
    kinds = bench.handle.callbacks.kinds
    # The plugin reports changes of these objects, see the check "object changes".
    followed = tuple(obj for obj in cluster.objects if type(obj) in kinds)
    for pod in cluster.pending:
        if bench.ask("sign_pod", pod) is None:
            continue
        actual = answers(bench, pod)
        if subject.scope is Scope.NODES:
            _ask_without_pods(subject, cluster, pod, actual, followed)
            continue
        for node in cluster.nodes:
            _ask_alone(subject, cluster, pod, node, actual, followed)


def _ask_without_pods(
    subject: Subject,
    cluster: SmallCluster,
    pod: Pod,
    actual: Answers,
    followed: tuple[ApiObject, ...],
) -> None:
    bare = SmallCluster(nodes=cluster.nodes, objects=followed)
    changed = difference(answers(Bench(subject, bare), pod), actual)
    if changed is not None:
        text = f"{changed}: it changes with pods or other objects"
        _fail(changed, f"{text}, but scope is Scope.NODES", pod, cluster)


def _ask_alone(
    subject: Subject,
    cluster: SmallCluster,
    pod: Pod,
    node: Node,
    actual: Answers,
    followed: tuple[ApiObject, ...],
) -> None:
    """Run the hooks for one node, as if there were no other."""
    pods = tuple(pod for pod in cluster.pods if pod.node_name == node.name)
    small = SmallCluster(nodes=(node,), pods=pods, objects=followed)
    alone = answers(Bench(subject, small), pod)
    alone = attrs.evolve(alone, normalized={})
    changed = difference(alone, _of_node(actual, node.name))
    if changed is not None:
        text = (
            f"{shown(changed.expected)} for node '{node.name}' among others, "
            f"{shown(changed.actual)} alone: it changes with other nodes, pods or "
            "objects, but scope is Scope.NODE"
        )
        _fail(changed, text, pod, cluster)


def _of_node(actual: Answers, name: str) -> Answers:
    return attrs.evolve(
        actual,
        rejected={
            key: reason for key, reason in actual.rejected.items() if key == name
        },
        score={key: score for key, score in actual.score.items() if key == name},
        normalized={},
    )


def _fail(changed: Difference, text: str, pod: Pod, cluster: SmallCluster) -> None:
    fail(changed.hook, text, pod, cluster.nodes, cluster.pods, cluster.objects)


SCOPE = Check(
    name="scope",
    promise="an answer depends on no more than the plugin's scope declares",
    ask=_ask,
    hooks=frozenset({"filter", "score", "pre_filter"}),
)
