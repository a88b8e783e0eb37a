"""A check: a new instance goes on with the objects that an earlier one has written."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.background_acts import (
    Act,
    acts_of,
    bound,
    settle,
    writes_objects,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import written_objects
from quaymaster._authors.testing.contract.changes import Step
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.handled_objects import handled
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["EARLIER_OBJECTS"]

_SECONDS: Final = 61
"""Enough for timers that run each minute."""


@attrs.frozen
class _Effects:
    """What an instance does when something changes.

    Attributes:
        wakes: The pods, or the plugin's name for all its pods, that it requeues.
        objects: The objects that are left.
    """

    wakes: Collection[str]
    objects: Mapping[tuple[type, str], ApiObject]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes:
        return
    for pod in cluster.pending[:1]:
        for act in acts_of(subject):
            bench = Bench(subject, cluster)
            before = written_objects(bench)
            act.play(bench, pod)
            after = written_objects(bench)
            written = [obj for key, obj in after.items() if obj != before.get(key)]
            if written:
                for step in _steps(bench, pod, written, cluster):
                    _ask_step(subject, cluster, act, pod, step)


def _steps(
    bench: Bench, pod: Pod, written: Sequence[ApiObject], cluster: SmallCluster
) -> Iterator[Step]:
    """Yield what may happen to a pod and to the objects that were written for it."""
    for obj in written:
        yield from (Step(old=obj, new=new) for new in handled(obj, cluster))
        yield Step(old=obj)
    stored = bench.services.informers.get(Pod, pod.key)
    if stored is not None:
        if not stored.node_name:
            yield Step(old=stored, new=bound(bench, stored))
        yield Step(old=stored)


def _ask_step(
    subject: Subject, cluster: SmallCluster, act: Act, pod: Pod, step: Step
) -> None:
    old = _effects(_played(subject, cluster, act, pod), step)
    bench = _played(subject, cluster, act, pod)
    bench.handle.retire()
    new = _effects(bench.renewed(), step)
    woken = [key for key in old.wakes if key not in new.wakes]
    if woken and subject.name not in new.wakes:
        what = f"requeues {', '.join(woken)} after {step}, but a new instance does not"
    elif old.objects != new.objects:
        what = f"writes other objects after {step} than a new instance does"
    else:
        return
    text = (
        f"{what}: an earlier instance has written this object, so after a restart "
        "nothing but the object says so. Recognise your objects by what they contain"
    )
    fail(act.hook, text, *(obj for obj in (step.old, step.new) if obj), pod)


def _played(subject: Subject, cluster: SmallCluster, act: Act, pod: Pod) -> Bench:
    bench = Bench(subject, cluster)
    act.play(bench, pod)
    subject.wakes.clear()
    return bench


def _effects(bench: Bench, step: Step) -> _Effects:
    apply(bench, step)
    settle(bench)
    bench.advance(_SECONDS)
    settle(bench)
    return _Effects(frozenset(bench.subject.wakes), written_objects(bench))


EARLIER_OBJECTS: Final = Check(
    name="earlier objects",
    promise="a new instance goes on with the objects that an earlier one has written",
    ask=_ask,
    only_for=writes_objects,
    hooks=frozenset({"post_filter", "reserve", "permit", "pre_bind", "post_bind"}),
)
