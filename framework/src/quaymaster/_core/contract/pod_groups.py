"""The arguments and results of the hooks that schedule groups of pods.

Mirrors ``PodGroupInfo``, ``Placement``, ``PodGroupAssignments``, ``ProposedAssignment``
and ``PodGroupPostFilterResult`` (k8s.io/kube-scheduler v0.37,
``framework/interface.go``), and ``PlacementProgress`` (Kubernetes v1.37,
``pkg/scheduler/framework/interface.go``).
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import attrs
import msgspec

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import CompositePodGroup, GroupObject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import NominatingInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import Rows

__all__ = [
    "MemberAttempt",
    "PlaceGroup",
    "PlacementProgress",
    "PodGroupAssignments",
    "PodGroupInfo",
    "PodGroupPlacement",
    "PodGroupPostFilterResult",
]

_NO_NOMINATIONS: Final[Mapping[str, NominatingInfo]] = MappingProxyType({})


@attrs.frozen(eq=False, kw_only=True)
class PodGroupInfo:
    """A group of pods in its scheduling cycle.

    Attributes:
        group: The object: a PodGroup, or with the feature gate CompositePodGroup also a
            group of groups.
        pods: The pods that the cycle tries, in this order; of a group of groups, the
            pods of all groups below it.
        children: The groups directly below a group of groups, in the order in which
            they are placed.
    """

    group: GroupObject
    pods: tuple[Pod, ...]
    children: tuple["PodGroupInfo", ...] = ()

    @property
    def key(self) -> str:
        """``namespace/name`` of the group."""
        return self.group.key

    @property
    def is_composite(self) -> bool:
        """Whether it is a group of groups."""
        return isinstance(self.group, CompositePodGroup)


class PodGroupPlacement(msgspec.Struct, frozen=True, eq=False):
    """Nodes among which the pods of a group may be placed.

    Attributes:
        name: Its name, such as the name of a rack; empty for all nodes.
        rows: The rows of its nodes.
    """

    name: str
    rows: Rows


class PlacementProgress(msgspec.Struct, frozen=True):
    """How far the cycle of a group has come.

    Attributes:
        scheduled: The number of pods that have a node: bound, assumed, and those that
            got a node in this cycle.
        remaining: The number of pods that have not been tried yet.
    """

    scheduled: int
    remaining: int


class MemberAttempt(msgspec.Struct, frozen=True, eq=False):
    """The attempt for one pod in the cycle of its group.

    Attributes:
        pod: The pod, without its node.
        state: Its scratch space, as PreFilter and later hooks left it.
        node_name: The node that it got, or empty.
    """

    pod: Pod
    state: CycleState
    node_name: str = ""


class PodGroupAssignments(msgspec.Struct, frozen=True, eq=False):
    """A placement with the nodes that the pods of a group would get there.

    Attributes:
        placement: The placement.
        attempts: The attempts of the pods that would get a node, in order.
    """

    placement: PodGroupPlacement
    attempts: Sequence[MemberAttempt]


PlaceGroup: TypeAlias = Callable[[], Sequence[MemberAttempt] | Status]
"""Runs the algorithm for the whole group once more, and reverts it.

Returns the attempts of the pods that got a node, in order; or why the group does not
fit.
"""


@attrs.frozen(kw_only=True)
class PodGroupPostFilterResult:
    """The result of a PodGroupPostFilter plugin for a group that does not fit.

    Attributes:
        status: None for success; Unschedulable if the plugin could not help. Its
            reasons become the last part of the group's message.
        nominating: Pod (``namespace/name``) -> the change of its nomination, after a
            success; other pods keep theirs.
        message: The last part of the group's message after a success.
    """

    status: Status | None = None
    nominating: Mapping[str, NominatingInfo] = _NO_NOMINATIONS
    message: str = ""
