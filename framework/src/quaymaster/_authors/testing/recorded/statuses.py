"""Recorded reasons why nodes were rejected, as PostFilter reads them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from quaymaster._core.contract.status import Code, Status
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_table import NodeTable

__all__ = ["RecordedStatuses"]

_CODES: Final[Mapping[str, Code]] = {code.label.replace(" ", ""): code for code in Code}
_ABSENT: Final = {"code": "UnschedulableAndUnresolvable"}


class RecordedStatuses:
    """The statuses of nodes; implements `NodeStatuses`.

    Args:
        tree: The recorded statuses; None if the test gave none.
        nodes: The nodes of the snapshot.
    """

    def __init__(self, tree: Mapping[str, Any] | None, nodes: NodeTable) -> None:
        fields = tree or {}
        absent = fields.get("absentNodesStatus", {}).get("status", _ABSENT)
        self._absent = _status(absent)
        self._nodes = nodes
        self._by_name = {
            name: _status(node["status"])
            for name, node in fields.get("nodeToStatus", {}).items()
        }

    def __getitem__(self, node_name: str) -> Status:
        return self._by_name.get(node_name, self._absent)

    def nodes_with(self, *codes: int) -> Sequence[str]:
        """Return the nodes whose status has one of these codes."""
        return self._nodes.names_at(self.rows_with(*codes))

    def rows_with(self, *codes: int) -> RowArray:
        """Return the same nodes as rows."""
        names = self._nodes.names_at(self._nodes.rows)
        listed = [name for name in names if self[name].code in codes]
        return np.asarray(self._nodes.rows_of(listed), dtype=np.intp)


def _status(tree: Mapping[str, Any]) -> Status:
    return Status(_CODES[tree["code"]], tuple(tree.get("reasons", ())))
