"""Checks that the pods of a group agree with each other and with their group.

Mirrors ``validatePodGroup`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections.abc import Collection, Iterable, Iterator

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import GroupObject

__all__ = ["GroupRules"]

_PREEMPT: str = "PreemptLowerPriority"


class GroupRules:
    """The rules for the pods of a group.

    Args:
        scheduler_names: The names of the profiles.
        groups_have_policies: Whether the preemption policy of the group counts: the
            feature gate PodGroupPreemptionPolicy.
    """

    def __init__(
        self, scheduler_names: Collection[str], *, groups_have_policies: bool
    ) -> None:
        self._scheduler_names = scheduler_names
        self._groups_have_policies = groups_have_policies

    def problem(
        self, group: GroupObject, pods: Iterable[Pod], scheduled: Iterable[Pod]
    ) -> str:
        """Describe the first problem in upstream's words; empty if there is none.

        Args:
            group: The group, the root of its tree.
            pods: Its queued pods, at least one, in the order in which they are tried.
            scheduled: Its pods that have a node.
        """
        queued = tuple(pods)
        first = queued[0]
        name = first.spec.scheduler_name
        policy = _policy(first.spec.preemption_policy)
        if self._groups_have_policies:
            policy = _policy(group.spec.preemption_policy)
        # Pods with a node count as well: a running pod of another priority keeps the
        # whole group from being scheduled (``validateScheduledPods``).
        for pod in (*queued, *scheduled):
            for problem in self._problems(pod, name, group.spec.priority or 0, policy):
                return problem
        if name not in self._scheduler_names:
            return f'profile not found for scheduler name "{name}"'
        return ""

    def _problems(
        self, pod: Pod, scheduler_name: str, priority: int, policy: str
    ) -> Iterator[str]:
        own = pod.spec.scheduler_name
        if own != scheduler_name:
            field = "the same .spec.schedulerName set"
            yield f'{_ALL} {field}, got: "{own}" and "{scheduler_name}"'
        if pod.priority != priority:
            field = "the same priority as the pod group's priority"
            yield f"{_ALL} {field}, got {pod.priority} and {priority}"
        own = _policy(pod.spec.preemption_policy)
        if own != policy:
            field = "the same preemption policy"
            if self._groups_have_policies:
                field += " as the pod group's preemption policy"
            yield f"{_ALL} {field}, got {own} and {policy}"


_ALL = "all pods in a single pod group should have"


def _policy(policy: str | None) -> str:
    return policy or _PREEMPT
