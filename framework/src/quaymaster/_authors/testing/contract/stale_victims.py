"""Asks whether PostFilter chooses victims by what running pods say now."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.preemptions import (
    evicted,
    listed,
    start_and_preempt,
    try_post_filter,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import copy_of, copy_on
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["ask_stale_victims"]

_Texts: TypeAlias = tuple[Mapping[str, str], Mapping[str, str]]
"""The labels and the annotations of a pod."""

_NODES: Final = ("n0", "n1")
_PLACES: Final = ("a", "b")


def ask_stale_victims(
    subject: Subject, cluster: SmallCluster, other: SmallCluster
) -> None:
    """Preempt, change what running pods say, and preempt for another pod.

    On one of two equal nodes, a pod has other labels and annotations than all others;
    then one on the other node has.

    Args:
        subject: The plugin.
        cluster: The cluster of a node, a running pod, and the pods that wait.
        other: A cluster with more labels and annotations.
    """
    if not cluster.pods or not cluster.pending:
        return
    texts: list[_Texts] = []
    for each in (*cluster.pods, *other.pods, *cluster.pending):
        pair = each.metadata.labels, each.metadata.annotations
        if pair not in texts:
            texts.append(pair)
    for rare, rest in (texts[:2], texts[1::-1]) if len(texts) > 1 else ():
        before = _placed(cluster, [rare, rest, rest, rest])
        after = _placed(cluster, [rest, rest, rare, rest])
        _compare(subject, before, after)


def _compare(subject: Subject, before: SmallCluster, after: SmallCluster) -> None:
    stale = [*_victims(subject, before, after)]
    fresh = [*_victims(subject, after, after)]
    subject.exercised["preemptions after running pods have changed"] += len(fresh)
    if stale == fresh:
        return
    unchanged = [*_victims(subject, before, before)]
    for keys, expected, earlier in zip(stale, fresh, unchanged, strict=True):
        if keys != expected and keys == earlier:
            text = (
                f"evicts {listed(keys) or 'no pod'} once running pods have other "
                "labels and annotations, also new pods of the same names, expected "
                f"{listed(expected) or 'no pod'} as from a new instance: it keeps what "
                "pods have said before; read it from the pods that the hook gets"
            )
            fail("post_filter", text, after.nodes, after.pods)


def _victims(
    subject: Subject, before: SmallCluster, after: SmallCluster
) -> Iterator[Sequence[str]]:
    """Yield the pods that the plugin evicts for a second pod, after a change."""
    pod = preempting(before.pending[0])
    for harness in evicting_harnesses(subject, before, PluginHarness):
        with harness:
            _, keys = start_and_preempt(harness, before, pod)
            for old, new in zip(before.pods, after.pods, strict=True):
                _change(harness, old, new, is_evicted=old.key in keys)
            try_post_filter(harness, _named(pod, f"{pod.name}-second"))
            yield sorted(evicted(harness, after))


def _change(harness: PluginHarness, old: Pod, new: Pod, *, is_evicted: bool) -> None:
    """Change a running pod, or replace one that was evicted."""
    # Other checks report failures of callbacks.
    with suppress(Exception):
        if is_evicted:
            with suppress(NotFoundError):
                harness.cluster.delete(Pod, old.key, grace_period_seconds=0)
            harness.cluster.load([old])
            harness.remove(old)
            uid = make_uid(Pod, f"{new.name}-successor", new.namespace)
            new = replace(new, metadata=replace(new.metadata, uid=uid))
        harness.put(new)


def _placed(cluster: SmallCluster, texts: Sequence[_Texts]) -> SmallCluster:
    """Return two equal nodes with two pods each, which have these texts."""
    model = cluster.pods[0]
    node = next(each for each in cluster.nodes if each.name == model.node_name)
    nodes = tuple(copy_of(node, name) for name in _NODES)
    places = [(each, place) for each in nodes for place in _PLACES]
    pods: list[Pod] = []
    for (each, place), (labels, annotations) in zip(places, texts, strict=True):
        pod = copy_on(_named(model, place), each)
        metadata = replace(pod.metadata, labels=labels, annotations=annotations)
        pods.append(replace(pod, metadata=metadata))
    return attrs.evolve(cluster, nodes=nodes, pods=tuple(pods))


def _named(pod: Pod, name: str) -> Pod:
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))
