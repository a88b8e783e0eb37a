"""Nodes by the values of a label: the zones, racks or hosts that pods are spread over.

A `Domains` is one topology key over all nodes, or over those that a `NodeFilter`
admits. It is kept up to date node by node; see `quaymaster.counting` for the pods.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from quaymaster._api.objects import Node
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows, freeze
from quaymaster._core.state.node_table import NodeTable

__all__ = ["OUTSIDE", "UNLABELLED", "DomainMove", "Domains", "NodeFilter"]

UNLABELLED: Final = -1
"""The domain of a node that is admitted, but has no such label."""

OUTSIDE: Final = -2
"""The domain of a node that is not admitted, and of a row without a node."""

# Room for new values, so that arrays by domain rarely grow; 4 to 64 are equally fast.
_FIRST_SLOTS: Final = 16

# `Domains.spread` caches results for up to this many domains. For 5,000 rows, a look-up
# takes a tenth (16 domains) to a fifth (128) of the time of computing the result; with
# 2,000 domains, it would take longer.
_FEW_SLOTS: Final = 128

# The flags of three zones have eight values. In TopologySpreading, 395 of 401 results
# come from the cache; each takes 5 to 40 KB for 5,000 nodes.
_KEPT_ANSWERS: Final = 8

ScalarT = TypeVar("ScalarT", bound=np.generic)

DomainMove = tuple[int, int, int]
"""A node that changed its domain: its row, the domain before, the domain now."""


class NodeFilter(Protocol):
    """Selects the nodes that count; immutable, hashable, and compared by value."""

    def matches(self, node: Node) -> bool:
        """Whether a node counts; it must depend on the node object alone."""

    def __hash__(self) -> int: ...


class Domains:
    """The values that nodes have for one label, as small integers.

    A domain's number is an index into any array of `slots` elements. The last element
    is for nodes without the label, so that -1 is an index, too.

    Attributes:
        key: The node label.
        where: Selects the nodes that count; None for all nodes.
        sizes: Shape ``(slots,)``, dtype int64: the number of nodes that count in each
            domain. A domain without such nodes does not exist.
        codes: Shape ``(C,)``, dtype intp: the domain of each row's value, or -1 without
            a label, whether the node counts or not.
        domain_of: Row -> the domain that the node counts in, -1 without a label, or
            `OUTSIDE`.
        revision: The revision of `NodeTable.node_changes` that this has followed.
    """

    __slots__ = (
        "_answers",
        "_existing",
        "_is_identity",
        "_nodes",
        "_rows",
        "codes",
        "domain_of",
        "key",
        "revision",
        "sizes",
        "where",
    )

    def __init__(self, nodes: NodeTable, key: str, where: NodeFilter | None) -> None:
        self.key = key
        self.where = where
        self.sizes: Int64Array = np.zeros(_FIRST_SLOTS, dtype=np.int64)
        self.codes: RowArray = np.full(0, UNLABELLED, dtype=np.intp)
        self.domain_of: list[int] = []
        self._nodes = nodes
        self._existing: RowArray | None = None
        self._is_identity: bool | None = None
        self._answers: dict[tuple[str, bytes], npt.NDArray[np.generic]] = {}
        self._rows: Rows | None = None
        self.revision = -1
        self.catch_up()

    @property
    def slots(self) -> int:
        """The length of arrays by domain, which is above the number of values."""
        return len(self.sizes)

    @property
    def existing(self) -> RowArray:
        """The domains that have a node which counts, ascending, read-only."""
        if self._existing is None:
            self._existing = np.flatnonzero(self.sizes[:-1])
        return self._existing

    @property
    def unlabelled(self) -> int:
        """How many nodes count, but have no such label."""
        return int(self.sizes[-1])

    @property
    def is_by_row(self) -> bool:
        """Whether each row's domain has the number of the row, as hosts mostly have."""
        if self._is_identity is None:
            count = len(self._nodes.infos)
            numbers = np.arange(count, dtype=np.intp)
            self._is_identity = count < self.slots and bool(
                np.array_equal(self.codes[:count], numbers)
            )
        return self._is_identity

    def number(self, value: str) -> int:
        """Return the domain of a value; `OUTSIDE` if no node has ever had it."""
        return self._nodes.label(self.key).code(value)

    def spread(self, values: npt.NDArray[ScalarT], rows: Rows) -> npt.NDArray[ScalarT]:
        """Return for each row the value of its domain.

        Args:
            values: Shape ``(slots,)``: a value per domain, the last one for rows
                without the label.
            rows: The rows of the result.

        Returns:
            Shape ``(N,)``, in the order of ``rows``; do not write to it.
        """
        if not isinstance(rows, slice):
            return values.take(rows if self.is_by_row else self.codes[rows])
        if self.is_by_row:
            return values[rows]
        if len(values) > _FEW_SLOTS:
            return values.take(self.codes[rows])
        if rows != self._rows or len(self._answers) > _KEPT_ANSWERS:
            self._answers.clear()
            self._rows = rows
        # Successive pods have the same few values, mostly flags of zones.
        question = (values.dtype.char, values.tobytes())
        answer = self._answers.get(question)
        if answer is None:
            answer = freeze(values.take(self.codes[rows]))
            self._answers[question] = answer
        return answer  # type: ignore[return-value]  # the question holds the dtype

    def seen_at(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which domains the given rows are in, shape ``(slots,)``."""
        seen: npt.NDArray[np.bool_] = np.zeros(self.slots, dtype=np.bool_)
        seen[self.codes[rows]] = True
        return seen

    def catch_up(self) -> Sequence[DomainMove]:
        """Update the rows whose nodes were added, removed or changed.

        Called by `PodCounts`, which moves the pods of these nodes to their new domains.

        Returns:
            The nodes whose domain has changed.
        """
        rows = self._changed_rows()
        self._make_room()
        moves: list[DomainMove] = []
        codes, infos = self._nodes.label(self.key).codes, self._nodes.infos
        where = self.where
        for row in rows:
            info = infos[row]
            code = UNLABELLED if info is None else int(codes[row])
            admitted = info is not None and (where is None or where.matches(info.node))
            old, new = self.domain_of[row], code if admitted else OUTSIDE
            if code != self.codes[row]:
                self.codes[row] = code
            if old != new:
                self._resize(old, -1)
                self._resize(new, 1)
                self.domain_of[row] = new
                moves.append((row, old, new))
        if moves:
            self._existing = None
        self._is_identity = None
        self._answers.clear()
        return moves

    def _changed_rows(self) -> Iterable[int]:
        changes = self._nodes.node_changes
        rows = changes.since(self.revision)
        self.revision = changes.revision
        return range(len(self._nodes.infos)) if rows is None else rows

    def _resize(self, domain: int, by: int) -> None:
        if domain != OUTSIDE:
            self.sizes[domain] += by

    def _make_room(self) -> None:
        values = len(self._nodes.label(self.key).values)
        if values >= len(self.sizes):
            grown = np.zeros(values + values // 4 + _FIRST_SLOTS, dtype=np.int64)
            grown[: len(self.sizes) - 1] = self.sizes[:-1]
            grown[-1] = self.sizes[-1]
            self.sizes = grown
        missing = len(self._nodes.infos) - len(self.domain_of)
        if missing > 0:
            self.domain_of.extend([OUTSIDE] * missing)
        capacity = self._nodes.capacity
        if capacity > len(self.codes):
            more = capacity - len(self.codes)
            self.codes = np.pad(self.codes, (0, more), constant_values=UNLABELLED)
