"""A check: pods of one signature get the same answers."""

import itertools
from collections.abc import Iterator

import attrs
from msgspec.structs import fields, replace

from quaymaster._api.objects import Pod, PodSpec
from quaymaster._authors.testing.contract.answers import Answers, answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.moved_values import with_moved_values
from quaymaster._authors.testing.contract.near_numbers import near_pods
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["SIGNATURE"]


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        fragment = bench.ask("sign_pod", pod)
        twin = _renamed(pod)
        if bench.ask("sign_pod", twin) != fragment:
            fail("sign_pod", "another name gives another fragment", pod, twin)
    first_of: dict[object, Pod] = {}
    answers_of: dict[object, Answers] = {}
    for pod in _variants(cluster):
        fragment = bench.ask("sign_pod", pod)
        if fragment is None:
            continue
        first = first_of.setdefault(fragment, pod)
        if first is pod:  # Identity: most variants have a fragment of their own.
            continue
        if fragment not in answers_of:
            answers_of[fragment] = _remembered(bench, first)
        changed = difference(_remembered(bench, pod), answers_of[fragment])
        if changed is not None:
            text = (
                f"equal fragments for pods that differ: {changed.hook} gives "
                f"{changed}; sign_pod must return all that the hooks read of a pod"
            )
            fail("sign_pod", text, pod, first, cluster.nodes)


def _remembered(bench: Bench, pod: Pod) -> Answers:
    return attrs.evolve(answers(bench, pod), pre_enqueue=None)


def _renamed(pod: Pod) -> Pod:
    metadata = replace(pod.metadata, name=f"{pod.name}-again", uid=f"{pod.uid}-again")
    return replace(pod, metadata=metadata)


def _variants(cluster: SmallCluster) -> Iterator[Pod]:
    """Yield the pods, and each of them with one part of the next one, or one number.

    Values of other pods are moved to neighbouring fields, too.
    """
    yield from cluster.pending
    for pod, other in itertools.pairwise(cluster.pending):
        for part in ("labels", "annotations"):
            swapped = {part: getattr(other.metadata, part)}
            yield replace(pod, metadata=replace(pod.metadata, **swapped))
        for field in fields(PodSpec):
            value = getattr(other.spec, field.name)
            if value != getattr(pod.spec, field.name):
                yield replace(pod, spec=replace(pod.spec, **{field.name: value}))
    for pod in cluster.pending:
        yield from near_pods(pod, cluster.nodes)
        yield from with_moved_values(pod, cluster.pending)


SIGNATURE = Check(
    name="signature",
    promise="pods with equal fragments get equal answers; names do not matter",
    ask=_ask,
    hooks=frozenset({"sign_pod"}),
)
