"""Quaymaster and kube-scheduler on one API server, each with its own pods."""

from collections.abc import Iterator, Mapping

import pytest

from quaymaster import Node, Pod
from quaymaster.testing import make_node, make_pod
from tests.e2e.client import ApiClient, Tree, path_of
from tests.e2e.control_plane import ControlPlane
from tests.e2e.processes import eventually
from tests.e2e.strict_kubelets import StrictKubelets

OURS, THEIRS = "quaymaster", "default-scheduler"
NODES = 30
CPUS = 8
PARTED = "example.com/scheduler"


@pytest.fixture
def plane(servers: None) -> Iterator[ControlPlane]:
    with ControlPlane() as plane:
        yield plane
        plane.apiserver.kill()  # it would wait for open watches


def node(name: str, cpus: int = CPUS, labels: Mapping[str, str] | None = None) -> Node:
    return make_node(name=name, capacity={"cpu": str(cpus)}, labels=labels)


def pods(scheduler: str, count: int) -> list[Pod]:
    return [
        make_pod(
            name=f"{scheduler}-{number}",
            scheduler_name=scheduler,
            requests={"cpu": "1"},
        )
        for number in range(count)
    ]


def mixed(count: int) -> list[Pod]:
    """Return pods of both schedulers, in turn."""
    pairs = zip(pods(OURS, count), pods(THEIRS, count), strict=True)
    return [pod for pair in pairs for pod in pair]


def rest(admin: ApiClient) -> str:
    """Return the pods that do not run, in words."""
    pods = admin.items("/api/v1/pods")
    waiting = [p["metadata"]["name"] for p in pods if "nodeName" not in p["spec"]]
    return f"nodes for {waiting}, and {len(pods) - len(waiting)} other pods"


def profile(name: str, **more: object) -> Tree:
    return {
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": name, **more}],
    }


RESTS = {"multiPoint": {"enabled": [{"name": "NodeCoolDown"}]}}
RESTING = profile(OURS, plugins=RESTS)
# On a busy machine a node refuses several pods, and by default its fourth cool-down
# takes 80 seconds. Here every node is needed in the end.
RESTING_BRIEFLY = profile(
    OURS,
    plugins=RESTS,
    pluginConfig=[
        {"name": "NodeCoolDown", "args": {"initialSeconds": 1, "maxSeconds": 8}}
    ],
)


def parted(name: str, operator: str) -> Tree:
    """Return the configuration of the page on two schedulers."""
    label = {"key": PARTED, "operator": operator, "values": [OURS]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [label]}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    args = {"addedAffinity": affinity}
    return profile(name, pluginConfig=[{"name": "NodeAffinity", "args": args}])


def test_quaymaster_and_kube_scheduler_take_turns_by_one_lease(
    plane: ControlPlane,
) -> None:
    admin = plane.client()
    admin.create(node("node", 100))
    times = {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "500ms"}
    config = {"leaderElection": {"leaderElect": True, **times}}
    ours, theirs = plane.quaymaster(config), plane.scheduler(config)
    waiting = iter(pods(THEIRS, 100))

    def schedule_one() -> None:
        path = path_of(admin.create(next(waiting)))
        eventually(lambda: "nodeName" in admin.get(path)["spec"], what=path)

    ours.start()
    schedule_one()
    theirs.start()
    ours.pause()
    schedule_one()  # the other one
    ours.resume()
    assert ours.wait() != 0
    ours.start()
    theirs.kill()
    schedule_one()
    theirs.start()
    assert ours.stop() == 0
    schedule_one()


def test_both_fill_the_cluster_and_what_is_refused_finds_room_elsewhere(
    plane: ControlPlane,
) -> None:
    admin = plane.client()
    names = [f"node-{number:02}" for number in range(NODES)]
    admin.create_all(node(name) for name in names)
    kubelets = StrictKubelets(plane.client(), dict.fromkeys(names, CPUS))
    share = NODES * CPUS // 2
    with plane.scheduler(), plane.quaymaster(RESTING_BRIEFLY):
        admin.create_all(mixed(share))
        eventually(
            lambda: kubelets.count() == 2 * share, within=90, what=lambda: rest(admin)
        )
    placed = [
        (pod["spec"]["schedulerName"], pod["status"]["phase"])
        for pod in admin.items("/api/v1/pods")
    ]
    assert placed.count((OURS, "Running")) == share
    assert placed.count((THEIRS, "Running")) == share
    assert len(placed) == 2 * share + kubelets.refused.total()


def test_node_that_refuses_everything_gets_few_pods_of_ours(
    plane: ControlPlane,
) -> None:
    admin = plane.client()
    # For both it seems the best: it is empty, and its use is not visible in the API.
    free = {"liar": 0, "honest": 100}
    admin.create_all(node(name, 100) for name in free)
    kubelets = StrictKubelets(plane.client(), free)
    with plane.scheduler(), plane.quaymaster(RESTING):
        admin.create_all(pods(OURS, 20))
        eventually(lambda: kubelets.count() == 20, what="our pods")
        ours = kubelets.refused["liar", OURS]
        # Otherwise one pod after the other is bound to it, without end.
        admin.create_all(pods(THEIRS, 20))
        eventually(lambda: kubelets.refused["liar", THEIRS] > 10 * ours)
    assert 0 < ours <= 40


def test_each_keeps_to_its_own_nodes(plane: ControlPlane) -> None:
    admin = plane.client()
    admin.create_all(node(f"theirs-{number}") for number in range(10))
    admin.create_all(node(f"ours-{n}", labels={PARTED: OURS}) for n in range(10))
    free = {f"{whose}-{n}": CPUS for whose in ("ours", "theirs") for n in range(10)}
    kubelets = StrictKubelets(plane.client(), free)
    with (
        plane.scheduler(parted(THEIRS, "NotIn")),
        plane.quaymaster(parted(OURS, "In")),
    ):
        admin.create_all(mixed(10 * CPUS))
        eventually(
            lambda: kubelets.count() == 20 * CPUS, within=90, what=lambda: rest(admin)
        )
    assert kubelets.refused.total() == 0
    for pod in admin.items("/api/v1/pods"):
        whose = "ours" if pod["spec"]["schedulerName"] == OURS else "theirs"
        assert pod["spec"]["nodeName"].startswith(whose)
