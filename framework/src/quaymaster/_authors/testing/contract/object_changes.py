"""A check: callbacks for changes of objects report what changes cached answers."""

from collections.abc import Collection, Iterable

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.answers import Answers, answers, difference
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.changes import Step, object_steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import Scope

__all__ = ["OBJECT_CHANGES"]


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    kinds = _kinds(subject, cluster)
    if not kinds:
        return
    _ask_guarded(subject, cluster, other)
    if subject.scope is Scope.CLUSTER or not subject.has("sign_pod"):
        return  # nothing is cached
    for step in object_steps(cluster, other, kinds):
        for pod in cluster.pending:
            _ask_step(subject, cluster, pod, step)


def _kinds(subject: Subject, cluster: SmallCluster) -> frozenset[type[ApiObject]]:
    """Return the kinds whose changes the plugin gets.

    Raises:
        Finding: A callback failed.
    """
    try:
        return Bench(subject, cluster).handle.callbacks.kinds
    except HookFailedError as failure:
        _fail_callback(failure, cluster.objects)
        raise


def _ask_guarded(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    """Deliver all objects, then all changes, and look for objects that were changed."""
    try:
        Bench(subject, cluster, is_guarded=True).become(cluster, other)
    except HookFailedError as failure:
        _fail_callback(failure, [*cluster.objects, *other.objects])
        raise


def _fail_callback(failure: HookFailedError, objects: Iterable[ApiObject]) -> None:
    if failure.hook == "on_change":
        fail("on_change", failure.problem, objects)


def _ask_step(subject: Subject, cluster: SmallCluster, pod: Pod, step: Step) -> None:
    bench = Bench(subject, cluster)
    signature, expected = bench.ask("sign_pod", pod), answers(bench, pod)
    if signature is None:
        return
    bench.handle.reported_changes.clear()
    apply(bench, step)
    reported = {name for _, name in bench.handle.reported_changes}
    if "" in reported:
        return
    example = [obj for obj in (step.old, step.new) if obj is not None]
    if bench.ask("sign_pod", pod) != signature:
        text = f"{step} changes it, but the callback does not call Handle.changed()"
        fail("sign_pod", text, pod, example)
    dropped = reported | _touched(step)
    actual = answers(bench, pod)
    changed = difference(_cached(actual, dropped), _cached(expected, dropped))
    if changed is not None:
        text = f"{changed} as before {step}: {_remedy(changed.node, reported)}"
        fail(changed.hook, text, pod, example, cluster.nodes, cluster.pods)


def _remedy(node: str, reported: Collection[str]) -> str:
    """Return what to change when an answer for a node has changed.

    Args:
        node: The node; empty if the answer is about all nodes.
        reported: The nodes that the plugin has reported.
    """
    if not node or not reported:
        where = f"nodes=['{node}']" if node else ""
        return (
            "answers are cached, so the callback of on_change has to call "
            f"Handle.changed({where})"
        )
    return (
        f"the callback of on_change reported only {', '.join(sorted(reported))}, but "
        f"the answer for '{node}' has changed, too. With Scope.NODE, an answer may "
        "depend only on its own node and on what is reported for that node. If it "
        "depends on objects of other nodes, declare scope = Scope.CLUSTER; otherwise "
        f"report this node as well: Handle.changed(nodes=['{node}'])"
    )


def _touched(step: Step) -> set[str]:
    """Return the nodes whose cached answers the framework drops by itself."""
    touched = set()
    for obj in (step.old, step.new):
        if isinstance(obj, Node):
            touched.add(obj.name)
        elif isinstance(obj, Pod):
            touched.add(obj.node_name)
    return touched


def _cached(actual: Answers, dropped: set[str]) -> Answers:
    """Return the answers that are cached, without those of some nodes.

    Scores of nodes that Filter rejects are not cached, so verdicts come first.
    """
    rejected = {
        name: status for name, status in actual.rejected.items() if name not in dropped
    }
    score = {name: score for name, score in actual.score.items() if name not in dropped}
    return attrs.evolve(
        actual,
        pre_enqueue=None,
        rejected=rejected,
        score=score,
        normalized={},
        tied=(),
        tie=None,
    )


OBJECT_CHANGES = Check(
    name="object changes",
    promise="callbacks of on_change do not raise, and report what they change",
    ask=_ask,
    needs_other=True,
)
