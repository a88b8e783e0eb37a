"""Selectors of labels give the same answer for many nodes as for each node."""

import numpy as np
import pytest

from quaymaster import Snapshot
from quaymaster.columns import selector_matches
from quaymaster.objects import Operator, Requirement, Selector
from quaymaster.testing import make_node

VALUES = (None, "a", "b", "", "3", "7", "x1")
REQUIREMENTS = [
    Requirement("key", Operator.IN, ("a", "b")),
    Requirement("key", Operator.IN, ("absent",)),
    Requirement("key", Operator.NOT_IN, ("a",)),
    Requirement("key", Operator.EXISTS),
    Requirement("key", Operator.DOES_NOT_EXIST),
    Requirement("key", Operator.GREATER_THAN, ("3",)),
    Requirement("key", Operator.LESS_THAN, ("7",)),
]


def cluster() -> Snapshot:
    snapshot = Snapshot()
    for number, value in enumerate(VALUES):
        labels = {} if value is None else {"key": value}
        snapshot.add_node(make_node(name=f"node-{number}", labels=labels))
    return snapshot


SELECTORS = [
    *(Selector([requirement]) for requirement in REQUIREMENTS),
    Selector(REQUIREMENTS[2:4]),
    Selector(),
    Selector(matches_nothing=True),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_each_row_is_judged_as_its_labels_are(selector: Selector) -> None:
    nodes = cluster().nodes
    rows = np.array([6, 0, 4, 1, 2, 3, 5])
    infos = nodes.infos_at(rows)
    expected = [selector.matches(info.labels) for info in infos]
    assert selector_matches(selector, nodes, rows).tolist() == expected
