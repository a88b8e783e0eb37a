"""The pods of a PodGroup as the object to edit."""

from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import ApiObject, Pod, PodSpec
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.why.subject import Subject, Subjects

__all__ = ["MembersSubject", "subject_of_members"]

_KIND: Final = "PodGroupMembers"
"""Not the kind of an object: the pods are edited, and not the PodGroup."""


@attrs.frozen
class MembersSubject(Subject):
    """The pods of a PodGroup, none of which has a workload in the input."""

    def __str__(self) -> str:
        return f"the pods of podgroup/{self.name}"

    @property
    def path(self) -> str:
        """The path of the spec in each pod."""
        return "spec"

    def owns(self, pod: Pod, _cluster: InMemoryCluster) -> bool:
        """Whether a pod is in the group."""
        return self._has(pod)

    def spec(self, objects: Sequence[ApiObject]) -> PodSpec | None:
        """Return the spec of the first pod of the group in the input, or None."""
        for obj in objects:
            if isinstance(obj, Pod) and self._has(obj):
                return obj.spec
        return None

    def _has(self, pod: Pod) -> bool:
        group = pod.spec.scheduling_group
        namespace = pod.namespace or "default"
        return group is not None and (namespace, group.pod_group_name) == (
            self.namespace,
            self.name,
        )


def subject_of_members(
    pods: Sequence[Pod], objects: Sequence[ApiObject], cluster: InMemoryCluster
) -> Subject:
    """Return the workload that creates all pods of a group, or the pods themselves.

    Args:
        pods: The pods of the group; at least one.
        objects: The input.
        cluster: The cluster, to look up the owners of pods.
    """
    subjects = Subjects(objects)
    owners = {subjects.of(pod, cluster) for pod in pods}
    if len(owners) == 1 and len(pods) > 1:
        return owners.pop()
    name = pods[0].group_key.partition("/")[2]
    return MembersSubject(_KIND, pods[0].namespace, name)
