"""Columns of nodes, for batch twins.

`quaymaster.NodeTable` has the columns of every node; the names below create and
read further ones.
"""

from quaymaster._core.contract.declarations import Revised
from quaymaster._core.state.allocation import Capacity, ReadNode, ResourceColumn
from quaymaster._core.state.arrays import (
    Float64Array,
    Int32Array,
    RowArray,
    constant,
    freeze,
    is_constant,
    is_frozen,
)
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.coded_column import CodedColumn
from quaymaster._core.state.label_rows import selector_matches
from quaymaster._core.state.lines import lines_at
from quaymaster._core.state.node_info import HostPorts, ImageState
from quaymaster._core.state.resource_block import Capacities, ResourceBlock
from quaymaster._core.state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster._core.state.row_reader import RowReader
from quaymaster._kits.indexes.node_column import NodeColumn
from quaymaster._kits.indexes.object_column import ObjectColumn
from quaymaster._kits.indexes.pod_column import PodColumn

__all__ = [
    "CPU",
    "EPHEMERAL_STORAGE",
    "MEMORY",
    "Capacities",
    "Capacity",
    "ChangeLog",
    "CodedColumn",
    "Float64Array",
    "HostPorts",
    "ImageState",
    "Int32Array",
    "NodeColumn",
    "ObjectColumn",
    "PodColumn",
    "ReadNode",
    "ResourceBlock",
    "ResourceColumn",
    "Revised",
    "RowArray",
    "RowReader",
    "constant",
    "freeze",
    "is_constant",
    "is_frozen",
    "lines_at",
    "selector_matches",
]
