"""Trials that surely fail, found without a solve.

A trial of plain pods is followed pod by pod. It fails when a pod that moves gets a node
that has not started, and when those without a node do not fit on one cheaper new node.
"""

import enum
import operator
import weakref
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts, added
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import source_price
from quaymaster._studies.autoscaling.karpenter.disruption.stay_proofs import may_go
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import is_pending
from quaymaster._studies.autoscaling.karpenter.solve.first_fit import FirstFit
from quaymaster._studies.autoscaling.karpenter.solve.node_facts import nodes_of_solve
from quaymaster._studies.autoscaling.karpenter.solve.pending import PodsToSchedule
from quaymaster._studies.autoscaling.karpenter.solve.plain_pods import (
    PlainPod,
    PodKinds,
    pod_kinds,
)
from quaymaster._studies.autoscaling.karpenter.solve.templates import supply_of

__all__ = ["QuickTrials"]


class _Role(enum.Enum):
    """Why a pod needs a node."""

    PENDING = enum.auto()
    LEAVING = enum.auto()
    MOVING = enum.auto()


class _Entry(NamedTuple):
    """A pod in a trial.

    Attributes:
        order: When it is placed.
        pod: The pod.
        avoids_changed: Whether it avoids nodes whose pods have changed lately.
        role: Why it needs a node.
    """

    order: object
    pod: PlainPod
    avoids_changed: bool
    role: _Role


_ORDER: Final = operator.itemgetter(0)


class _Pods:
    """The plain pods of candidates, kept from look to look."""

    def __init__(self, kinds: PodKinds) -> None:
        self._kinds = kinds
        self._moving: weakref.WeakKeyDictionary[Candidate, Sequence[_Entry] | None] = (
            weakref.WeakKeyDictionary()
        )

    def moving(self, candidate: Candidate) -> Sequence[_Entry] | None:
        """Return the pods of a candidate, or None if one is not plain."""
        if candidate not in self._moving:
            pods = candidate.moving_pods
            self._moving[candidate] = self.entries(pods, _Role.MOVING)
        return self._moving[candidate]

    def entries(
        self, pods: Sequence[Pod], role: _Role, state: ClusterState | None = None
    ) -> Sequence[_Entry] | None:
        """Return pods, or None if one is not plain.

        Args:
            pods: The pods.
            role: Why they need nodes.
            state: The cluster, in which the nodes of these pods may be leaving.
        """
        plain = [*map(self._kinds.plain, pods)]
        if None in plain:
            return None
        return [
            _Entry(each.order, each, not is_pending(pod) and _stays(pod, state), role)
            for pod, each in zip(pods, plain, strict=True)
            if each is not None
        ]


def _stays(pod: Pod, state: ClusterState | None) -> bool:
    """Return whether the node of a pod is not about to go."""
    own = None if state is None else state.node_by_name.get(pod.node_name)
    return own is None or not own.marked_for_deletion


class QuickTrials:
    """Trials on one state of a cluster.

    Args:
        state: The cluster.
        options: The options of Karpenter.
        waiting: The pods that need a node anyway.
    """

    def __init__(
        self, state: ClusterState, options: KarpenterOptions, waiting: PodsToSchedule
    ) -> None:
        self._state = state
        self._supply = supply_of(state, options)
        self._nodes = nodes_of_solve(state, options, self._supply, ())
        self._waiting: Sequence[_Entry] | None = None
        kinds = pod_kinds(state, options, self._supply)
        pods = state.latest.get("plain pods")
        if kinds is not None and not isinstance(pods, _Pods):
            pods = state.latest["plain pods"] = _Pods(kinds)
        if kinds is None or not isinstance(pods, _Pods):
            return
        self._pods = pods
        pending = pods.entries(waiting.pending, _Role.PENDING, state)
        leaving = pods.entries(waiting.leaving, _Role.LEAVING, state)
        if pending is not None and leaving is not None:
            self._waiting = sorted([*pending, *leaving], key=_ORDER)

    @property
    def are_possible(self) -> bool:
        """Whether trials of plain pods need no solves."""
        return self._waiting is not None

    def surely_fails(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether a trial without some nodes surely fails.

        False does not mean that it succeeds.
        """
        if self._waiting is None:
            return False
        entries = [*self._waiting]
        for candidate in candidates:
            moving = self._pods.moving(candidate)
            if moving is None:
                return False
            entries += moving
        entries.sort(key=_ORDER)
        names = (candidate.name for candidate in candidates)
        return self._fails(entries, self._nodes.places_of(names), candidates)

    def _fails(
        self,
        entries: Sequence[_Entry],
        excluded: Collection[int],
        candidates: Sequence[Candidate],
    ) -> bool:
        price, started = source_price(candidates), self._nodes.started_count
        homeless: Amounts = {}
        first_fit = FirstFit(self._state, self._nodes, excluded)
        for entry in entries:
            place = first_fit.place(entry.pod.kind, avoids_changed=entry.avoids_changed)
            if place is None and entry.role is not _Role.PENDING:
                homeless = added(homeless, entry.pod.kind.requests)
                if not may_go(self._supply, homeless, price):
                    return True
            elif place is not None and place >= started and entry.role is _Role.MOVING:
                return True
        return False
