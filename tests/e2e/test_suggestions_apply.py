"""A real API server accepts what suggestions print, of every kind, as a dry run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from quaymaster import ApiObject, Pod
from quaymaster.objects import to_wire
from quaymaster.simulation import ChangeKind, SuggestedChange, suggest_changes
from quaymaster.testing import (
    make_affinity_term,
    make_deployment,
    make_node,
    make_persistent_volume_claim,
    make_pod,
    make_priority_class,
    make_spread_constraint,
    make_stateful_set,
    make_storage_class,
)
from tests.e2e.client import ApiClient, RefusedError, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kubectl import dry_run
from tests.kit.hand_edits import edited_by_hand
from tests.kit.rollouts import half_rolled_out

ZONE: Final = "topology.kubernetes.io/zone"
SMALL: Final = {"cpu": "4", "memory": "8Gi", "pods": "9"}
SPREAD: Final = make_spread_constraint(
    selector={"app": "web"}, topology_key="kubernetes.io/hostname"
)
OPEN: Final = make_node(name="sug-a", zone="sug-z1", allocatable=SMALL)
TAINTED: Final = make_node(name="sug-b", taints=["dedicated=1:NoSchedule"])
CORDONED: Final = make_node(name="sug-c", unschedulable=True)
FULL: Final = make_pod(name="full", node="sug-a", requests={"cpu": "3"}, priority=None)


def old_pod(**fields: Any) -> Pod:
    return make_pod(node="sug-a", images=["web:1"], requests={"cpu": "1"}, **fields)


def new_pod(**fields: Any) -> Pod:
    return make_pod(images=["web:2"], requests={"cpu": "1"}, **fields)


CASES: Final[Mapping[str, tuple[ChangeKind, str, Sequence[ApiObject]]]] = {
    "a scheduler": (
        ChangeKind.SCHEDULER,
        "p",
        [OPEN, make_pod(name="p", scheduler_name="volcano")],
    ),
    "the gates of a pod": (
        ChangeKind.GATES,
        "p",
        [OPEN, make_pod(name="p", scheduling_gates=["example.com/gate"])],
    ),
    "the taints policy": (
        ChangeKind.TAINTS_POLICY,
        "deploy/web",
        [
            OPEN,
            TAINTED,
            make_deployment(name="web", replicas=2, pod=make_pod(spread=[SPREAD])),
        ],
    ),
    "the keys of a revision": (
        ChangeKind.MATCH_LABEL_KEYS,
        "deploy/web",
        [
            OPEN,
            make_node(name="sug-d", allocatable={"cpu": "100m"}),
            *half_rolled_out("web", old_pod(spread=[SPREAD]), new_pod(spread=[SPREAD])),
        ],
    ),
    "a rollout": (
        ChangeKind.ROLLOUT,
        "deploy/web",
        [
            OPEN,
            *half_rolled_out("web", old_pod(host_ports=[80]), new_pod(host_ports=[80])),
        ],
    ),
    "a lower request": (
        ChangeKind.LOWER_REQUEST,
        "deploy/web",
        [OPEN, make_deployment(name="web", pod=make_pod(requests={"cpu": "4500m"}))],
    ),
    "fewer devices": (
        ChangeKind.LOWER_REQUEST_FAR,
        "deploy/web",
        [
            make_node(name="sug-g", allocatable={"nvidia.com/gpu": "3"}),
            make_deployment(name="web", pod=make_pod(limits={"nvidia.com/gpu": "4"})),
        ],
    ),
    "a host port": (
        ChangeKind.HOST_PORT,
        "deploy/web",
        [
            OPEN,
            make_pod(name="proxy", node="sug-a", host_ports=[8080]),
            make_deployment(name="web", pod=make_pod(host_ports=[8080])),
        ],
    ),
    "a larger skew": (
        ChangeKind.SPREADING,
        "deploy/web",
        [
            OPEN,
            make_node(name="sug-d", allocatable={"cpu": "0"}),
            make_deployment(
                name="web",
                replicas=2,
                pod=make_pod(spread=[SPREAD], requests={"cpu": "1"}),
            ),
        ],
    ),
    "a toleration": (
        ChangeKind.TOLERATION,
        "deploy/web",
        [TAINTED, make_deployment(name="web")],
    ),
    "reserved nodes": (
        ChangeKind.RESERVED_NODES,
        "deploy/web",
        [
            OPEN,
            FULL,
            TAINTED,
            make_deployment(name="web", pod=make_pod(requests={"cpu": "2"})),
        ],
    ),
    "a storage class of a claim": (
        ChangeKind.STORAGE_CLASS,
        "p",
        [
            OPEN,
            make_storage_class(name="far", allowed_topologies=[{ZONE: ["sug-z9"]}]),
            make_storage_class(name="100"),
            make_persistent_volume_claim(name="data", storage_class="far"),
            make_pod(name="p", claims=["data"]),
        ],
    ),
    "a storage class of a template": (
        ChangeKind.STORAGE_CLASS,
        "sts/db",
        [
            OPEN,
            make_storage_class(name="far", allowed_topologies=[{ZONE: ["sug-z9"]}]),
            make_storage_class(name="near"),
            make_stateful_set(
                name="db",
                pod=make_pod(),
                claims=[make_persistent_volume_claim(name="d", storage_class="far")],
            ),
        ],
    ),
    "a selector": (
        ChangeKind.SELECTOR,
        "deploy/web",
        [
            OPEN,
            make_deployment(
                name="web", pod=make_pod(node_selector={"example.com/disk": "ssd"})
            ),
        ],
    ),
    "a term of affinity": (
        ChangeKind.AFFINITY,
        "deploy/web",
        [
            OPEN,
            make_deployment(
                name="web",
                replicas=2,
                pod=make_pod(
                    pod_anti_affinity=[make_affinity_term(selector={"app": "web"})]
                ),
            ),
        ],
    ),
    "an expression of affinity": (
        ChangeKind.AFFINITY,
        "deploy/web",
        [
            OPEN,
            make_deployment(
                name="web",
                pod=make_pod(node_affinity={"example.com/disk": "ssd", ZONE: "sug-z1"}),
            ),
        ],
    ),
    "a node": (
        ChangeKind.ADD_NODE,
        "deploy/web",
        [
            OPEN,
            FULL,
            make_deployment(name="web", pod=make_pod(requests={"cpu": "4"})),
        ],
    ),
    "a cordoned node": (
        ChangeKind.UNCORDON,
        "deploy/web",
        [CORDONED, make_deployment(name="web")],
    ),
    "a label of a node": (
        ChangeKind.LABEL_NODE,
        "deploy/web",
        [
            OPEN,
            make_deployment(
                name="web", pod=make_pod(node_selector={"example.com/ssd": "true"})
            ),
        ],
    ),
    "a priority": (
        ChangeKind.PRIORITY,
        "deploy/web",
        [
            OPEN,
            FULL,
            make_priority_class(name="7e3", value=1000),
            make_deployment(
                name="web", pod=make_pod(requests={"cpu": "2"}, priority=None)
            ),
        ],
    ),
}
IMMUTABLE: Final = frozenset(
    {"Pod", "PersistentVolumeClaim", "StatefulSet", "ReplicaSet"}
)
"""Objects that people create again to change them."""
DRY: Final = {"dryRun": "All", "fieldValidation": "Strict"}


def without_server_fields(obj: ApiObject) -> Tree:
    tree = to_wire(obj)
    for field in ("uid", "resourceVersion", "creationTimestamp"):
        tree["metadata"].pop(field, None)
    return tree


@pytest.fixture
def stored(admin: ApiClient, request: pytest.FixtureRequest) -> Iterator[list[Tree]]:
    """Create the objects of a case, and delete them at the end."""
    trees = [without_server_fields(obj) for obj in CASES[request.param][2]]
    created: list[Tree] = []
    try:
        for tree in trees:
            if tree["kind"] not in IMMUTABLE or "schedulingGates" in tree["spec"]:
                admin.request("POST", path_of(tree, named=False), tree)
                created.append(tree)
        yield trees
    finally:
        for tree in created:
            admin.delete(path_of(tree), grace=0)


@pytest.mark.parametrize(
    ("name", "stored"), [(name, name) for name in CASES], indirect=["stored"], ids=CASES
)
def test_server_accepts_every_kind_of_suggestion(
    admin: ApiClient, control_plane: ControlPlane, name: str, stored: list[Tree]
) -> None:
    kind, pod, objects = CASES[name]
    changes = suggest_changes(pod, objects).changes
    assert (kind,) in [change.kinds for change in changes]
    for change in changes:
        if change.command:
            dry_run(control_plane, change.command)
        apply(admin, stored, change)


def apply(admin: ApiClient, trees: Sequence[Tree], change: SuggestedChange) -> None:
    """Send each changed or new object as a dry run."""
    old = {(tree["kind"], tree["metadata"]["name"]): tree for tree in trees}
    for tree in edited_by_hand(trees, change):
        key = tree["kind"], tree["metadata"]["name"]
        if tree == old.get(key):
            continue
        is_gated = "schedulingGates" in old.get(key, {}).get("spec", {})
        is_new = key not in old or (tree["kind"] in IMMUTABLE and not is_gated)
        if not is_new:
            admin.request("PUT", path_of(tree), tree, query=DRY)
            continue
        metadata = {**tree["metadata"], "name": f"{tree['metadata']['name']}-new"}
        copied = {**tree, "metadata": metadata}
        admin.request("POST", path_of(copied, named=False), copied, query=DRY)


@pytest.mark.parametrize("stored", ["a toleration"], indirect=True)
def test_server_refuses_a_value_that_is_not_quoted(
    admin: ApiClient, stored: list[Tree]
) -> None:
    [web] = [tree for tree in stored if tree["kind"] == "Deployment"]
    template = web["spec"]["template"]
    toleration = {"key": "dedicated", "operator": "Equal", "value": 1}
    spec = {**template["spec"], "tolerations": [toleration]}
    changed = {
        **web,
        "spec": {**web["spec"], "template": {**template, "spec": spec}},
    }
    with pytest.raises(RefusedError, match="string"):
        admin.request("PUT", path_of(changed), changed, query=DRY)


def test_every_kind_has_a_case() -> None:
    # The changes of a plugin are as good as the plugin; those of groups have a file of
    # their own.
    kinds = {kind for kind, _, _ in CASES.values()}
    assert kinds == set(ChangeKind) - {ChangeKind.PLUGIN, ChangeKind.MIN_COUNT}
