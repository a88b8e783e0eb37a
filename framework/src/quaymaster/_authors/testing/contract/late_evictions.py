"""Asks whether evictions in the background come late, or fail, without harm."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import evicting_harnesses
from quaymaster._authors.testing.contract.held_executor import HeldExecutor
from quaymaster._authors.testing.contract.preemptions import (
    evicted,
    listed,
    try_post_filter,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault, FaultyCluster
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.engine.handle import Services

__all__ = ["ask_late_evictions"]

_SECONDS: Final = 240
"""Less than the five minutes after which the queue tries each pod again."""


class _LateHarness(PluginHarness):
    """A harness whose tasks can wait or fail, and which records what wakes pods."""

    executor: HeldExecutor
    calls: FaultyCluster
    is_woken: bool

    def _adapted(self, services: Services) -> Services:
        self.executor = HeldExecutor()
        self.calls = FaultyCluster(services.cluster, clock=services.clock, rates={})
        self.is_woken = False

        def wake(*_what: object) -> None:
            self.is_woken = True

        return attrs.evolve(
            services,
            executor=self.executor,
            cluster=self.calls,
            activate=wake,
            wake=wake,
        )


def ask_late_evictions(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Replace all running pods before the evictions run, and let evictions fail.

    Args:
        subject: The plugin.
        cluster: The cluster.
        pod: A pod for which the plugin evicts others.
    """
    for harness in evicting_harnesses(subject, cluster, _LateHarness):
        with harness:
            _ask_replaced(subject, harness, cluster, pod)
    for harness in evicting_harnesses(subject, cluster, _LateHarness):
        with harness:
            _ask_failed(subject, harness, cluster, pod)


def _ask_replaced(
    subject: Subject, harness: _LateHarness, cluster: SmallCluster, pod: Pod
) -> None:
    with suppress(Exception):
        harness.start()
    harness.executor.is_holding = True
    try_post_filter(harness, pod)
    if not harness.executor.has_tasks:
        return
    subject.exercised["evictions that come late"] += 1
    for old in cluster.pods:
        uid = make_uid(Pod, f"{old.name}-successor", old.namespace)
        with suppress(NotFoundError):
            harness.cluster.delete(Pod, old.key, grace_period_seconds=0)
        metadata = replace(old.metadata, uid=uid)
        harness.cluster.load([replace(old, metadata=metadata)])
    before = evicted(harness, cluster)
    # Other checks report failures.
    with suppress(Exception):
        harness.executor.release()
    keys = [key for key in evicted(harness, cluster) if key not in before]
    if keys:
        text = (
            f"evicts {listed(keys)}, which was created again under its name before "
            "the task ran, so that another pod is evicted than was chosen: pass the "
            "uid of the victim, as in handle.cluster.delete(Pod, pod.key, "
            "uid=pod.uid), or use preemption.Evictions"
        )
        fail("post_filter", text, pod, _pods(cluster, keys))


def _ask_failed(
    subject: Subject, harness: _LateHarness, cluster: SmallCluster, pod: Pod
) -> None:
    with suppress(Exception):
        harness.start()
    before = evicted(harness, cluster)
    harness.executor.is_holding = True
    result = try_post_filter(harness, pod)
    harness.is_woken = False
    harness.calls.set_rates({Fault.ERROR: 1.0})
    # Other checks report tasks that raise.
    with suppress(Exception):
        harness.executor.release()
    harness.calls.set_rates({})
    nominating = result.nominating if result is not None else None
    if nominating is None or not nominating.node_name:
        return
    if not harness.calls.counts[Fault.ERROR]:
        return
    subject.exercised["evictions that fail once"] += 1
    with suppress(Exception):
        harness.clock.advance(_SECONDS)
    if harness.is_woken or len(evicted(harness, cluster)) > len(before):
        return
    text = (
        f"once its evictions for pod '{pod.key}' have failed, it neither repeats them "
        f"nor wakes the pod, which no event does either, and node "
        f"'{nominating.node_name}' keeps room for it: catch ApiError in the "
        "task, and call handle.activate([pod]) in done of run_in_background, or use "
        "preemption.Evictions"
    )
    fail("post_filter", text, pod, cluster.nodes, cluster.pods)


def _pods(cluster: SmallCluster, keys: Sequence[str]) -> Sequence[Pod]:
    return [pod for pod in cluster.pods if pod.key in keys]
