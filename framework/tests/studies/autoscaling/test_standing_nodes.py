"""Expected nodes and waiting pods stay in a trial only if new ones would be equal."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

import pytest
from msgspec.structs import replace

from quaymaster import (
    ApiObject,
    Handle,
    Node,
    NodeInfo,
    Pod,
    PodUse,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.autoscaling import (
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.config import SchedulerConfig, parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Quantity
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation
from quaymaster.testing import (
    make_affinity_term,
    make_daemon_set,
    make_node,
    make_pod,
    make_spread_constraint,
    profile_config,
)
from tests.kit.internals.autoscaling import (
    ExpectedNodes,
    HintedPlacing,
    SeenPod,
    StandingTrial,
    Template,
    WaitingPlaces,
    with_defaults,
)
from tests.kit.nightly import sampled

GROUPS: Final = {"small": 2, "large": 8}
LATE_SECONDS: Final = 40
STEPS: Final = 30
LAST_SECONDS: Final = 1200
MakePod = Callable[[random.Random, str], Pod]


def plain(chance: random.Random, name: str) -> Pod:
    """Make a pod for which only its own node counts."""
    requests = {"cpu": f"{chance.randint(1, 12)}00m"}
    priority = chance.choice((0, 0, 0, 5))
    return make_pod(name=name, requests=requests, priority=priority)


def social(chance: random.Random, name: str) -> Pod:
    """Make a pod for which other pods may decide where it fits."""
    labels = {"app": chance.choice("ab")}
    term = make_affinity_term(selector=labels)
    spread = make_spread_constraint(
        selector=labels, topology_key="kubernetes.io/hostname"
    )
    pod = partial(make_pod, name=name, labels=labels, requests={"cpu": "600m"})
    kinds = [
        partial(pod, pod_anti_affinity=[term]),
        partial(pod, pod_affinity=[term]),
        partial(pod, spread=[spread]),
        partial(pod, host_ports=[80]),
    ]
    return chance.choice(kinds)()


def mixed(chance: random.Random, name: str) -> Pod:
    make = social if chance.random() < 0.1 else plain
    return make(chance, name)


def setup_of(chance: random.Random) -> ClusterAutoscalerSetup:
    groups = [
        GroupSettings(
            name=name,
            max=chance.randint(2, 8),
            resources={"cpu": Quantity(str(cores)), "memory": Quantity("32Gi")},
        )
        for name, cores in GROUPS.items()
    ]
    options = ClusterAutoscalerOptions(
        max_node_provision_time=chance.choice((LATE_SECONDS, 900)),
        scale_down_unneeded_time=chance.choice((20, 600)),
        scale_down_delay_after_add=chance.choice((0, 600)),
    )
    return ClusterAutoscalerSetup(groups=groups, options=options)


def course(seed: int, make: MakePod) -> list[object]:
    """Return all that happens to a random cluster."""
    chance = random.Random(seed)
    setup = setup_of(chance)
    capacity = {"cpu": "2", "memory": "8Gi"}
    first: list[ApiObject] = [make_node(name="old", capacity=capacity)]
    if chance.random() < 0.5:
        first.append(
            make_daemon_set(name="agent", pod=make_pod(requests={"cpu": "100m"}))
        )
    with Simulation(first, autoscaler=setup, seed=seed) as simulation:
        for number in range(STEPS):
            for each in range(chance.choice((0, 1, 4))):
                simulation.cluster.create(make(chance, f"p{number}-{each}"))
            pods = simulation.cluster.list(Pod).items
            if pods and chance.random() < 0.3:
                gone = chance.choice(pods)
                simulation.cluster.delete(Pod, gone.key, grace_period_seconds=0)
            nodes = simulation.cluster.list(Node).items
            if nodes and chance.random() < 0.05:
                simulation.cluster.delete(Node, chance.choice(nodes).name)
            simulation.run_until(simulation.now + chance.choice((1, 7, 35)))
        simulation.run_until(simulation.now + LAST_SECONDS)
        controller = simulation.autoscaler
        assert isinstance(controller, ClusterAutoscalerController)
        result = simulation.result()
        parts = [result.placements, result.unscheduled, controller.nodes()]
        return [*parts, [str(event) for event in controller.events]]


@pytest.mark.parametrize("make", [plain, social, mixed])
@pytest.mark.parametrize("seed", sampled(range(40), step=10))
def test_course_is_the_same_if_nothing_stands_between_two_loops(
    seed: int, make: MakePod, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_standing = course(seed, make)
    monkeypatch.setattr(StandingTrial, "catch_up_beneath", StandingTrial.catch_up)
    assert course(seed, make) == with_standing


class Loops:
    """Places waiting pods on expected nodes, in loop after loop.

    Args:
        cluster: The cluster.
        stands: Whether anything stands between two loops.
    """

    def __init__(
        self,
        cluster: InMemoryCluster,
        *,
        stands: bool,
        config: SchedulerConfig | None = None,
        registry: PluginRegistry | None = None,
    ) -> None:
        config, registry = with_defaults(config, registry)
        self._stands = stands
        self._number = 0
        self.trial = StandingTrial(cluster, config, registry)
        self._expected = ExpectedNodes(self.trial, GROUPS)
        self._places = WaitingPlaces(self.trial)
        self._placing = HintedPlacing(self.trial)
        self._waiting: dict[str, SeenPod] = {}

    def places(
        self,
        pods: Sequence[Pod],
        nodes: Mapping[str, int],
        templates: Mapping[str, Template],
        others: Sequence[Pod] = (),
    ) -> list[tuple[str, list[str]]]:
        """Return the nodes in their order, each with its pods by name.

        Args:
            pods: The pods of the cluster; these keep their order.
            nodes: Group -> the number of its expected nodes.
            templates: Group -> its expected nodes.
            others: The other pods, which come in any order.
        """
        if self._stands:
            self.trial.catch_up_beneath()
        else:
            self.trial.catch_up()
        upcoming = {group: (count, ()) for group, count in nodes.items() if count}
        self._expected.stand(upcoming, templates)
        with self.trial.fork_on_standing():
            every = [*pods, *others]
            if self._stands:
                left = self._places.place(self._changes(pods), others)
                placed = self._places.placed(left)
            else:
                every.sort(key=lambda pod: -pod.priority)
                placed = self._placing.place(every, lambda _name: True)
                self._placing.forget_old()
            found = [
                (node.name, sorted(pod.name for pod in info.pods.values()))
                for node in self.trial.nodes()
                if (info := self.trial.get(node.name)) is not None
            ]
        return [*found, ("placed", sorted(placed))]

    def _changes(self, pods: Sequence[Pod]) -> Mapping[str, SeenPod | None]:
        """Return what has changed since the last call, as `SeenCluster` does."""
        before = self._waiting
        self._waiting = {}
        for pod in pods:
            seen = before.get(pod.uid)
            if seen is None:
                self._number += 1
                seen = SeenPod(self._number, pod)
            # Identity: a changed pod is a new object.
            elif seen.pod is not pod:
                seen = SeenPod(seen.number, pod)
            self._waiting[pod.uid] = seen
        gone: dict[str, SeenPod | None] = dict.fromkeys(before.keys() - self._waiting)
        new = (
            (uid, seen)
            for uid, seen in self._waiting.items()
            if before.get(uid) is not seen  # Identity: as above
        )
        return {**gone, **dict(new)}


def check_places(seed: int, make: MakePod) -> None:
    chance = random.Random(seed)
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    capacity = {"cpu": "2", "memory": "8Gi"}
    cluster.create(make_node(name="old", capacity=capacity))
    templates = [
        {
            group: Template(node=make_node(name=group, capacity=capacity), pods=[])
            for group in GROUPS
        }
        for _ in range(2)
    ]
    new, old = Loops(cluster, stands=True), Loops(cluster, stands=False)
    pods: list[Pod] = []
    others: list[Pod] = []
    for number in range(STEPS):
        pods += [
            make(chance, f"p{number}-{each}")
            for each in range(chance.choice((0, 1, 3)))
        ]
        if pods and chance.random() < 0.4:
            pods.remove(chance.choice(pods))
        if pods and chance.random() < 0.2:
            others.append(pods.pop(chance.randrange(len(pods))))
        if others and chance.random() < 0.3:
            others.remove(chance.choice(others))
        if chance.random() < 0.2:
            chance.shuffle(others)
        if pods and chance.random() < 0.2:
            at = chance.randrange(len(pods))
            metadata = replace(pods[at].metadata, labels={"app": chance.choice("ab")})
            pods[at] = replace(pods[at], metadata=metadata)
        if pods and chance.random() < 0.2:
            bound = replace(pods.pop(), node_name="old")
            cluster.create(bound)
        nodes = {"small": chance.choice((0, 0, 1, 3)), "large": chance.choice((3, 4))}
        examples = chance.choice((*templates[:1] * 9, templates[1]))
        kept = new.places(pods, nodes, examples, others)
        assert kept == old.places(pods, nodes, examples, others)


@pytest.mark.long
@pytest.mark.parametrize("make", [plain, social, mixed])
@pytest.mark.parametrize("seed", range(20))
def test_pods_that_stay_have_the_places_that_they_would_get(
    seed: int, make: MakePod
) -> None:
    check_places(seed, make)


class Closings:
    """Closes nodes as an outside service says."""

    scope, pod_use = Scope.NODE, PodUse.NONE
    closed: ClassVar[set[str]] = set()
    handles: ClassVar[list[Handle]] = []

    def __init__(self, _args: object, handle: Handle) -> None:
        self.handles.append(handle)

    @hookimpl
    def sign_pod(self) -> str:
        return ""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        group = node.name.partition("-")[0]
        return Status.unschedulable("closed") if group in self.closed else None


def test_pods_do_not_stay_where_data_of_a_plugin_have_changed() -> None:
    registry = PluginRegistry.discover().with_plugin(Closings)
    config = parse_config(profile_config(enable=[Closings]), registry)
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    capacity = {"cpu": "2", "memory": "8Gi"}
    templates = {
        group: Template(node=make_node(name=group, capacity=capacity), pods=[])
        for group in GROUPS
    }
    loops = Loops(cluster, stands=True, config=config, registry=registry)
    pods = [make_pod(name="p", requests={"cpu": "1"})]
    nodes = {"small": 1, "large": 1}
    before = loops.places(pods, nodes, templates)
    Closings.closed.add("small")
    for handle in Closings.handles:
        handle.changed()
    after = loops.places(pods, nodes, templates)
    assert before[0] == ("small-upcoming-0", ["p"])
    assert after[:2] == [("small-upcoming-0", []), ("large-upcoming-0", ["p"])]


def test_pods_do_not_stay_where_a_new_pod_rejects_them_from_another_node() -> None:
    zone = {"topology.kubernetes.io/zone": "a"}
    capacity = {"cpu": "2", "memory": "8Gi"}
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    cluster.create(make_node(name="old", capacity=capacity, labels=zone))
    node = make_node(name="small", capacity=capacity, labels=zone)
    templates = {"small": Template(node=node, pods=[])}
    loops = Loops(cluster, stands=True)
    pods = [
        make_pod(name=name, requests={"cpu": "1500m"}, labels={"app": "a"})
        for name in ("p", "q")
    ]
    # Several loops: what a skip depends on is cached from the second attempt on.
    before = [loops.places(pods, {"small": 1}, templates) for _ in range(4)][-1]
    term = make_affinity_term(
        selector={"app": "a"}, topology_key="topology.kubernetes.io/zone"
    )
    rival = make_pod(name="r", pod_anti_affinity=[term])
    cluster.create(replace(rival, node_name="old"))
    after = loops.places(pods, {"small": 1}, templates)
    assert before[-1] == ("placed", sorted(pod.uid for pod in pods))
    assert after[-1] == ("placed", [])


def test_pods_that_fit_nowhere_are_placed_when_a_node_falls_and_stands_again() -> None:
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    capacity = {"cpu": "2", "memory": "8Gi"}
    node = make_node(name="small", capacity=capacity)
    templates = {"small": Template(node=node, pods=[])}
    loops = Loops(cluster, stands=True)
    pods = [make_pod(name="p", requests={"cpu": "1"})]
    counts = 1, 0, 1
    places = [loops.places(pods, {"small": each}, templates) for each in counts]
    assert [each[-1][1] for each in places] == [[pods[0].uid], [], [pods[0].uid]]


def test_pods_that_have_changed_or_gone_do_not_keep_their_places() -> None:
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    node = make_node(name="small", capacity={"cpu": "2", "memory": "8Gi"})
    templates = {"small": Template(node=node, pods=[])}
    loops = Loops(cluster, stands=True)

    def placed(*pods: Pod) -> list[str]:
        [*_, (_, uids)] = loops.places(pods, {"small": 1}, templates)
        return [pod.name for pod in pods if pod.uid in uids]

    p, q, r = (make_pod(name=name, requests={"cpu": "1"}) for name in "pqr")
    larger = replace(q, spec=make_pod(requests={"cpu": "1500m"}).spec)
    assert placed(p, q, r) == ["p", "q"]
    assert placed(p, larger, r) == ["p", "r"]
    assert placed(larger, r) == ["r"]
    assert placed(larger) == ["q"]
