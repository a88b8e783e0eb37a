"""PodGroups as entries of the line: the waiting pods of each."""

from collections.abc import Iterable, Iterator

import attrs
from quaymaster import Handle, Pod
from quaymaster.errors import QuaymasterError
from quaymaster.objects import PodGroup

from quaymaster_order.jobs import BatchJob

__all__ = ["FeatureGateError", "Gangs", "refuse_composites"]


class FeatureGateError(QuaymasterError):
    """A plugin cannot work with a feature gate that is on.

    Attributes:
        plugin: The name of the plugin.
        gate: The feature gate.
    """

    def __init__(self, plugin: str, gate: str, reason: str) -> None:
        super().__init__(
            f"plugin '{plugin}': does not support the feature gate {gate}, because "
            f"{reason}; switch it off"
        )
        self.plugin = plugin
        self.gate = gate


def refuse_composites(handle: Handle, plugin: str) -> None:
    """Stop the profile from loading if there may be groups of groups.

    Raises:
        FeatureGateError: The feature gate CompositePodGroup is on.
    """
    gate = "CompositePodGroup"
    if handle.kubernetes.enabled(gate):
        reason = "an entry of its line is a pod or a PodGroup, not a group of groups"
        raise FeatureGateError(plugin, gate, reason)


class Gangs:
    """The waiting pods of PodGroups.

    Without the feature gate GenericWorkload, Kubernetes ignores PodGroups, and so do
    orders: each pod is an entry of its own.

    Args:
        handle: The handle of the plugin.
    """

    def __init__(self, handle: Handle) -> None:
        self._states = handle.pod_groups
        # Key of the PodGroup -> uid -> the job of the pod alone, in order of arrival.
        self._members: dict[str, dict[str, BatchJob]] = {}

    @property
    def exist(self) -> bool:
        """Whether there are PodGroups at all."""
        return self._states is not None

    def key(self, pod: Pod) -> str:
        """Return the key of the PodGroup of a pod; empty if it is an entry itself."""
        return "" if self._states is None else pod.group_key

    def is_complete(
        self, key: str, *, group: PodGroup | None = None, without: str = ""
    ) -> bool:
        """Whether enough pods of a PodGroup exist, so that it can be tried.

        Args:
            key: The key of the PodGroup.
            group: A newer version of its object, if any.
            without: The uid of a pod that has just been deleted.
        """
        state = None if self._states is None else self._states.get(key)
        if state is None:
            return False
        group = group or state.group
        number = len(state.pods) - (without in state.pods)
        return group is not None and number >= group.min_count

    def least(self, key: str) -> int:
        """Return how many of the waiting pods of a PodGroup have to start together."""
        state = None if self._states is None else self._states.get(key)
        if state is None or state.group is None:
            return 1
        return max(1, state.group.min_count - state.scheduled_count)

    def newcomers(self, pod: Pod) -> Iterator[Pod]:
        """Return the pods of a PodGroup without a node that have not joined yet.

        Args:
            pod: One of them, which is returned in any case.
        """
        key = self.key(pod)
        members = self._members.get(key, {})
        state = None if self._states is None else self._states.get(key)
        pods = {} if state is None else dict(state.unscheduled)
        pods[pod.uid] = pod
        profile = pod.spec.scheduler_name
        for uid, other in pods.items():
            is_ready = other.spec.scheduler_name == profile and not (
                other.spec.scheduling_gates or other.is_terminating
            )
            if is_ready and uid not in members:
                yield other

    def member(self, pod: Pod) -> BatchJob | None:
        """Return the job of a waiting pod of a PodGroup, or None."""
        members = self._members.get(self.key(pod))
        return None if members is None else members.get(pod.uid)

    def join(self, key: str, jobs: Iterable[BatchJob]) -> BatchJob:
        """Add pods, or replace them; return the job of their PodGroup."""
        members = self._members.setdefault(key, {})
        members.update((job.pod.uid, job) for job in jobs)
        return self._whole(key)

    def leave(self, pod: Pod) -> BatchJob | None:
        """Remove a pod; return the job of the pods that still wait, or None."""
        key = self.key(pod)
        members = self._members.get(key, {})
        members.pop(pod.uid, None)
        if members:
            return self._whole(key)
        self.dissolve(key)
        return None

    def dissolve(self, key: str) -> None:
        """Remove all pods of a PodGroup."""
        self._members.pop(key, None)

    def _whole(self, key: str) -> BatchJob:
        """Return one job for the pods of a PodGroup: all of them run at once."""
        jobs = tuple(self._members[key].values())
        first = min(jobs, key=lambda job: job.number)
        state = None if self._states is None else self._states.get(key)
        group = None if state is None else state.group
        return attrs.evolve(
            first,
            # As kube-scheduler: the priorities of the pods do not count.
            priority=first.priority if group is None else group.priority,
            requested_seconds=max(job.requested_seconds for job in jobs),
            cpus=sum(job.cpus for job in jobs),
            members=jobs,
        )
