"""Score nodes by the utilization of storage with a pod's volumes.

Mirrors ``Score`` and ``buildScorerFunction`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/volumebinding``).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from quaymaster import MAX_NODE_SCORE, Int64Array, NodeTable, Rows
from quaymaster.volumes import class_of_claim, size_of, storage_of
from quaymaster_volume_binding.args import UtilizationShapePoint
from quaymaster_volume_binding.plans import VolumePlan
from quaymaster_volume_binding.pod_claims import PodClaims

__all__ = ["CapacityScorer"]

_MAX_UTILIZATION: Final = 100
_SCALE: Final = MAX_NODE_SCORE // 10  # scores of shape points range from 0 to 10
_LARGE: Final = 1 << 50  # bytes: a pebibyte


class _Use(NamedTuple):
    """The utilization by volumes of one class, in bytes.

    Attributes:
        requested: The requested size.
        capacity: The available size.
    """

    requested: int
    capacity: int


class CapacityScorer:
    """Converts the utilization of storage to scores, with a piecewise linear function.

    Args:
        shape: The points of the function, by rising utilization.
    """

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        self._line = [_value(shape, at) for at in range(_MAX_UTILIZATION + 1)]
        self._columns: Int64Array = np.array(self._line, dtype=np.int64)

    def score(
        self, claims: PodClaims, plan: VolumePlan, labels: Mapping[str, str]
    ) -> int:
        """Return the score of a node: the mean over the classes of the volumes.

        If the plan has existing volumes, only these count. Otherwise volumes to
        provision count, if their storage reports its capacity.

        Args:
            claims: The pod's claims.
            plan: The plan for the node.
            labels: The node's labels.
        """
        # One of the two, as upstream: if any claim gets an existing volume, those to be
        # made do not count.
        uses = _static(plan) if plan.static else _made(claims, plan, labels)
        if not uses:
            return 0
        total = sum(map(self._score, uses.values()))
        # ``math.Round`` of a mean that is not negative, in integers.
        return (2 * total + len(uses)) // (2 * len(uses))

    def score_rows(
        self, claims: PodClaims, nodes: NodeTable, rows: Rows
    ) -> Int64Array | None:
        """Return the scores of many nodes that passed, shape ``(N,)``.

        The result is None if nodes must be scored one by one: if claims compete for
        existing volumes, or if nodes were selected for them earlier, which are few.
        """
        if claims.selected:
            return None
        made_scores = self._made_rows(claims, nodes, rows)
        if all(claim.candidates.is_empty for claim in claims.open):
            return made_scores
        if len(claims.open) > 1 or made_scores is None:
            return None
        [claim] = claims.open
        sizes = claim.candidates.sizes(nodes, rows)
        requested = storage_of(claim.claim.spec.resources).value
        if sizes is None or not _are_small(requested, sizes):
            return None
        return np.where(sizes < 0, made_scores, self._score_uses(requested, sizes))

    def _made_rows(
        self, claims: PodClaims, nodes: NodeTable, rows: Rows
    ) -> Int64Array | None:
        """Return the scores if volumes must be provisioned for all claims."""
        uses: dict[str, tuple[Int64Array, Int64Array]] = {}
        nothing: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
        for claim in claims.open:
            if claim.room is None:
                continue
            capacities = claim.room.capacities(nodes, rows)
            requested = storage_of(claim.claim.spec.resources).value
            if capacities is None or not _are_small(requested, capacities):
                return None
            is_known = capacities >= 0
            name = class_of_claim(claim.claim)
            before, capacity = uses.get(name, (nothing, nothing - 1))
            uses[name] = (
                before + requested * is_known,
                np.where(is_known, capacities, capacity),
            )
        total, classes = nothing, nothing
        for requests, capacity in uses.values():
            total = total + (capacity >= 0) * self._score_uses(requests, capacity)
            classes = classes + (capacity >= 0)
        scores: Int64Array = (2 * total + classes) // np.maximum(2 * classes, 1)
        return scores

    def _score_uses(
        self, requested: Int64Array | int, capacity: Int64Array
    ) -> Int64Array:
        utilization = requested * _MAX_UTILIZATION // np.maximum(capacity, 1)
        utilization = np.minimum(utilization, _MAX_UTILIZATION)
        return self._columns.take(np.where(capacity, utilization, _MAX_UTILIZATION))

    def _score(self, use: _Use) -> int:
        if not use.capacity or use.requested > use.capacity:
            return self._line[_MAX_UTILIZATION]
        return self._line[use.requested * _MAX_UTILIZATION // use.capacity]


def _are_small(requested: int, capacities: Int64Array) -> bool:
    """Whether a hundred times the sizes of some claims fit into 64 bits."""
    return max(requested, int(capacities.max(initial=0))) < _LARGE


def _static(plan: VolumePlan) -> Mapping[str, _Use]:
    """Return the utilization of existing volumes by class, relative to their sizes."""
    uses: dict[str, _Use] = {}
    for binding in plan.static:
        spec = binding.volume.spec
        use = uses.get(spec.storage_class_name, _Use(0, 0))
        uses[spec.storage_class_name] = _Use(
            use.requested + storage_of(binding.claim.spec.resources).value,
            use.capacity + size_of(binding.volume).value,
        )
    return uses


def _made(
    claims: PodClaims, plan: VolumePlan, labels: Mapping[str, str]
) -> Mapping[str, _Use]:
    """Return the utilization by provisioned volumes, by class, relative to capacity."""
    uses: dict[str, _Use] = {}
    for name, requested, capacity in _provisions(claims, plan, labels):
        use = uses.get(name, _Use(0, 0))
        # All of them share the capacity.
        uses[name] = _Use(use.requested + requested, capacity)
    return uses


def _provisions(
    claims: PodClaims, plan: VolumePlan, labels: Mapping[str, str]
) -> Iterator[tuple[str, int, int]]:
    rooms = {claim.claim.key: claim.room for claim in (*claims.selected, *claims.open)}
    for claim in plan.provision:
        room = rooms[claim.key]
        capacity = room.capacity_at(labels) if room is not None else None
        if capacity is not None:
            requested = storage_of(claim.spec.resources).value
            yield class_of_claim(claim), requested, capacity


def _value(shape: Sequence[UtilizationShapePoint], utilization: int) -> int:
    """Return the function's value, rounded towards 0 between two points."""
    before = shape[0]
    for corner in shape:
        if utilization <= corner.utilization:
            run = corner.utilization - before.utilization
            rise = (corner.score - before.score) * _SCALE
            part = rise * (utilization - before.utilization)
            on_line = abs(part) // run if run else 0
            return before.score * _SCALE + (on_line if part >= 0 else -on_line)
        before = corner
    return before.score * _SCALE
