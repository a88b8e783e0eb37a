"""A check: pods of one signature get the same answers."""

import itertools
from collections.abc import Iterator

import attrs
from msgspec.structs import fields, replace

from quaymaster._api.objects import Pod, PodSpec
from quaymaster._authors.testing.contract.answers import Answers, answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
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
    by_fragment: dict[object, tuple[Pod, Answers]] = {}
    for pod in _variants(cluster.pending):
        fragment = bench.ask("sign_pod", pod)
        if fragment is None:
            continue
        actual = attrs.evolve(answers(bench, pod), pre_enqueue=None)
        first, expected = by_fragment.setdefault(fragment, (pod, actual))
        changed = difference(actual, expected)
        if changed is not None:
            text = f"equal fragments for pods that differ: {changed.hook} gives"
            fail("sign_pod", f"{text} {changed}", pod, first, cluster.nodes)


def _renamed(pod: Pod) -> Pod:
    metadata = replace(pod.metadata, name=f"{pod.name}-again", uid=f"{pod.uid}-again")
    return replace(pod, metadata=metadata)


def _variants(pods: tuple[Pod, ...]) -> Iterator[Pod]:
    """Yield the pods, and each of them with one part of the next one."""
    yield from pods
    for pod, other in itertools.pairwise(pods):
        metadata = replace(pod.metadata, labels=other.metadata.labels)
        yield replace(pod, metadata=metadata)
        for field in fields(PodSpec):
            part = getattr(other.spec, field.name)
            if part != getattr(pod.spec, field.name):
                yield replace(pod, spec=replace(pod.spec, **{field.name: part}))


SIGNATURE = Check(
    name="signature",
    promise="pods with equal fragments get equal answers; names do not matter",
    ask=_ask,
    hooks=frozenset({"sign_pod"}),
)
