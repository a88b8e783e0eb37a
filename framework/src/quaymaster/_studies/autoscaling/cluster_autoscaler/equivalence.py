"""Pending pods that are alike for scheduling.

Mirrors ``core/scaleup/equivalence/groups.go``. Upstream's order of the groups is that
of a Go map; here they come in the order of their first pods.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.cluster_autoscaler.pod_kinds import (
    controller_uid,
    is_daemon_pod,
    scheduling_key,
)

__all__ = ["PodEquivalenceGroup", "equivalence_groups"]

_MOST_PER_CONTROLLER: Final = 10


@attrs.define(eq=False)
class PodEquivalenceGroup:
    """Pods that are alike.

    Attributes:
        pods: The pods; at least one.
        rejections: Group of nodes -> the reasons why the first pod does not fit there.
        plugins: Group of nodes -> the plugin that rejects it there.
        is_schedulable: Whether it fits on a new node of any group.
    """

    pods: list[Pod]
    rejections: dict[str, Sequence[str]] = attrs.field(factory=dict)
    plugins: dict[str, str] = attrs.field(factory=dict)
    is_schedulable: bool = False

    @property
    def exemplar(self) -> Pod:
        """The first pod, which is tried for all of them."""
        return self.pods[0]


def equivalence_groups(pods: Iterable[Pod]) -> list[PodEquivalenceGroup]:
    """Group pods of the same controller with equal labels and specs."""
    groups: list[PodEquivalenceGroup] = []
    by_controller: dict[str, dict[Hashable, PodEquivalenceGroup]] = defaultdict(dict)
    for pod in pods:
        uid = controller_uid(pod)
        if not uid or is_daemon_pod(pod):
            groups.append(PodEquivalenceGroup([pod]))
            continue
        key, own = scheduling_key(pod), by_controller[uid]
        if key in own:
            own[key].pods.append(pod)
            continue
        group = PodEquivalenceGroup([pod])
        groups.append(group)
        if len(own) < _MOST_PER_CONTROLLER:
            own[key] = group
    return groups
