"""The kind PodGroup: which pods belong together, and how many of them are needed.

Mirrors ``PodGroup`` (scheduler-plugins v0.34.7, ``apis/scheduling/v1alpha1``).
"""

import enum
from typing import Annotated, ClassVar

import msgspec
from quaymaster import ApiObject, Pod
from quaymaster.objects import ApiValue, ResourceList, Time

__all__ = [
    "POD_GROUP_LABEL",
    "PodGroup",
    "PodGroupPhase",
    "PodGroupSpec",
    "PodGroupStatus",
    "group_key",
]

POD_GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
"""The label of a pod that names its group, which is in the same namespace."""


class PodGroupPhase(enum.StrEnum):
    """How far a group has come."""

    PENDING = "Pending"
    """Fewer pods than ``minMember`` are there."""

    SCHEDULING = "Scheduling"
    """The pods are there, but not enough of them run."""

    RUNNING = "Running"
    """At least ``minMember`` pods run or have succeeded."""

    UNKNOWN = "Unknown"
    """No longer set."""

    FINISHED = "Finished"
    """At least ``minMember`` pods have succeeded; that is final."""

    FAILED = "Failed"
    """Of at least ``minMember`` pods that have begun, some failed; that is final."""


class PodGroupSpec(ApiValue, frozen=True, kw_only=True):
    """What a group asks for.

    Attributes:
        min_member: How many pods must be placed for any to run; at least 1.
        min_resources: What the cluster must have left for the group to be tried.
        schedule_timeout_seconds: How long a pod waits for the others; None for what the
            plugin is configured with.
    """

    min_member: Annotated[int, msgspec.Meta(ge=1)] = 0
    min_resources: ResourceList | None = None
    schedule_timeout_seconds: int | None = None


class PodGroupStatus(ApiValue, frozen=True, kw_only=True):
    """How a group fares.

    Attributes:
        phase: The phase; empty before the first update.
        occupied_by: ``namespace/name`` of what owns its pods.
        running: How many of its pods run.
        succeeded: How many have succeeded.
        failed: How many have failed.
        schedule_start_time: No longer set.
    """

    phase: str = ""
    occupied_by: str = ""
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    schedule_start_time: Time | None = None


class PodGroup(ApiObject, frozen=True, kw_only=True):
    """Pods that run together or not at all."""

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "PodGroup"
    plural: ClassVar[str] = "podgroups"

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


def group_key(pod: Pod) -> str:
    """Return the key of the group that a pod names, or empty; it need not exist."""
    metadata = pod.metadata
    name = metadata.labels.get(POD_GROUP_LABEL)
    return f"{metadata.namespace}/{name}" if name else ""
