"""Checks that each of several waiting pods is released once Permit lets it pass."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import (
    copies_of,
    place,
    waits_until_deadline,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.changes import Step
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.reported import apply
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject

__all__ = ["ask_company"]

_COPIES: Final = 2
_MOST_PENDING: Final = 2
_MOST_STEPS: Final = 8


def ask_company(subject: Subject, cluster: SmallCluster) -> None:
    """Let pods of several kinds wait, and let one of those change that run.

    A waiting pod that a new instance would let pass, after the ones before it, has to
    be released before its deadline: by the change itself, or by a timer. An update
    counts if it gives back what the deletion of its pod would give back.
    """
    bench = _prepared(subject, cluster)
    if not len(bench.room.pods) or bench.cluster.is_used:
        return  # what the plugin has written is not in the other cluster
    for step in islice(_steps(bench, cluster), _MOST_STEPS):
        _ask_step(_prepared(subject, cluster), cluster, step)


def _prepared(subject: Subject, cluster: SmallCluster) -> Bench:
    """Return a bench with copies of the waiting pods, which pass or wait."""
    bench = Bench(subject, cluster)
    lines = [copies_of(pod, _COPIES) for pod in cluster.pending[:_MOST_PENDING]]
    copies = [copy for turn in zip(*lines, strict=True) for copy in turn]
    for copy in copies:
        bench.add(copy)
    for copy in copies:
        place(bench, copy)
    return bench


def _steps(bench: Bench, cluster: SmallCluster) -> Iterator[Step]:
    """Yield changes of the pods that run: they end, and get the labels of others."""
    every = [pod.metadata.labels for pod in (*cluster.pods, *cluster.pending)]
    for pod in reversed(_running(bench)):
        yield Step(old=pod)
        for at, labels in enumerate(every):
            if labels != pod.metadata.labels and labels not in every[:at]:
                metadata = replace(pod.metadata, labels=labels)
                yield Step(old=pod, new=replace(pod, metadata=metadata))


def _ask_step(bench: Bench, cluster: SmallCluster, step: Step) -> None:
    waiting = [entry.pod for entry in bench.room.pods]
    apply(bench, step)
    bench.room.settle()
    stored = bench.services.informers.list(Pod)
    passing = _passing(bench.subject, cluster, stored, waiting)
    if step.new is not None:
        # Else it would have to follow the pods that become members of a group.
        others = [pod for pod in stored if pod.uid != step.new.uid]
        passing &= _passing(bench.subject, cluster, others, waiting)
    for pod in waiting:
        if bench.room.pods.get(pod.uid) is None or pod.uid not in passing:
            continue
        if waits_until_deadline(bench, pod):
            text = (
                f"lets pod '{pod.key}' wait until its timeout, although a new instance "
                f"lets it pass after {step}: look at every pod of "
                "handle.waiting_pods() again, also behind one that has to wait"
            )
            fail("permit", text, waiting, _shown(step), cluster.nodes)
        return


def _passing(
    subject: Subject, cluster: SmallCluster, stored: Sequence[Pod], tried: Sequence[Pod]
) -> set[str]:
    """Return the pods that get their nodes from a new instance: their uids.

    Args:
        subject: The plugin.
        cluster: Has the nodes and the objects.
        stored: The pods at the beginning.
        tried: The pods that are tried, one after the other.
    """
    pods = tuple(pod for pod in stored if pod.node_name)
    pending = tuple(pod for pod in stored if not pod.node_name)
    bench = Bench(subject, attrs.evolve(cluster, pods=pods, pending=pending))
    passing = set()
    for pod in tried:
        unplaced = bench.services.informers.get(Pod, pod.key)
        if unplaced is None or unplaced.node_name:
            continue
        place(bench, unplaced)
        bound = bench.services.informers.get(Pod, pod.key)
        if bound is not None and bound.node_name == pod.node_name:
            passing.add(pod.uid)
    return passing


def _running(bench: Bench) -> Sequence[Pod]:
    pods = bench.services.informers.list(Pod)
    return [pod for pod in pods if pod.node_name and not pod.is_finished]


def _shown(step: Step) -> Sequence[Pod]:
    return [pod for pod in (step.old, step.new) if isinstance(pod, Pod)]
