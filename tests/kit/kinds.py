"""A kind of objects that Kubernetes does not have, and a plugin that uses it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from quaymaster import (
    ApiObject,
    Change,
    ClusterEventWithHint,
    EventsOf,
    Handle,
    Pod,
    QueueingHint,
    Status,
    hookimpl,
)
from quaymaster.objects import ApiValue
from quaymaster.testing import make_metadata, make_pod

__all__ = [
    "LABEL",
    "Gangs",
    "PodGroup",
    "PodGroupSpec",
    "PodGroupStatus",
    "gang_config",
    "make_group",
    "make_member",
]

LABEL = "scheduling.x-k8s.io/pod-group"


class PodGroupSpec(ApiValue, frozen=True, kw_only=True):
    """What a group requires."""

    min_member: int = 0
    schedule_timeout_seconds: int | None = None


class PodGroupStatus(ApiValue, frozen=True, kw_only=True):
    """The state of a group."""

    phase: str = ""
    scheduled: int = 0


class PodGroup(ApiObject, frozen=True, kw_only=True):
    """Pods that are scheduled together."""

    api_version: ClassVar[str] = "scheduling.x-k8s.io/v1alpha1"
    kind: ClassVar[str] = "PodGroup"
    plural: ClassVar[str] = "podgroups"

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class Gangs:
    """Rejects a pod until its group exists and requires no more than it has."""

    kinds: ClassVar[Sequence[type[ApiObject]]] = (PodGroup,)

    def __init__(self, args: object, handle: Handle) -> None:
        self.informers = handle.informers
        self.changes = handle.informers.changes(PodGroup)

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        name = pod.labels.get(LABEL)
        if name is None:
            return None
        group = self.informers.get(PodGroup, f"{pod.namespace}/{name}")
        if group is None:
            return Status.unresolvable(f"no pod group {name}")
        if group.spec.min_member > 1:
            return Status.unresolvable(f"pod group {name} is too large")
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [EventsOf(PodGroup)(Change.ADD | Change.UPDATE, self._after_change)]

    def _after_change(
        self, pod: Pod, _old: PodGroup | None, new: PodGroup
    ) -> QueueingHint:
        is_ours = pod.labels.get(LABEL) == new.name and pod.namespace == new.namespace
        return QueueingHint.QUEUE if is_ours else QueueingHint.SKIP


def make_group(
    name: str = "gang",
    *,
    namespace: str = "default",
    least: int = 1,
    labels: Mapping[str, str] | None = None,
) -> PodGroup:
    """Make a group of pods."""
    metadata = make_metadata(PodGroup, name=name, namespace=namespace, labels=labels)
    return PodGroup(metadata=metadata, spec=PodGroupSpec(min_member=least))


def make_member(name: str = "member", *, group: str = "gang") -> Pod:
    """Make a pod of a group."""
    return make_pod(name=name, labels={LABEL: group})


def gang_config(*more: str, is_there: bool = True) -> Mapping[str, object]:
    """Return the default profile with `Gangs`.

    Args:
        *more: Further plugins.
        is_there: Whether `Gangs` is one of the plugins.
    """
    names = [*(["Gangs"] if is_there else []), *more]
    enabled = [{"name": name} for name in names]
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": enabled}}}],
    }
