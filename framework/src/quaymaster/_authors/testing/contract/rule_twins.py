"""Compares the batch twins of a rule and a limit with their scalar methods."""

import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.state.arrays import BoolArray, RowArray
from quaymaster._core.state.node_table import NodeTable
from quaymaster._kits.preemption.columns import VictimColumns
from quaymaster._kits.preemption.pod_columns import PodColumns
from quaymaster._kits.preemption.rules import Limit, VictimRule

__all__ = ["twin_difference"]


def twin_difference(
    rule: VictimRule,
    limit: Limit | None,
    state: CycleState,
    pod: Pod,
    table: NodeTable,
    rows: RowArray,
) -> str:
    """Return how a twin differs from its scalar method on some nodes, or empty.

    Args:
        rule: Selects the possible victims.
        limit: A condition besides the filters, or None.
        state: The pod's scratch space after filtering.
        pod: The pod that needs room.
        table: The nodes of the snapshot.
        rows: The nodes.
    """
    rows = np.sort(rows)
    columns = VictimColumns(rule.importance)
    columns.bring_up(table, table.infos_at(rows))
    pods = PodColumns(columns, table, rows, rule.group)
    # The methods of the base classes call the scalar methods for each node.
    expected: BoolArray = VictimRule.victims_on_rows(rule, state, pod, pods)
    actual = rule.victims_on_rows(state, pod, pods) & pods.is_pod
    for rank, place in np.argwhere(actual != expected).tolist():
        key = pods.nodes[place].pods[pods.uids(place)[rank]].key
        verb = "selects" if actual[rank, place] else "does not select"
        return (
            f"{type(rule).__name__}.victims_on_rows {verb} pod '{key}', unlike victims"
        )
    for gone in (expected, np.zeros_like(expected)) if limit else ():
        assert limit is not None
        scalar = Limit.exceeded_on_rows(limit, state, pod, pods, gone)
        batch = limit.exceeded_on_rows(state, pod, pods, gone)
        for place in np.flatnonzero(scalar != batch).tolist():
            name = pods.nodes[place].name
            owner = type(limit).__name__
            return f"{owner}.exceeded_on_rows and exceeded differ on node '{name}'"
    return ""
