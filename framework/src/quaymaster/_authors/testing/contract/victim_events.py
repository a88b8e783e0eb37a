"""Asks whether events wake the pods that PreEnqueue holds back for their victims.

As upstream, only events of the plugin that holds back a pod open its gate: Kubernetes
v1.36, ``isPodWorthRequeuing`` in ``pkg/scheduler/backend/queue/scheduling_queue.go``.
DefaultPreemption registers the deletion of pods for this reason.
"""

import operator
from collections.abc import Sequence
from contextlib import suppress

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.changes import Step
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.slow_executor import SlowExecutor
from quaymaster._core.contract.cluster_events import QueueingHint
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.handle import Services

__all__ = ["ask_held_back"]

_CALL_SECONDS = 1.0
_ENOUGH_SECONDS = 10.0
"""Enough for all calls of a preemption, one after the other."""


class _SlowHarness(PluginHarness):
    """A harness whose background tasks take time, and which records what wakes pods."""

    is_woken: bool

    def _adapted(self, services: Services) -> Services:
        self.is_woken = False

        def delay() -> float:
            return _CALL_SECONDS

        def wake(*_what: object) -> None:
            self.is_woken = True

        executor = SlowExecutor(
            services.clock, operator.call, call_delay=delay, answer_delay=delay
        )
        return attrs.evolve(services, executor=executor, activate=wake, wake=wake)

    def evicted(self) -> Sequence[Pod]:
        """Return the pods that the cluster has deleted, or is about to delete."""
        stored = self.cluster.list(Pod).items
        kept = {pod.key for pod in stored if not pod.is_terminating}
        pods = self._informers.list(Pod)
        return [pod for pod in pods if pod.node_name and pod.key not in kept]

    def report_end(self, pod: Pod) -> None:
        """Report the deletion of a pod, as a watch does."""
        self.snapshot.remove_pod(pod)
        self._informers.remove(pod)
        self._raise_failed_callback()


def ask_held_back(subject: Subject, cluster: SmallCluster) -> None:
    """Check that a pod is woken when the victims are gone for which it is held back.

    Args:
        subject: The plugin, which has PreEnqueue and PostFilter.
        cluster: The cluster.
    """
    pod = preempting(cluster.pending[0])
    for harness in evicting_harnesses(subject, cluster, _SlowHarness):
        victims: Sequence[Pod] = ()
        # Other checks report failures.
        with harness, suppress(Exception):
            harness.start()
            victims = _evicted(harness, pod)
        if victims and not harness.is_woken and not _has_event(harness, pod, victims):
            events = Step(old=victims[-1]).events(subject.kubernetes)
            text = (
                f"pre_enqueue holds back pod '{pod.key}' until its victims are gone, "
                f"but neither event nor hint wakes it when pod '{victims[-1].key}' is "
                f"deleted ({events[0].label})"
            )
            fail("events_to_register", text, pod, cluster.nodes, victims)


def _evicted(harness: _SlowHarness, pod: Pod) -> Sequence[Pod]:
    """Evict pods for a pod; return them if PreEnqueue holds the pod back meanwhile.

    At the end, the watch has reported all deletions.
    """
    harness.put(pod)
    harness.post_filter(pod)
    is_held_back = isinstance(harness.pre_enqueue(pod), Status)
    harness.clock.advance(_ENOUGH_SECONDS)
    victims = harness.evicted() if is_held_back else ()
    # What wakes the pod before its victims are gone does not count.
    harness.is_woken = False
    for victim in victims:
        harness.report_end(victim)
    harness.clock.advance(_ENOUGH_SECONDS)
    return victims if harness.pre_enqueue(pod) is None else ()


def _has_event(harness: _SlowHarness, pod: Pod, victims: Sequence[Pod]) -> bool:
    return any(
        harness.hint(pod, event, old=victim) is QueueingHint.QUEUE
        for victim in victims
        for event in Step(old=victim).events(harness.handle.kubernetes)
    )
