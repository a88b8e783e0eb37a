"""A check: the objects that a plugin has created for a pod go with the pod."""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    collect_garbage,
    delete_pod,
    settle,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import written_objects
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["LEFT_OBJECTS"]

_PODS: Final = 2
"""One object of the first pod may be for all that follow; so the second counts, too."""

_SECONDS: Final = 3601
"""Enough for timers that run each hour."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for act in acts_of(subject):
            left = _left(Bench(subject, cluster), act, pod, is_restarted=False)
            if left:
                text = (
                    "leaves an object for each pod once the pods are deleted: let the "
                    "pod own it (owner_references in its metadata), so that the "
                    "cluster deletes it with the pod, or delete it when on_change "
                    "reports that the pod is gone"
                )
                fail(act.hook, text, left)
            left = _left(Bench(subject, cluster), act, pod, is_restarted=True)
            if left:
                text = (
                    "leaves an object for each pod that is deleted while no scheduler "
                    "runs: let the pod own it (owner_references in its metadata), or "
                    "look for such objects in start"
                )
                fail(act.hook, text, left)


def _left(
    bench: Bench, act: Act, pod: Pod, *, is_restarted: bool
) -> Sequence[ApiObject]:
    """Return what is left of pods that are gone, if each of them has left something.

    Args:
        bench: The plugin and its cluster.
        act: How the plugin writes.
        pod: The model of the pods.
        is_restarted: Whether each pod is deleted while no instance runs.
    """
    before = written_objects(bench)
    left: list[ApiObject] = []
    for copy in copies_of(pod, _PODS):
        bench.add(copy)
        act.play(bench, copy)
        if is_restarted:
            bench.handle.retire()
        delete_pod(bench, copy)
        settle(bench)
        collect_garbage(bench, copy, before)
        if is_restarted:
            bench = bench.renewed()
        bench.advance(_SECONDS)
        settle(bench)
        after = written_objects(bench)
        new = [obj for key, obj in after.items() if key not in before]
        if not new:
            return ()
        left, before = new, after
    return left


LEFT_OBJECTS: Final = Check(
    name="left objects",
    promise="the objects that it has created for a pod are deleted with the pod",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
