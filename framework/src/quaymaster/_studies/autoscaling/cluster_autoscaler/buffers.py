"""CapacityBuffers: what their controller decides, and what the autoscaler injects.

Mirrors ``capacitybuffer/controller/controller.go``, ``capacitybuffer/common/common.go``
and ``processors/capacitybuffer``. Upstream's controller reacts to changes of objects,
and looks at all of them every five minutes; here it looks in each loop.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

import attrs
from msgspec.structs import asdict, replace

from quaymaster._api.objects import Pod, PodTemplateSpec, ResourceQuota
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import (
    ACTIVE_CAPACITY,
    LIMITED_BY_QUOTAS,
    PROVISIONING,
    READY_FOR_PROVISIONING,
    BufferStatus,
    CapacityBuffer,
    NamedObject,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_pods import (
    buffer_pods,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_sizes import (
    BufferSizeError,
    QuotaRoom,
    buffer_size,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_workloads import (
    BufferSource,
    BufferSourceError,
    BufferSources,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.events import NORMAL, Report
from quaymaster._studies.autoscaling.cluster_autoscaler.lookups import FindFn
from quaymaster._studies.autoscaling.cluster_autoscaler.object_conditions import (
    Condition,
    condition_at,
    condition_of,
    is_false,
    is_true,
    with_condition,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_template_objects import (
    PodTemplate,
    pod_of,
)

__all__ = ["Buffers"]

_SUCCESS: Final = "AttributesSetSuccessfully"
_LIMITED: Final = "ResourceQuotasAllocated"
_NOT_READY: Final = "CapacityBuffer is not ready for provisioning"
_FLAGS: Final = (
    "--capacity-buffer-controller-enabled and --capacity-buffer-pod-injection-enabled"
)


@attrs.define(eq=False)
class _Draft:
    """A buffer whose status is being computed."""

    buffer: CapacityBuffer
    status: BufferStatus
    pod: Pod | None = None


class Buffers:
    """The CapacityBuffers of a cluster.

    Args:
        cluster: The cluster.
        options: The options of the autoscaler.
        find: Returns an object by kind and key, or None.
        report: Writes events.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        options: ClusterAutoscalerOptions,
        find: FindFn,
        report: Report,
    ) -> None:
        self._cluster = cluster
        self._options = options
        self._find = find
        self._report = report
        admits = options.capacity_buffer_pod_dry_run_enabled
        self._sources = BufferSources(cluster, find, admits=admits)
        self._templates: dict[str, PodTemplateSpec] = {}
        self._owners: dict[str, CapacityBuffer] = {}

    @property
    def has_pods(self) -> bool:
        """Whether the last loop had virtual pods."""
        return bool(self._owners)

    def pods(self, now: float) -> Sequence[Pod]:
        """Return the virtual pods of all buffers, and write what was decided.

        Args:
            now: The time, in seconds since the epoch.
        """
        if not self._cluster.list(CapacityBuffer).items:
            return ()
        if self._options.capacity_buffer_controller_enabled:
            self._reconcile(now)
        if not self._options.capacity_buffer_pod_injection_enabled:
            return ()
        self._owners = {}
        return [
            pod
            for buffer in self._cluster.list(CapacityBuffer).items
            for pod in self._pods_of(buffer, now)
        ]

    def report_helped(self, pods: Iterable[Pod], resizes: str) -> None:
        """Write that groups grow for virtual pods, once for each buffer.

        Args:
            pods: All pods that the groups grow for.
            resizes: The new sizes of the groups.
        """
        counts = Counter(self._owners[pod.uid].key for pod in pods if self._owns(pod))
        owners = {buffer.key: buffer for buffer in self._owners.values()}
        for key, count in counts.items():
            text = f"capacity buffer {count} fake pods triggered scale-up: {resizes}"
            self._report(NORMAL, "TriggeredScaleUp", text, owners[key])

    def report_unhelped(self, reasons: Iterable[tuple[Pod, str]]) -> None:
        """Write that no group grows for virtual pods, once for each buffer.

        Args:
            reasons: Pods that no group grows for, each with its reasons.
        """
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for pod, text in reasons:
            if self._owns(pod):
                texts[self._owners[pod.uid].key].append(text)
        owners = {buffer.key: buffer for buffer in self._owners.values()}
        for key, own in texts.items():
            text = (
                f"capacity buffer {len(own)} fake pods didn't trigger scale-up: "
                f"{','.join(own)}"
            )
            self._report(NORMAL, "NotTriggerScaleUp", text, owners[key])

    def notices(self) -> Iterator[Notice]:
        """Yield why buffers have no effect."""
        buffers = self._cluster.list(CapacityBuffer).items
        if buffers and not self._options.capacity_buffer_pod_injection_enabled:
            text = f"it has no effect without the flags {_FLAGS} of the autoscaler"
            yield _notice(buffers, text)
            return
        for buffer in buffers:
            if text := _why_without_effect(buffer):
                yield _notice([buffer], text)

    def _owns(self, pod: Pod) -> bool:
        return pod.uid in self._owners

    def _reconcile(self, now: float) -> None:
        """Compute the status of all buffers, namespace by namespace."""
        buffers = [
            buffer
            for buffer in self._cluster.list(CapacityBuffer).items
            if buffer.spec.provisioning_strategy in (ACTIVE_CAPACITY, "")
        ]
        buffers.sort(key=lambda each: (each.namespace, _age_key(each), each.name))
        quotas = self._cluster.list(ResourceQuota).items
        for namespace, members in groupby(buffers, lambda each: each.namespace):
            room = QuotaRoom(each for each in quotas if each.namespace == namespace)
            has_quotas = any(each.namespace == namespace for each in quotas)
            for buffer in members:
                draft = self._translated(buffer, now)
                _limit(draft, room, now, has_quotas=has_quotas)
                self._write(buffer, draft.status)

    def _translated(self, buffer: CapacityBuffer, now: float) -> _Draft:
        """Return the template and the size of a buffer."""
        try:
            source = self._sources.of(buffer)
        except BufferSourceError as error:
            return _not_ready(buffer, None, str(error), now)
        if source is None:
            return _Draft(buffer, buffer.status)
        return self._sized(buffer, source, now)

    def _sized(
        self, buffer: CapacityBuffer, source: BufferSource, now: float
    ) -> _Draft:
        self._templates[buffer.key] = source.template
        name = NamedObject(name=f"capacitybuffer-{buffer.name}-pod-template")
        pod = pod_of(source.template, buffer.namespace, "")
        try:
            size = buffer_size(buffer.spec, pod, source.pods)
        except BufferSizeError as error:
            problem = f"couldn't get number of replicas for buffer: {error}"
            return _not_ready(buffer, name, problem, now)
        ready = condition_at(now, READY_FOR_PROVISIONING, "True", _SUCCESS, "ready")
        return _Draft(buffer, _status(buffer, name, size, ready), pod)

    def _pods_of(self, buffer: CapacityBuffer, now: float) -> Sequence[Pod]:
        """Return the virtual pods of a buffer that is ready, and note its state."""
        status = buffer.status
        conditions = status.conditions
        if status.provisioning_strategy != ACTIVE_CAPACITY or not (
            is_true(conditions, READY_FOR_PROVISIONING)
            or is_true(conditions, PROVISIONING)
        ):
            return ()
        is_unready = is_false(conditions, READY_FOR_PROVISIONING)
        if status.pod_template_ref is None or status.replicas is None or is_unready:
            self._fail(buffer, "NotReadyForProvisioning", _NOT_READY, now)
            return ()
        if not status.replicas:
            text = "CapacityBuffer has zero replicas"
            self._fail(buffer, "BufferIsEmpty", text, now)
            return ()
        template = self._template_of(buffer, status.pod_template_ref.name)
        if template is None:
            name = status.pod_template_ref.name
            text = f'failed to get pod template with error: podtemplate "{name}" '
            self._fail(buffer, "FailedToGetPodTemplate", f"{text}not found", now)
            return ()
        self._set(buffer, "True", "FakePodsInjected", "", now)
        pods = buffer_pods(buffer, template, status.replicas)
        self._owners.update((pod.uid, buffer) for pod in pods)
        return pods

    def _template_of(self, buffer: CapacityBuffer, name: str) -> PodTemplateSpec | None:
        template = self._templates.get(buffer.key)
        if template is not None:
            return template
        stored = self._find(PodTemplate, f"{buffer.namespace}/{name}")
        return stored.template if isinstance(stored, PodTemplate) else None

    def _fail(
        self, buffer: CapacityBuffer, reason: str, message: str, now: float
    ) -> None:
        self._set(buffer, "False", reason, message, now)

    def _set(
        self,
        buffer: CapacityBuffer,
        status: str,
        reason: str,
        message: str,
        now: float,
    ) -> None:
        """Write whether virtual pods of a buffer are injected."""
        condition = condition_at(now, PROVISIONING, status, reason, message)
        conditions = with_condition(
            buffer.status.conditions, condition, keeps_time=True
        )
        self._write(buffer, replace(buffer.status, conditions=conditions))

    def _write(self, buffer: CapacityBuffer, status: BufferStatus) -> None:
        if status != buffer.status:
            self._cluster.patch_status(buffer, asdict(status))


def _status(
    buffer: CapacityBuffer,
    template: NamedObject | None,
    size: int | None,
    condition: Condition,
) -> BufferStatus:
    conditions = with_condition(buffer.status.conditions, condition, keeps_time=True)
    return BufferStatus(
        pod_template_ref=template,
        pod_template_generation=buffer.status.pod_template_generation,
        replicas=size,
        provisioning_strategy=buffer.spec.provisioning_strategy or ACTIVE_CAPACITY,
        conditions=conditions,
    )


def _not_ready(
    buffer: CapacityBuffer, template: NamedObject | None, problem: str, now: float
) -> _Draft:
    text = f"Buffer not ready for provisioning: {problem}"
    condition = condition_at(now, READY_FOR_PROVISIONING, "False", "error", text)
    return _Draft(buffer, _status(buffer, template, None, condition))


def _limit(draft: _Draft, room: QuotaRoom, now: float, *, has_quotas: bool) -> None:
    """Limit the size of a buffer to what the quotas of its namespace leave."""
    size = draft.status.replicas
    if draft.pod is None or size is None:
        return
    allowed = room.take(draft.pod, size)
    old = draft.buffer.status.conditions
    if not has_quotas and condition_of(old, LIMITED_BY_QUOTAS) is None:
        return
    is_limited = allowed.pods < size
    text = (
        f"Buffer replicas limited from {size} to {allowed.pods} due to quotas: "
        f"{', '.join(allowed.quotas)}"
    )
    condition = condition_at(
        now,
        LIMITED_BY_QUOTAS,
        "True" if is_limited else "False",
        _LIMITED,
        text if is_limited else "",
        draft.buffer.metadata.generation,
    )
    draft.status = replace(
        draft.status,
        replicas=allowed.pods,
        conditions=with_condition(draft.status.conditions, condition, keeps_time=True),
    )


def _age_key(buffer: CapacityBuffer) -> float:
    created = buffer.metadata.creation_timestamp
    return 0.0 if created is None else float(created)


def _why_without_effect(buffer: CapacityBuffer) -> str:
    """Return why a buffer holds no capacity; empty if it does."""
    strategy = buffer.spec.provisioning_strategy
    if strategy not in (ACTIVE_CAPACITY, ""):
        return (
            f"it has no effect: spec.provisioningStrategy is {strategy!r}, and the "
            f"autoscaler follows only {ACTIVE_CAPACITY!r}"
        )
    conditions = buffer.status.conditions
    for name in (READY_FOR_PROVISIONING, PROVISIONING):
        condition = condition_of(conditions, name)
        if condition is not None and condition.status == "False":
            return f"it has no effect: {condition.message}"
    limited = condition_of(conditions, LIMITED_BY_QUOTAS)
    if limited is not None and limited.status == "True":
        return limited.message[:1].lower() + limited.message[1:]
    if buffer.spec.scalable_ref is None and buffer.spec.pod_template_ref is None:
        return "it has no effect: it has neither a podTemplateRef nor a scalableRef"
    return ""


def _notice(buffers: Sequence[CapacityBuffer], text: str) -> Notice:
    first, others = buffers[0], len(buffers) - 1
    more = f" and {others} more" if others else ""
    return Notice(
        reason=NoticeReason.UNFOLLOWED_KINDS,
        where=f"{first.kind} {first.key}{more}",
        message=text,
    )
