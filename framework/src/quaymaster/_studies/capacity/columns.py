"""The amounts of nodes as columns: what they offer, and what is requested."""

from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np

from quaymaster._api.objects.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from quaymaster._core.state.arrays import Float64Array, Int64Array, RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._studies.capacity.figures import ResourceRoom

__all__ = ["AmountColumns"]

_FIXED = (CPU, MEMORY, EPHEMERAL_STORAGE)


@attrs.frozen(eq=False, kw_only=True)
class AmountColumns:
    """What each node offers and what is requested of it, by resource.

    ``N`` is the number of nodes.

    Attributes:
        infos: The nodes, in the order of the columns.
        offered: Resource -> shape ``(N,)``, dtype int64. The fixed resources and those
            that some node offers or some pod requests.
        requested: The same for what pods request; for ``pods``, their number.
    """

    infos: Sequence[NodeInfo]
    offered: Mapping[str, Int64Array]
    requested: Mapping[str, Int64Array]

    @classmethod
    def of(cls, nodes: NodeTable) -> "AmountColumns":
        """Copy the columns of a table, in row order."""
        rows = nodes.row_numbers(nodes.rows)
        used = nodes.requested
        places = {name: place for place, name in enumerate(_FIXED)}
        places |= nodes.resources()
        offered = {
            name: nodes.allocatable[place, rows] for name, place in places.items()
        }
        requested = {name: used[place, rows] for name, place in places.items()}
        offered[PODS] = nodes.allowed_pods[rows]
        requested[PODS] = nodes.pod_count[rows]
        named = [
            name
            for name in (*_FIXED, PODS, *sorted(nodes.resources()))
            if offered[name].any() or requested[name].any()
        ]
        return cls(
            infos=nodes.infos_at(rows),
            offered={name: offered[name] for name in named},
            requested={name: requested[name] for name in named},
        )

    def free(self, resource: str) -> Int64Array:
        """Return what is left of a resource, shape ``(N,)``; at least 0."""
        left: Int64Array = self.offered[resource] - self.requested[resource]
        return np.maximum(left, 0)

    def sums(self, at: RowArray) -> dict[str, ResourceRoom]:
        """Return the amounts of some nodes together, by resource.

        Args:
            at: Their indices in the columns. Resources that they do not offer and no
                pod on them requests are left out.
        """
        # Python's integers: sums of amounts that a user has invented may exceed int64.
        sums = {
            name: ResourceRoom(
                allocatable=sum(self.offered[name][at].tolist()),
                requested=sum(self.requested[name][at].tolist()),
                free=sum(self.free(name)[at].tolist()),
            )
            for name in self.offered
        }
        return {
            name: room
            for name, room in sums.items()
            if room.allocatable or room.requested
        }

    def imbalance(self, at: RowArray) -> dict[str, float]:
        """Return the standard deviation of the nodes' utilisation, by resource."""
        deviations = {}
        for name, offered in self.offered.items():
            has = at[offered[at] > 0]
            if len(has):
                shares: Float64Array = self.requested[name][has] / offered[has]
                deviations[name] = float(np.std(shares))
        return deviations

    def each(self) -> Iterator[dict[str, ResourceRoom]]:
        """Return the amounts of each node, by resource; see `sums`."""
        columns = [
            (
                name,
                offered.tolist(),
                self.requested[name].tolist(),
                self.free(name).tolist(),
            )
            for name, offered in self.offered.items()
        ]
        for place in range(len(self.infos)):
            yield {
                name: ResourceRoom(
                    allocatable=offered[place],
                    requested=requested[place],
                    free=free[place],
                )
                for name, offered, requested, free in columns
                if offered[place] or requested[place]
            }
