"""Runs PreBind again for a pod whose attempt has failed after it."""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    open_nodes,
    written_objects,
)
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.pre_bind_written import (
    Earlier,
    ask_written,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.status import Status

__all__ = ["ask_again"]

_ATTEMPTS: Final = 3
"""A plugin may need one to remove what an earlier attempt has left."""


@attrs.frozen
class _Start:
    """How the first attempt of a pod ends.

    Attributes:
        what: What has happened, after "once".
        play: Plays it; returns a bench for the next attempts, or None if PreBind does
            nothing.
        uid_of: Returns the uid of the pod of the first attempt.
    """

    what: str
    play: Callable[[Bench, Pod, str], Bench | None]
    uid_of: Callable[[Pod], str] = attrgetter("uid")


def ask_again(subject: Subject, cluster: SmallCluster) -> None:
    """Check that PreBind succeeds again, on the same node and on another one.

    Raises:
        Finding: It fails each time, each attempt leaves another object, or it leaves
            objects of another node or pod.
    """
    for pod in cluster.pending:
        nodes = open_nodes(Bench(subject, cluster), pod)[:2]
        for start in _STARTS if nodes else ():
            for node_name in nodes:
                bench = start.play(Bench(subject, cluster), pod, nodes[0])
                if bench is None:
                    break
                earlier = Earlier(
                    nodes[0], start.uid_of(pod), _when(start, nodes, node_name)
                )
                if _try_again(bench, pod, node_name, earlier.when):
                    make_bench = partial(Bench, subject, cluster)
                    ask_written(bench, pod, node_name, earlier, make_bench)
        if nodes:
            _count(Bench(subject, cluster), pod, nodes[0])


def _count(bench: Bench, pod: Pod, node_name: str) -> None:
    """Check that an attempt that fails leaves no more than the one before."""
    counts: list[int] = []
    for _ in range(_ATTEMPTS):
        run = begin(bench, pod, node_name)
        if run is None:
            return
        run.pre_bind()
        run.give_up()
        counts.append(len(written_objects(bench)))
    if len(set(counts)) == _ATTEMPTS and counts == sorted(counts):
        text = (
            f"leaves one more object with each attempt: {counts} after {_ATTEMPTS} "
            "attempts whose binds have failed: give the objects of a pod names that "
            "follow from the pod, or delete them in unreserve"
        )
        fail("pre_bind", text, pod, written_objects(bench).values())


def _when(start: _Start, nodes: Sequence[str], node_name: str) -> str:
    place = "the same node" if node_name == nodes[0] else "another node"
    return f"for a pod on {place}, once {start.what}"


def _try_again(bench: Bench, pod: Pod, node_name: str, when: str) -> bool:
    """Run PreBind until it does not fail.

    Returns:
        Whether the pod may be bound, and the plugin accepts the node.
    """
    answer: object = None
    for _ in range(_ATTEMPTS):
        is_accepted = node_name in open_nodes(bench, pod)
        run = begin(bench, pod, node_name)
        if run is None:
            return False
        answer = run.pre_bind()
        if not isinstance(answer, Status) or not answer.is_error:
            return is_accepted and not isinstance(answer, Status)
        run.give_up()
    text = (
        f"{shown(answer)} {when}, and in each of the next attempts: pre_bind runs "
        "again for the pod, so what an earlier attempt has written may exist already, "
        "or belong to another node"
    )
    fail("pre_bind", text, pod)
    return False


def _restart(bench: Bench, pod: Pod, node_name: str) -> Bench | None:
    run = begin(bench, pod, node_name)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return None
    run.forget()
    return bench.renewed()


def _fail_bind(bench: Bench, pod: Pod, node_name: str) -> Bench | None:
    run = begin(bench, pod, node_name)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return None
    run.give_up()
    return bench


def _lose_answers(bench: Bench, pod: Pod, node_name: str) -> Bench | None:
    run = begin(bench, pod, node_name)
    if run is None:
        return None
    bench.cluster.set_rates({Fault.LOST_ANSWER: 1.0})
    run.pre_bind()
    bench.cluster.set_rates({})
    run.give_up()
    return bench if run.written else None


def _earlier_uid(pod: Pod) -> str:
    return make_uid(Pod, f"{pod.name}-earlier", pod.namespace)


def _replace(bench: Bench, pod: Pod, node_name: str) -> Bench | None:
    metadata = replace(pod.metadata, uid=_earlier_uid(pod))
    earlier = replace(pod, metadata=metadata)
    bench.add(earlier)
    run = begin(bench, earlier, node_name)
    if run is None or isinstance(run.pre_bind(), Status) or not run.written:
        return None
    run.bind()
    run.end("post_bind")
    bench.remove(run.pod)
    _collect_garbage(bench, earlier)
    run.settle()
    bench.add(pod)
    return bench


def _collect_garbage(bench: Bench, owner: Pod) -> None:
    """Delete what belongs to a pod that is gone, as a controller does."""
    for (kind, key), obj in written_objects(bench).items():
        if any(owner.uid == each.uid for each in obj.metadata.owner_references):
            bench.cluster.delete(kind, key)


_STARTS: Final = (
    _Start("the scheduler was restarted before the bind", _restart),
    _Start("its bind has failed", _fail_bind),
    _Start("the answers to the writes of its pre_bind were lost", _lose_answers),
    _Start("an earlier pod of its name was deleted", _replace, _earlier_uid),
)
