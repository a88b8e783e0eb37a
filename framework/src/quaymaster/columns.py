"""Nodes as columns: what batch twins compute with.

`quaymaster.NodeTable` has the columns that every node has; the names below make
and read further ones.
"""

from quaymaster._contract.declarations import Revised
from quaymaster._indexes.object_column import ObjectColumn
from quaymaster._indexes.pod_column import PodColumn
from quaymaster._state.allocation import Capacity, ReadNode, ResourceColumn
from quaymaster._state.arrays import (
    Float64Array,
    Int32Array,
    RowArray,
    constant,
    freeze,
    is_constant,
    is_frozen,
)
from quaymaster._state.change_log import ChangeLog
from quaymaster._state.coded_column import CodedColumn
from quaymaster._state.lines import lines_at
from quaymaster._state.node_info import HostPorts, ImageState
from quaymaster._state.resource_block import Capacities, ResourceBlock
from quaymaster._state.resource_rows import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster._state.row_reader import RowReader

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
]
