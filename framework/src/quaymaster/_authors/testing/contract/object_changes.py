"""A check: callbacks for changes of objects report what changes cached answers."""

from collections.abc import Collection, Iterable, Iterator

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.answers import Answers, answers, difference
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.changes import Step, object_steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.object_histories import ask_histories
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.declarations import Scope

__all__ = ["OBJECT_CHANGES"]


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    kinds = _kinds(subject, cluster)
    if not kinds:
        return
    _ask_guarded(subject, cluster, other)
    ask_histories(subject, cluster, other, kinds)
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
    example: list[ApiObject] = []
    first = None
    for each in _with_further(step):
        bench.handle.reported_changes.clear()
        apply(bench, each)
        reported = {name for _, name in bench.handle.reported_changes}
        before, is_same = signature, "" not in reported
        example += [obj for obj in (each.old, each.new) if obj is not None]
        signature = bench.ask("sign_pod", pod)
        if is_same and signature != before:
            text = f"{each} changes it, but the callback does not call Handle.changed()"
            fail("sign_pod", text, pod, example)
        dropped = reported | _touched(each)
        last, expected = expected, answers(bench, pod)
        changed = difference(_cached(expected, dropped), _cached(last, dropped))
        if is_same and changed is not None:
            text = f"{changed} as before {each}: {_remedy(changed.node, reported)}"
            fail(changed.hook, text, pod, example, cluster.nodes, cluster.pods)
        first = first or expected
    assert first is not None
    changed = difference(_cached(expected, set()), _cached(first, set()))
    if changed is not None:
        text = f"{changed} as after {step}, once {_undone(step)}"
        fail(changed.hook, text, pod, example, cluster.nodes, cluster.pods)


def _undone(step: Step) -> str:
    """Return what has happened since a change, although the objects are the same."""
    if step.old is None:
        return (
            "objects like it have come and left, one of them with its name in another "
            "namespace: know objects by their uid or key"
        )
    return "it was undone and repeated: answers follow from the objects alone"


def _with_further(step: Step) -> Iterator[Step]:
    """Yield a change, and further ones like it, each of which a plugin has to report.

    Objects like a new one arrive and leave; an updated object changes back, and again.
    So the cluster is at last as after the change.
    """
    yield step
    old, new = step.old, step.new
    if new is None:
        return
    if old is not None:
        yield Step(old=new, new=old)
        yield step
        return
    name, namespace = new.metadata.name, new.metadata.namespace
    copies = [_copy_of(new, f"{name}-next", namespace)]
    if namespace:
        copies.append(_copy_of(new, name, f"{namespace}-next"))
    yield from (Step(new=copy) for copy in copies)
    yield from (Step(old=copy) for copy in copies)


def _copy_of(obj: ApiObject, name: str, namespace: str) -> ApiObject:
    uid = make_uid(type(obj), name, namespace)
    metadata = replace(obj.metadata, name=name, namespace=namespace, uid=uid)
    return replace(obj, metadata=metadata)


def _remedy(node: str, reported: Collection[str]) -> str:
    """Return what to change when an answer for a node has changed.

    Args:
        node: The node; empty if the answer is about all nodes.
        reported: The nodes that the plugin has reported.
    """
    if reported and not node:
        names = ", ".join(f"'{name}'" for name in sorted(reported))
        return (
            f"the callback of on_change has called Handle.changed(nodes=[{names}]), "
            "which drops the results of filter and score for these nodes only. Those "
            "of sign_pod, pre_filter and pre_score stay cached, so call "
            "Handle.changed() without nodes if they depend on the object"
        )
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
        elif isinstance(obj, Pod) and not obj.is_finished:
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
    tries_fixed=True,
    promise="callbacks of on_change do not raise, and report what they change",
    ask=_ask,
    needs_other=True,
)
