"""PodGroups as entries of the line: the waiting pods of each."""

import attrs
from quaymaster import Handle, Pod
from quaymaster.errors import QuaymasterError

from quaymaster_order.jobs import BatchJob

__all__ = ["FeatureGateError", "Gangs", "refuse_gate"]


class FeatureGateError(QuaymasterError):
    """A plugin cannot work with a feature gate that is on.

    Attributes:
        plugin: The name of the plugin.
        gate: The feature gate.
    """

    def __init__(self, plugin: str, gate: str, remedy: str) -> None:
        super().__init__(
            f"plugin '{plugin}': does not support the feature gate {gate}; {remedy}"
        )
        self.plugin = plugin
        self.gate = gate


def refuse_gate(handle: Handle, plugin: str, gate: str, remedy: str) -> None:
    """Stop the profile from loading if a feature gate is on.

    Raises:
        FeatureGateError: It is on.
    """
    if handle.kubernetes.enabled(gate):
        raise FeatureGateError(plugin, gate, remedy)


class Gangs:
    """The waiting pods of PodGroups.

    Without the feature gate GenericWorkload, Kubernetes ignores PodGroups, and so do
    orders: each pod is an entry of its own.

    Args:
        handle: The handle of the plugin.
    """

    def __init__(self, handle: Handle) -> None:
        self._exist = handle.pod_groups is not None
        # Key of the PodGroup -> uid -> the job of the pod alone, in order of arrival.
        self._members: dict[str, dict[str, BatchJob]] = {}

    def key(self, pod: Pod) -> str:
        """Return the key of the PodGroup of a pod; empty if it is an entry itself."""
        return pod.group_key if self._exist else ""

    def member(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod of a PodGroup, or None."""
        members = self._members.get(self.key(pod))
        return None if members is None else members.get(pod.uid)

    def join(self, job: BatchJob) -> BatchJob:
        """Add a pod, or replace it; return the job of its PodGroup."""
        key = self.key(job.pod)
        self._members.setdefault(key, {})[job.pod.uid] = job
        return self._whole(key)

    def leave(self, pod: Pod) -> BatchJob | None:
        """Remove a pod; return the job of the pods that still wait, or None."""
        key = self.key(pod)
        members = self._members.get(key, {})
        members.pop(pod.uid, None)
        if members:
            return self._whole(key)
        self._members.pop(key, None)
        return None

    def _whole(self, key: str) -> BatchJob:
        """Return one job for the pods of a PodGroup: all of them run at once."""
        jobs = self._members[key].values()
        first = min(jobs, key=lambda job: job.number)
        return attrs.evolve(
            first,
            requested_seconds=max(job.requested_seconds for job in jobs),
            cpus=sum(job.cpus for job in jobs),
        )
