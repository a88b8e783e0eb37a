"""A real API server accepts what suggestions about groups print, as a dry run."""

from collections.abc import Iterator

import pytest

from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import to_wire
from quaymaster.simulation import ChangeKind, suggest_group_changes
from quaymaster.testing import make_node, make_pod, make_pod_group
from tests.e2e.binaries import SERVED
from tests.e2e.client import path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kubectl import dry_run
from tests.e2e.loads import GROUP_FLAGS

GATES = {"GenericWorkload": True}

pytestmark = pytest.mark.skipif(
    not SERVED.since("1.37"), reason="no earlier version serves these groups"
)


@pytest.fixture(scope="module")
def plane(servers: None) -> Iterator[ControlPlane]:
    with ControlPlane(apiserver_flags=GROUP_FLAGS) as plane:
        yield plane
        plane.apiserver.kill()  # it would wait for open watches


def test_server_accepts_a_lower_quorum(plane: ControlPlane) -> None:
    group = make_pod_group(name="gang", min_count=3)
    pods = [
        make_pod(name=f"p{n}", scheduling_group="gang", requests={"cpu": "1"})
        for n in range(3)
    ]
    node = make_node(name="n", allocatable={"cpu": "2", "pods": "9"})
    tree = to_wire(group)
    for field in ("uid", "resourceVersion", "creationTimestamp"):
        tree["metadata"].pop(field, None)
    tree.pop("status", None)
    plane.client().request("POST", path_of(tree, named=False), tree)
    config = default_config(kubernetes=Kubernetes(feature_gates=GATES))
    changes = suggest_group_changes(
        "podgroup/gang", [node, group, *pods], config=config
    ).changes
    [command] = [
        change.command for change in changes if change.kinds == (ChangeKind.MIN_COUNT,)
    ]
    dry_run(plane, command)
