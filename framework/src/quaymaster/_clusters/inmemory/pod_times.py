"""How long pods need to start and to end.

The checks of probes are those of kubelets (Kubernetes v1.37,
``pkg/kubelet/prober/worker.go``).
"""

import math
from collections.abc import Iterator
from typing import Final

import attrs

from quaymaster._api.objects import Container, Pod, PodSpec, Probe
from quaymaster._api.objects.spec_key import SpecKey
from quaymaster._clusters.inmemory.durations import (
    RUN_SECONDS_ANNOTATION,
    startup_seconds,
    termination_seconds,
)

__all__ = ["DEFAULT_POD_TIMES", "INSTANT_POD_TIMES", "PodTimes", "chosen_times"]


@attrs.frozen(kw_only=True)
class PodTimes:
    """How long the pods of a simulated cluster need to start and to end.

    A pod is ready when its start-up time is over and all of its probes have succeeded.
    Its annotations override these times.

    Attributes:
        startup_seconds: The start-up time of pods that no controller replaces: pods
            without an owner, pods of Jobs, and pods that end by themselves.
        workload_startup_seconds: The start-up time of all other pods.
        termination_seconds: How long a deleted pod needs to end, if its grace period is
            longer; None for all of its grace period.
        pull_bytes_per_second: How fast nodes pull images that they lack, one after
            another; None if pulls take no time.
    """

    startup_seconds: float = 0.0
    workload_startup_seconds: float = 0.0
    termination_seconds: float | None = None
    pull_bytes_per_second: float | None = None

    def until_ready(self, pod: Pod) -> float:
        """Return the seconds from the binding of a pod until it is ready.

        The time of a pod that never becomes ready is infinite.
        """
        startup = self._startup_of(pod)
        probed = _PROBED.of(pod)
        return _ready_after(probed, startup) if probed else startup

    def until_ended(self, pod: Pod, grace_seconds: float) -> float:
        """Return the seconds from the deletion of a running pod to its end.

        Args:
            pod: The pod.
            grace_seconds: Its grace period, which is the longest time.
        """
        seconds = None
        if pod.metadata.annotations:
            seconds = termination_seconds(pod.metadata.annotations)
        if seconds is None:
            seconds = self.termination_seconds
        if seconds is None:
            return grace_seconds
        # The hook runs before the signal to end, within the same grace period.
        return min(seconds + _PRE_STOP.of(pod), grace_seconds)

    def _startup_of(self, pod: Pod) -> float:
        metadata = pod.metadata
        # Most pods have no annotations, and this runs at each bind.
        if metadata.annotations:
            seconds = startup_seconds(metadata.annotations)
            if seconds is not None:
                return seconds
            if RUN_SECONDS_ANNOTATION in metadata.annotations:
                return self.startup_seconds
        if metadata.owner_references:
            owner = metadata.controller
            if owner is not None and owner.kind != "Job":
                return self.workload_startup_seconds
        return self.startup_seconds


INSTANT_POD_TIMES: Final = PodTimes()
"""Pods start at once, unless their probes or annotations delay them."""

DEFAULT_POD_TIMES: Final = PodTimes(workload_startup_seconds=5.0)
"""The times of simulations whose caller chooses none."""


def chosen_times(
    startup_seconds: float | None,
    termination_seconds: float | None,
    pull_bytes_per_second: float | None = None,
) -> PodTimes:
    """Return the times that a user has chosen, and defaults for those that are None.

    Args:
        startup_seconds: The start-up time of all pods.
        termination_seconds: How long deleted pods need to end.
        pull_bytes_per_second: How fast nodes pull images.
    """
    times = attrs.evolve(
        DEFAULT_POD_TIMES,
        termination_seconds=termination_seconds,
        pull_bytes_per_second=pull_bytes_per_second,
    )
    if startup_seconds is None:
        return times
    return attrs.evolve(
        times,
        startup_seconds=startup_seconds,
        workload_startup_seconds=startup_seconds,
    )


def _probed_containers(spec: PodSpec) -> tuple[Container, ...]:
    """Return the containers whose probes must succeed, in the order of their start."""
    # Init containers that end are over before these times begin, as the start-up time
    # includes them.
    running = (c for c in spec.init_containers if c.is_sidecar)
    return tuple(
        container
        for container in (*running, *spec.containers)
        if container.startup_probe is not None or container.readiness_probe is not None
    )


def _pre_stop_seconds(spec: PodSpec) -> float:
    """Return the longest sleep of the hooks that delay the end of the containers."""
    return max(map(float, _sleeps(spec)), default=0.0)


def _sleeps(spec: PodSpec) -> Iterator[int]:
    for container in spec.containers:
        hook = container.lifecycle and container.lifecycle.pre_stop
        if hook and hook.sleep:
            yield hook.sleep.seconds


_PROBED: Final = SpecKey(_probed_containers)
_PRE_STOP: Final = SpecKey(_pre_stop_seconds)


def _ready_after(containers: tuple[Container, ...], startup: float) -> float:
    """Return when the last container is ready.

    A sidecar with a startup probe delays the containers that start after it.
    """
    begin = ready = 0.0
    for container in containers:
        started = begin
        if container.startup_probe is not None:
            started = begin + _started_after(container.startup_probe, startup)
        probe = container.readiness_probe
        if probe is None:
            ready = max(ready, started, begin + startup)
        elif started - begin > probe.initial_delay_seconds:
            # A kubelet checks readiness as soon as the startup probe has succeeded.
            ready = max(ready, started + (probe.successes - 1) * probe.period)
        else:
            ready = max(ready, begin + _succeeds_after(probe, startup))
        if container.is_sidecar:
            begin = started
    return ready


def _started_after(probe: Probe, startup: float) -> float:
    """Return when a startup probe succeeds; never if it gives up before."""
    # The last check before the kubelet restarts the container, after
    # ``failureThreshold`` failures.
    last = probe.initial_delay_seconds + (probe.failures - 1) * probe.period
    seconds = _succeeds_after(probe, startup)
    return seconds if seconds <= last else math.inf


def _succeeds_after(probe: Probe, able: float) -> float:
    """Return when a probe has succeeded often enough.

    Args:
        probe: The probe; its first check is at the end of its initial delay.
        able: When the container begins to answer.
    """
    if math.isinf(able):
        return math.inf
    # Checks happen at fixed times only, so a container is found ready at the next of
    # them.
    failed = max(0, math.ceil((able - probe.initial_delay_seconds) / probe.period))
    checks = failed + probe.successes - 1
    return float(probe.initial_delay_seconds + checks * probe.period)
