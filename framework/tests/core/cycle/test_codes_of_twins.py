"""Codes of a twin may be any integers: the plugin maps each code to a status."""

import numpy as np
import numpy.typing as npt
import pytest

from quaymaster import (
    Handle,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod

NODES = 90  # more codes than are counted with a set
CODES: dict[str, list[int]] = {
    "flags": [0, 1],
    "one": [0, 7],
    "bytes": [0, 1, 255],
    "unsigned": [0, 1, 2, 2**63],
    "negative": [0, -1, -5, 3],
    "large": [0, 1, 2**40],
}
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Coded"}]}}}],
}
TYPES: dict[str, type[np.generic]] = {
    "flags": np.bool_,
    "bytes": np.uint8,
    "unsigned": np.uint64,
}


class Coded:
    """Rejects each node with the code of its number."""

    codes: npt.NDArray[np.integer] | npt.NDArray[np.bool_]

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        numbers = [int(node.name[1:]) for node in nodes.infos_at(rows)]
        return NodeVerdicts(self.codes[np.array(numbers) % len(self.codes)], _status)

    @hookimpl
    def filter(self, node: object) -> Status | None:
        raise AssertionError("there are more nodes than are asked about one by one")


class RememberedCoded(Coded):
    """The same, and its answers are cached."""

    scope = Scope.NODE

    @hookimpl
    def sign_pod(self, pod: Pod) -> str:
        return "alike"


def _status(code: int) -> Status:
    return Status.unschedulable(f"code {int(code)}")


@pytest.mark.parametrize("plugin", [Coded, RememberedCoded])
@pytest.mark.parametrize("kind", CODES)
def test_rejections_are_counted_by_code(plugin: type[Coded], kind: str) -> None:
    # The first of the codes passes the node: it is left out here.
    given = CODES[kind][1:]
    codes: npt.NDArray[np.integer] = np.array(given, dtype=TYPES.get(kind, np.int64))
    coded = type(plugin.__name__, (plugin,), {"codes": codes})
    harness = SchedulerHarness(
        [make_node(name=f"n{number:02}") for number in range(NODES)],
        plugins={"Coded": coded},
        config=CONFIG,
    )
    pod = harness.cluster.create(make_pod(name="p"))
    harness.settle()
    share = NODES // len(given)
    expected = sorted(f"{share} code {int(code)}" for code in given)
    message = harness.message(pod.key)
    assert message.startswith(f"0/{NODES} nodes are available: {', '.join(expected)}.")
