"""Finds capacity for ProvisioningRequests: by a check, or by one scale-up for all.

Mirrors ``provisioningrequest/checkcapacity`` and
``provisioningrequest/besteffortatomic``.
"""

from collections.abc import Callable, Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    FAILED,
    PROVISIONED,
    ProvisioningRequest,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.requests import Requests
from quaymaster._studies.autoscaling.cluster_autoscaler.scale_up import (
    ScaleUp,
    ScaleUpOutcome,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["Provisioning"]

_FOUND: Final = ("CapacityIsFound", "Capacity is found in the cluster")
_PROVISIONED: Final = ("CapacityIsProvisioned", "Capacity is found in the cluster")
_NOT_FOUND: Final = (
    "CapacityIsNotFound",
    "Capacity is not found, CA will try to find it later.",
)
_NEVER_FOUND: Final = ("CapacityIsNotFound", "CA could not find requested capacity")
_NO_RETRY: Final = "noRetry"

GrowFn = Callable[[Sequence[Pod]], ScaleUp]
"""Grows one set of groups for all of some pods, or none."""


class Provisioning:
    """Finds capacity for requests.

    Args:
        trial: The cluster.
        requests: The requests.
    """

    def __init__(self, trial: TrialCluster, requests: Requests) -> None:
        self._trial = trial
        self._requests = requests
        self._placing = HintedPlacing(trial)

    def provision(self, pods: Sequence[Pod], now: float, grow: GrowFn) -> ScaleUp:
        """Find capacity for the request that some virtual pods belong to.

        Args:
            pods: The virtual pods.
            now: The time, in seconds since the epoch.
            grow: Grows groups for all of some pods, or does nothing.

        Returns:
            What was found; successful also if a check has found capacity.
        """
        request = self._requests.of(pods)
        if request is None:
            return ScaleUp(outcome=ScaleUpOutcome.NO_OPTIONS)
        with self._trial.fork():
            if self._requests.checks(request):
                return self._check_all(request, pods, now)
            return self._scale_up(request, pods, now, grow)

    def _check_all(
        self, request: ProvisioningRequest, pods: Sequence[Pod], now: float
    ) -> ScaleUp:
        """Check one request, or several if that is enabled."""
        batch = [(request, pods)]
        if self._requests.has_batches:
            batch = [*self._requests.batch(now)]
            self._requests.processed_at = now
        outcome = ScaleUpOutcome.NO_OPTIONS
        for each, own in batch:
            self._requests.accept(each, now)
            if self._check(each, own, now):
                outcome = ScaleUpOutcome.SUCCESSFUL
        return ScaleUp(outcome=outcome)

    def _check(
        self, request: ProvisioningRequest, pods: Sequence[Pod], now: float
    ) -> bool:
        """Check whether all pods fit now; they stay placed for the other requests."""
        with self._trial.fork() as fork:
            placed = self._placing.place(pods, lambda _name: True, all_or_nothing=True)
            has_room = len(placed) == len(pods)
            if has_room:
                fork.keep()
        if has_room:
            self._requests.note(request, PROVISIONED, "True", *_FOUND, now)
        elif request.spec.parameters.get(_NO_RETRY) == "true":
            self._requests.note(request, FAILED, "True", *_NEVER_FOUND, now)
        else:
            self._requests.note(request, PROVISIONED, "False", *_NOT_FOUND, now)
        return has_room

    def _scale_up(
        self,
        request: ProvisioningRequest,
        pods: Sequence[Pod],
        now: float,
        grow: GrowFn,
    ) -> ScaleUp:
        """Grow groups for all pods that do not fit yet, or for none."""
        placed = self._placing.place(pods, lambda _name: True)
        left = [pod for pod in pods if pod.uid not in placed]
        if not left:
            self._requests.note(request, PROVISIONED, "True", *_FOUND, now)
            return ScaleUp(outcome=ScaleUpOutcome.NO_OPTIONS)
        plan = grow(left)
        if plan.outcome is ScaleUpOutcome.SUCCESSFUL:
            self._requests.note(request, PROVISIONED, "True", *_PROVISIONED, now)
        else:
            self._requests.note(request, PROVISIONED, "False", *_NOT_FOUND, now)
        return plan
