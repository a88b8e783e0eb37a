"""Changes of nodes, objects, workloads and configurations."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config, load_config
from quaymaster.inmemory import AdmissionError, InMemoryCluster
from quaymaster.objects import Namespace, ReplicaSet
from quaymaster.planning import (
    AddNodes,
    Apply,
    ChangeError,
    ClusterChange,
    Create,
    Delete,
    Drain,
    Effect,
    FailNodes,
    FailZone,
    Patch,
    RemoveNodes,
    Repack,
    ReturnNodes,
    Scale,
    SetImage,
    Target,
    UseConfig,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_container,
    make_daemon_set,
    make_deployment,
    make_job,
    make_metadata,
    make_node,
    make_pod,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE = "topology.kubernetes.io/zone"

Made = Callable[..., Simulation]


@pytest.fixture
def simulated(request: pytest.FixtureRequest) -> Made:
    """Return a function that simulates objects on two nodes in two zones."""

    def made(*objects: ApiObject) -> Simulation:
        cluster = InMemoryCluster(VirtualClock())
        nodes = [
            make_node(name=f"n{index}", labels={ZONE: f"zone-{index}"})
            for index in range(2)
        ]
        cluster.load([*nodes, *objects])
        simulation = Simulation(cluster, config=CONFIG, registry=REGISTRY)
        request.addfinalizer(simulation.close)
        simulation.settle()
        return simulation

    return made


def settled(simulation: Simulation, change: ClusterChange) -> Effect:
    effect = change.apply(simulation)
    simulation.settle()
    return effect


def nodes_of_pods(simulation: Simulation) -> dict[str, str]:
    pods = simulation.cluster.list(Pod).items
    return {pod.key: pod.node_name for pod in pods}


def on_nodes(simulation: Simulation) -> list[str]:
    return sorted(nodes_of_pods(simulation).values())


def target(text: str) -> Target:
    return Target.parse(text)


def test_pods_of_a_lost_zone_are_replaced_by_their_controllers(
    simulated: Made,
) -> None:
    simulation = simulated(
        make_deployment(name="web", replicas=4),
        make_daemon_set(name="agent"),
        make_pod(name="bare", node="n0"),
    )
    effect = FailZone(zone="zone-0").apply(simulation)
    simulation.run_until(simulation.now)
    assert effect.objects == ["Node/n0"]
    assert len(effect.lost) == 4
    assert effect.unmanaged == ["default/bare"]
    assert on_nodes(simulation) == ["n1"] * 5


def test_a_failed_node_returns_empty(simulated: Made) -> None:
    simulation = simulated(make_daemon_set(name="agent"))
    settled(simulation, FailNodes(nodes="n0"))
    assert on_nodes(simulation) == ["n1"]
    simulation.run_until(100)
    effect = settled(simulation, ReturnNodes(nodes="n0"))
    assert (effect.at, effect.objects) == (100, ["Node/n0"])
    assert on_nodes(simulation) == ["n0", "n1"]
    with pytest.raises(ChangeError, match="there is no node 'n0'"):
        ReturnNodes(nodes="n0").apply(simulation)


def test_pods_of_a_removed_node_are_collected_after_forty_seconds(
    simulated: Made,
) -> None:
    simulation = simulated(make_deployment(name="web", replicas=2))
    begin = simulation.now
    effect = RemoveNodes(nodes=f"{ZONE}=zone-0").apply(simulation)
    simulation.run_until(begin + 39)
    assert on_nodes(simulation) == ["n0", "n1"]
    simulation.settle()
    assert on_nodes(simulation) == ["n1", "n1"]
    assert len(effect.lost) == 1


def test_added_nodes_take_what_waits(simulated: Made) -> None:
    big = make_pod(name="big", requests={"cpu": "100"})
    simulation = simulated(big)
    effect = settled(simulation, AddNodes(spec="2:cpu=128,memory=1Ti,name=n"))
    assert effect.objects == ["Node/n-000", "Node/n-001"]
    assert nodes_of_pods(simulation)["default/big"].startswith("n-00")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (FailZone(zone="x"), r"no node is in zone 'x' \(zones: zone-0, zone-1\)"),
        (AddNodes(spec="many"), "expected COUNT:KEY=VALUE"),
        (RemoveNodes(nodes="gpu=yes"), "no node has the labels 'gpu=yes'"),
        (Scale(target=target("deploy/wbe"), replicas=1), "did you mean web?"),
        (Scale(target=target("no/n0"), replicas=1), "expected a Deployment, .* got a"),
        (Delete(target=target("thing/x")), r"there is no kind 'thing' \(known: "),
        (Delete(target=target("a/deploy/web")), "there is no .* in namespace a"),
        (SetImage(target=target("po/p"), image="x"), "a Pod has no template"),
        (SetImage(target=target("deploy/web"), image="x", container="y"), "no contain"),
        (Patch(target=target("deploy/web"), patch={"spec": {"replicas": "x"}}), "got"),
        (
            Patch(target=target("deploy/web"), patch={"metadata": {"name": "x"}}),
            "cannot be changed",
        ),
    ],
    ids=str,
)
def test_impossible_change_is_an_error_of_one_line(
    simulated: Made, change: ClusterChange, problem: str
) -> None:
    web, pod = make_deployment(name="web"), make_pod(name="p")
    with pytest.raises(ChangeError, match=problem) as error:
        change.apply(simulated(web, pod))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["web", "deploy/", "a/b/c/d", ""])
def test_names_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(ChangeError, match="expected KIND/NAME"):
        Target.parse(text)


def test_an_object_of_two_namespaces_needs_one(simulated: Made) -> None:
    web, other = (make_deployment(name="web", namespace=n) for n in ("a", "b"))
    simulation = simulated(web, other)
    with pytest.raises(ChangeError, match="2 namespaces have it: a, b; name one"):
        Scale.parse("deploy/web=3").apply(simulation)
    settled(simulation, Scale.parse("b/deploy/web=3"))
    settled(simulation, Scale.parse("deployments.apps/web=0", namespace="a"))
    assert all(key.startswith("b/") for key in nodes_of_pods(simulation))
    assert len(on_nodes(simulation)) == 3


@pytest.mark.parametrize("text", ["deploy/web", "deploy/web=-1", "deploy/web=2.5"])
def test_sizes_are_numbers(text: str) -> None:
    with pytest.raises(ChangeError, match="expected KIND/NAME=NUMBER"):
        Scale.parse(text)


def test_a_new_image_rolls_out(simulated: Made) -> None:
    simulation = simulated(make_deployment(name="web", replicas=4))
    before = nodes_of_pods(simulation)
    effect = settled(simulation, SetImage.parse("deploy/web=nginx:2"))
    assert effect.objects == ["Deployment/default/web"]
    pods = simulation.cluster.list(Pod).items
    assert [pod.spec.containers[0].image for pod in pods] == ["nginx:2"] * 4
    assert not before.keys() & nodes_of_pods(simulation).keys()
    assert len(simulation.cluster.list(ReplicaSet).items) == 2


def test_of_several_containers_one_is_named(simulated: Made) -> None:
    two = [make_container(name="main"), make_container(name="proxy")]
    simulation = simulated(make_deployment(name="web", pod=make_pod(containers=two)))
    with pytest.raises(ChangeError, match=r"2 containers \(main, proxy\); name one"):
        SetImage.parse("deploy/web=x").apply(simulation)
    settled(simulation, SetImage.parse("deploy/web:proxy=envoy:3"))
    [pod] = simulation.cluster.list(Pod).items
    assert pod.spec.containers[1].image == "envoy:3"
    assert pod.spec.containers[0].image != "envoy:3"
    with pytest.raises(ChangeError, match="expected KIND/NAME=IMAGE"):
        SetImage.parse("deploy/web:proxy")


def test_an_applied_object_is_made_or_changed(simulated: Made) -> None:
    simulation = simulated(make_deployment(name="web", replicas=2))
    new = make_deployment(name="api", replicas=1)
    changed = make_deployment(
        name="web", replicas=3, pod=make_pod(requests={"cpu": "1"})
    )
    effect = settled(simulation, Apply(objects=[changed, new], name="new.yaml"))
    assert str(Apply(objects=[new])) == "apply deployment/api"
    assert effect.change == "apply new.yaml"
    assert len(effect.objects) == 2
    assert len(on_nodes(simulation)) == 4
    assert settled(simulation, Apply(objects=[changed, new])).objects == []


def test_an_applied_object_without_replicas_keeps_their_number(
    simulated: Made,
) -> None:
    simulation = simulated(make_deployment(name="web", replicas=3))
    web = make_deployment(name="web", pod=make_pod(requests={"cpu": "1"}))
    given = replace(web, spec=replace(web.spec, replicas=None))
    settled(simulation, Apply(objects=[given]))
    assert len(on_nodes(simulation)) == 3


def test_new_objects_are_created_all_or_none(simulated: Made) -> None:
    simulation = simulated()
    twice = [make_pod(name="p"), make_pod(name="p")]
    with pytest.raises(AdmissionError, match="a name of its own"):
        Create(objects=twice).apply(simulation)
    assert nodes_of_pods(simulation) == {}
    settled(simulation, Create(objects=twice[:1]))
    assert list(nodes_of_pods(simulation)) == ["default/p"]


def test_a_patch_changes_what_it_names(simulated: Made) -> None:
    simulation = simulated(make_pod(name="p", requests={"cpu": "100"}))
    patch = {"status": {"allocatable": {"cpu": "200"}}}
    effect = settled(simulation, Patch(target=target("node/n1"), patch=patch))
    assert effect.objects == ["Node/n1"]
    assert nodes_of_pods(simulation) == {"default/p": "n1"}
    assert simulation.cluster.get(Node, "n1").labels[ZONE] == "zone-1"


def test_what_is_deleted_takes_its_pods_with_it(simulated: Made) -> None:
    simulation = simulated(make_deployment(name="web", replicas=3), make_pod(name="p"))
    settled(simulation, Delete(target=target("deploy/web")))
    assert list(nodes_of_pods(simulation)) == ["default/p"]
    settled(simulation, Delete(target=target("po/p")))
    assert nodes_of_pods(simulation) == {}
    settled(simulation, Delete(target=target("node/n0")))
    assert [node.name for node in simulation.cluster.list(Node).items] == ["n1"]


def test_a_deleted_namespace_deletes_its_objects(simulated: Made) -> None:
    metadata = make_metadata(Namespace, name="a")
    simulation = simulated(
        Namespace(metadata=metadata),
        make_deployment(name="web", namespace="a", replicas=2),
        make_job(name="work", namespace="a"),
        make_pod(name="p"),
    )
    settled(simulation, Delete(target=target("ns/a")))
    assert list(nodes_of_pods(simulation)) == ["default/p"]
    names = [item.name for item in simulation.cluster.list(Namespace).items]
    assert names == ["default"]


def test_a_repack_schedules_all_pods_again(simulated: Made) -> None:
    simulation = simulated(
        make_deployment(name="web", replicas=2, pod=make_pod(requests={"cpu": "1"})),
        make_job(name="work"),
        make_daemon_set(name="agent"),
        make_pod(name="bare", node="n1"),
    )
    pods = nodes_of_pods(simulation)
    packed = load_config("bin-packing", REGISTRY)
    settled(simulation, UseConfig(config=packed, name="bin-packing"))
    assert nodes_of_pods(simulation) == pods
    effect = settled(simulation, Repack())
    assert len(effect.objects) == 4
    after = nodes_of_pods(simulation)
    assert after.keys() == pods.keys()
    movable = {key.removeprefix("Pod/") for key in effect.objects}
    assert len({after[key] for key in movable}) == 1


def test_changes_have_a_short_text() -> None:
    changes: list[ClusterChange] = [
        Drain(nodes="n0"),
        FailNodes(nodes="n0"),
        Scale.parse("shop/deploy/web=3"),
        SetImage.parse("deploy/web:*=x"),
        Repack(),
        UseConfig(config=CONFIG),
    ]
    assert list(map(str, changes)) == [
        "drain n0",
        "fail n0",
        "scale shop/deploy/web=3",
        "set-image deploy/web:*=x",
        "repack",
        "config",
    ]


@pytest.mark.parametrize(
    "change",
    [
        RemoveNodes(nodes="held"),
        FailNodes(nodes="held"),
        Delete(target=target("node/held")),
    ],
    ids=str,
)
def test_a_node_with_the_finalizer_of_another_controller_is_removed(
    simulated: Made, change: ClusterChange
) -> None:
    node = make_node(name="held")
    metadata = replace(node.metadata, finalizers=("wrangler.cattle.io/node",))
    simulation = simulated(replace(node, metadata=metadata))
    settled(simulation, change)
    assert "held" not in [node.name for node in simulation.cluster.list(Node).items]
