"""The ProvisioningRequests of a cluster: their states, their pods, what they book.

Mirrors ``processors/provreq`` and ``provisioningrequest/conditions``.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.autoscaling.cluster_autoscaler.events import NORMAL, Report
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.lookups import FindFn
from quaymaster._studies.autoscaling.cluster_autoscaler.object_conditions import (
    Condition,
    condition_at,
    condition_of,
    is_true,
    with_condition,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.request_objects import (
    ACCEPTED,
    BOOKING_EXPIRED,
    FAILED,
    PROVISIONED,
    ProvisioningRequest,
    checks_capacity,
    is_supported,
    request_name,
    request_pods,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["Requests"]

_BOOKED_SECONDS: Final = 600.0
_WEEK_SECONDS: Final = 7 * 86_400.0
_MOST_UPDATES: Final = 20
_MOST_EVENTS: Final = 50
_FLAG: Final = "--enable-provisioning-requests"


class Requests:
    """The ProvisioningRequests of a cluster.

    Args:
        cluster: The cluster.
        trial: The cluster as the autoscaler tries changes on it.
        options: The options of the autoscaler.
        find: Returns an object by kind and key, or None.
        report: Writes events.

    Attributes:
        processed_at: When one was last accepted, failed or checked, in seconds since
            the epoch. The next loop follows at once.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        trial: TrialCluster,
        options: ClusterAutoscalerOptions,
        find: FindFn,
        report: Report,
    ) -> None:
        self._cluster = cluster
        self._trial = trial
        self._options = options
        self._find = find
        self._report = report
        self._placing = HintedPlacing(trial)
        self._backoff: dict[str, float] = {}
        self.processed_at = float("-inf")

    @property
    def is_enabled(self) -> bool:
        """Whether requests are handled at all."""
        return self._options.enable_provisioning_requests

    @property
    def has_batches(self) -> bool:
        """Whether several requests are checked in one loop."""
        options = self._options
        most = options.check_capacity_provisioning_request_max_batch_size
        return options.check_capacity_batch_processing and most > 1

    @property
    def are_open(self) -> bool:
        """Whether time alone may change a request."""
        return self.is_enabled and any(not _is_over(each) for each in self._all())

    def states(self) -> object:
        """Return a value that changes when a request gets another state."""
        return [
            (
                each.uid,
                [
                    (condition.type, condition.status)
                    for condition in each.status.conditions
                ],
            )
            for each in self._all()
        ]

    def refresh(self, now: float) -> None:
        """End bookings and requests whose time is over; called before each loop."""
        if not self.is_enabled:
            return
        going_on = [each for each in self._supported() if not _is_over(each)]
        expired = [each for each in going_on if _end_of_booking(each) < now]
        failed = [
            each
            for each in going_on
            if not is_true(each.status.conditions, PROVISIONED)
            and _created(each) + _WEEK_SECONDS < now
        ]
        expired = expired[:_MOST_UPDATES]
        failed = failed[: _MOST_UPDATES - len(expired)]
        for request in expired:
            text = "Capacity reservation time is expired"
            reason = "CapacityReservationTimeExpired"
            self.note(request, BOOKING_EXPIRED, "True", reason, text, now)
        for request in failed:
            text = "ProvisioningRequest is expired"
            self.note(request, FAILED, "True", "Expired", text, now)
        self._delete_old(now)

    def consumers(self, pods: Iterable[Pod]) -> tuple[list[Pod], list[Pod]]:
        """Split pods into those that use the capacity of a request, and all others.

        No group grows for the former.
        """
        own: list[Pod] = []
        others: list[Pod] = []
        for pod in pods:
            (others if request_name(pod) is None else own).append(pod)
        for pod in own[:_MOST_EVENTS]:
            text = (
                "Unschedulable pod didn't trigger scale-up, because it's consuming "
                f"ProvisioningRequest {pod.namespace}/{request_name(pod)}"
            )
            self._report(NORMAL, "", text, pod)
        return own, others

    def next_pods(self, now: float) -> Sequence[Pod]:
        """Return the virtual pods of the request whose turn it is, and accept it."""
        for request, pods in self._available(now):
            is_batch = self._options.check_capacity_batch_processing
            if not (is_batch and self.checks(request)):
                self.accept(request, now)
            self.processed_at = now
            return pods
        return ()

    def batch(self, now: float) -> Iterator[tuple[ProvisioningRequest, Sequence[Pod]]]:
        """Yield the requests to check together, each with its virtual pods."""
        most = self._options.check_capacity_provisioning_request_max_batch_size
        for request, pods in self._available(now, only_checks=True):
            if most <= 0:
                return
            most -= 1
            yield request, pods

    def book(self, now: float) -> None:
        """Place virtual pods for the capacity that requests have booked."""
        booked = [
            request
            for request in self._supported()
            if not is_true(request.status.conditions, FAILED)
            and not is_true(request.status.conditions, BOOKING_EXPIRED)
            and is_true(request.status.conditions, PROVISIONED)
        ]
        if not booked:
            return
        running = Counter(
            f"{pod.namespace}/{request_name(pod)}"
            for node in self._trial.nodes()
            if (info := self._trial.get(node.name))
            for pod in info.pods.values()
            if request_name(pod) is not None
        )
        pods: list[Pod] = []
        for request in booked:
            templates = self._templates_of(request)
            if running[request.key] >= request.pod_count:
                text = "Capacity booking consumed: all pods scheduled"
                reason = "CapacityBookingConsumed"
                self.note(request, BOOKING_EXPIRED, "True", reason, text, now)
            elif len(templates) != len(request.spec.pod_sets):
                text = f"Couldn't create pods, err: {_missing(request, templates)}"
                self.note(request, FAILED, "True", "FailedToBookCapacity", text, now)
            else:
                pods += request_pods(request, templates)
        self._placing.place(pods, lambda _name: True)

    def of(self, pods: Sequence[Pod]) -> ProvisioningRequest | None:
        """Return the request that virtual pods belong to; None if it is gone."""
        pod = pods[0]
        key = f"{pod.namespace}/{request_name(pod)}"
        request = self._find(ProvisioningRequest, key)
        return request if isinstance(request, ProvisioningRequest) else None

    def checks(self, request: ProvisioningRequest) -> bool:
        """Return whether a request only checks for capacity."""
        instance = self._options.check_capacity_processor_instance
        return checks_capacity(request, instance)

    def accept(self, request: ProvisioningRequest, now: float) -> None:
        """Note that a request is accepted."""
        text = "ProvisioningRequest is accepted by ClusterAutoscaler"
        self.note(request, ACCEPTED, "True", ACCEPTED, text, now)

    def note(
        self,
        request: ProvisioningRequest,
        name: str,
        status: str,
        reason: str,
        message: str,
        now: float,
    ) -> None:
        """Write a condition of a request."""
        generation = request.metadata.generation
        condition = condition_at(now, name, status, reason, message, generation)
        stored = self._cluster.get(ProvisioningRequest, request.key)
        conditions = with_condition(
            stored.status.conditions, condition, keeps_time=False
        )
        self._cluster.patch_status(stored, {"conditions": conditions})

    def why_waiting(self, pod: Pod, start: float) -> str:
        """Return what a pod waits for that uses the capacity of a request.

        Args:
            pod: The pod.
            start: The beginning of the simulation, in seconds since the epoch.
        """
        key = f"{pod.namespace}/{request_name(pod)}"
        request = self._find(ProvisioningRequest, key)
        what = f"it waits for ProvisioningRequest {key}"
        if not isinstance(request, ProvisioningRequest):
            return f"{what}, which does not exist"
        return f"{what}, {self._state_of(request, start)}"

    def notices(self) -> Iterator[Notice]:
        """Yield which requests have no capacity, and why."""
        for request in self._all():
            if text := self._why_without_capacity(request):
                yield Notice(
                    reason=NoticeReason.UNFOLLOWED_KINDS,
                    where=f"{request.kind} {request.key}",
                    message=text,
                )

    def _why_without_capacity(self, request: ProvisioningRequest) -> str:
        instance = self._options.check_capacity_processor_instance
        if not self.is_enabled:
            return f"it has no effect without the flag {_FLAG} of the autoscaler"
        if not is_supported(request, instance):
            name = request.spec.provisioning_class_name
            return f"the autoscaler does not handle its provisioning class {name!r}"
        for name, status in ((FAILED, "True"), (PROVISIONED, "False")):
            condition = condition_of(request.status.conditions, name)
            if condition is not None and condition.status == status:
                return f"it has no capacity: {condition.message}"
        return ""

    def _state_of(self, request: ProvisioningRequest, start: float) -> str:
        """Return the state of a request, as the end of a sentence."""
        instance = self._options.check_capacity_processor_instance
        conditions = request.status.conditions
        if not is_supported(request, instance):
            return "whose provisioning class the autoscaler does not handle"
        for name in (FAILED, BOOKING_EXPIRED):
            condition = condition_of(conditions, name)
            if condition is not None and condition.status == "True":
                return f"which has ended: {condition.message}"
        provisioned = condition_of(conditions, PROVISIONED)
        if provisioned is None:
            return "which the autoscaler has not processed yet"
        moment = _since(provisioned) - start
        if provisioned.status == "True":
            until = format_duration(timedelta(seconds=moment + _BOOKED_SECONDS))
            return f"whose capacity is booked until {until}"
        retry = moment + self._retry_seconds(request)
        after = format_duration(timedelta(seconds=retry))
        return f"which has no capacity; the autoscaler tries again after {after}"

    def _available(
        self, now: float, *, only_checks: bool = False
    ) -> Iterator[tuple[ProvisioningRequest, Sequence[Pod]]]:
        """Yield the requests that may be provisioned now, with their pods."""
        for request in self._supported():
            if only_checks and not self.checks(request):
                continue
            if not self._is_available(request, now):
                continue
            templates = self._templates_of(request)
            if len(templates) != len(request.spec.pod_sets):
                text = _missing(request, templates)
                self.note(request, FAILED, "True", "FailedToCreatePods", text, now)
                self.processed_at = now
                continue
            yield request, request_pods(request, templates)

    def _is_available(self, request: ProvisioningRequest, now: float) -> bool:
        """Return whether a request waits, and was not tried a moment ago."""
        conditions = request.status.conditions
        provisioned = condition_of(conditions, PROVISIONED)
        if is_true(conditions, FAILED) or is_true(conditions, PROVISIONED):
            self._backoff.pop(request.uid, None)
            return False
        if provisioned is None:
            return True
        retry = self._retry_seconds(request)
        if provisioned.status != "False" or _since(provisioned) + retry >= now:
            return False
        longest = self._options.provisioning_request_max_backoff_time
        self._backoff[request.uid] = min(2 * retry, longest)
        return True

    def _retry_seconds(self, request: ProvisioningRequest) -> float:
        first = self._options.provisioning_request_initial_backoff_time
        return self._backoff.get(request.uid, first)

    def _all(self) -> Sequence[ProvisioningRequest]:
        return self._cluster.list(ProvisioningRequest).items

    def _supported(self) -> list[ProvisioningRequest]:
        """Return the requests to handle, oldest first; upstream's order is chance."""
        instance = self._options.check_capacity_processor_instance
        requests = [each for each in self._all() if is_supported(each, instance)]
        return sorted(requests, key=lambda each: (_created(each), each.key))

    def _templates_of(self, request: ProvisioningRequest) -> list[PodTemplate]:
        names = [each.pod_template_ref.name for each in request.spec.pod_sets]
        templates = [
            self._find(PodTemplate, f"{request.namespace}/{name}") for name in names
        ]
        return [each for each in templates if isinstance(each, PodTemplate)]

    def _delete_old(self, now: float) -> None:
        """Delete the requests that ended a week ago."""
        for request in self._all():
            ends = [
                _since(condition)
                for name in (PROVISIONED, FAILED)
                if (condition := condition_of(request.status.conditions, name))
            ]
            if ends and min(ends) + _WEEK_SECONDS < now:
                self._cluster.delete(ProvisioningRequest, request.key)


def _is_over(request: ProvisioningRequest) -> bool:
    conditions = request.status.conditions
    return is_true(conditions, FAILED) or is_true(conditions, BOOKING_EXPIRED)


def _end_of_booking(request: ProvisioningRequest) -> float:
    """Return when a booking ends; infinity without one."""
    provisioned = condition_of(request.status.conditions, PROVISIONED)
    if provisioned is None or provisioned.status != "True":
        return math.inf
    return _since(provisioned) + _BOOKED_SECONDS


def _since(condition: Condition) -> float:
    moment = condition.last_transition_time
    return 0.0 if moment is None else float(moment)


def _created(request: ProvisioningRequest) -> float:
    moment = request.metadata.creation_timestamp
    return 0.0 if moment is None else float(moment)


def _missing(request: ProvisioningRequest, templates: Sequence[PodTemplate]) -> str:
    """Return which templates of a request are missing."""
    present = {template.name for template in templates}
    names = [each.pod_template_ref.name for each in request.spec.pod_sets]
    missing = [name for name in names if name not in present]
    return (
        f"missing pod templates, {len(names)} pod templates were referenced, "
        f"{len(missing)} templates were missing: {','.join(missing)}"
    )
