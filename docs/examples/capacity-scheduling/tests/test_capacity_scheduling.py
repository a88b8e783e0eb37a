"""CapacityScheduling in a profile: borrowing, taking back, and what wakes pods."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from quaymaster import ApiObject, Handle, Node, PermitWait, Pod, hookimpl
from quaymaster.config import load_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import simulate
from quaymaster.testing import (
    Fault,
    SchedulerHarness,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    profile_config,
)

from quaymaster_capacity_scheduling import CapacityScheduling, ElasticQuota
from quaymaster_capacity_scheduling.testing import make_quota

PLUGINS = {"CapacityScheduling": CapacityScheduling}
CONFIG = profile_config(enable=[CapacityScheduling], disable=["DefaultPreemption"])
OVER_MAX = "over the max of its ElasticQuota: cpu"
OVER_MIN = "over the min of all ElasticQuotas: cpu"


def quota(namespace: str, least: int, most: int | None = None) -> ElasticQuota:
    """Make a quota of CPUs, with practically unlimited memory."""
    return make_quota(
        namespace,
        min={"cpu": least, "memory": "1Ti"},
        max=None if most is None else {"cpu": most, "memory": "1Ti"},
    )


def pods(
    namespace: str, count: int, *, priority: int = 0, first: int = 0, grace: int = 0
) -> list[Pod]:
    return [
        make_pod(
            name=f"p{number}",
            namespace=namespace,
            requests={"cpu": "1"},
            priority=priority,
            termination_grace_period_seconds=grace,
        )
        for number in range(first, first + count)
    ]


def node(cpu: int, name: str = "n") -> Node:
    return make_node(name=name, allocatable={"cpu": str(cpu)})


def start(*objects: ApiObject | Iterable[ApiObject]) -> SchedulerHarness:
    every = [
        stored
        for each in objects
        for stored in ([each] if isinstance(each, ApiObject) else each)
    ]
    harness = SchedulerHarness(every, plugins=PLUGINS, config=CONFIG)
    harness.settle()
    return harness


def create(harness: SchedulerHarness, objects: Iterable[ApiObject]) -> None:
    for obj in objects:
        harness.cluster.create(obj)
    harness.settle()
    harness.assert_no_errors()


def placed(harness: SchedulerHarness) -> Mapping[str, int]:
    """How many pods of each namespace have a node."""
    found: dict[str, int] = {}
    for pod in harness.cluster.list(Pod).items:
        found[pod.namespace] = found.get(pod.namespace, 0) + bool(pod.node_name)
    return found


def evicted(harness: SchedulerHarness) -> list[str]:
    return [
        f"{note.regarding.namespace}/{note.regarding.name}"
        for note in harness.cluster.events()
        if note.reason == "Preempted"
    ]


def test_the_profile_of_the_package_keeps_quotas() -> None:
    registry = PluginRegistry.discover().with_plugin(CapacityScheduling)
    config = load_config(Path(__file__).parents[1] / "profile.yaml", registry)
    cluster = [node(9), quota("a", 2), *pods("a", 3)]
    result = simulate(cluster, config=config, registry=registry)
    assert len(result.placements) == 2


def test_a_namespace_borrows_what_others_do_not_use() -> None:
    harness = start(node(9), quota("a", 2), quota("b", 2), pods("a", 5))
    assert placed(harness) == {"a": 4}
    harness.assert_pending("a/p4", reason=OVER_MIN)


def test_nobody_has_more_than_the_max() -> None:
    harness = start(node(9), quota("a", 2, 3), quota("b", 9), pods("a", 5))
    assert placed(harness) == {"a": 3}
    harness.assert_pending("a/p4", reason=OVER_MAX)


def test_what_was_borrowed_is_taken_back_whatever_the_priority() -> None:
    harness = start(node(4), quota("a", 2), quota("b", 2), pods("a", 4, priority=9))
    create(harness, pods("b", 3))
    assert placed(harness) == {"a": 2, "b": 2}
    assert len(evicted(harness)) == 2
    harness.assert_pending("b/p2", reason=OVER_MIN)


def test_room_is_taken_back_on_full_nodes_although_the_sum_of_all_min_is_larger() -> (
    None
):
    harness = start(
        node(2, "n0"), node(2, "n1"), quota("a", 2), quota("b", 9), pods("a", 4)
    )
    create(harness, pods("b", 2))
    assert placed(harness) == {"a": 2, "b": 2}


def test_nobody_is_pushed_below_the_own_min() -> None:
    harness = start(node(4), quota("a", 3), quota("b", 2), pods("a", 4))
    create(harness, pods("b", 2, priority=1000))
    assert placed(harness) == {"a": 3, "b": 1}
    assert len(evicted(harness)) == 1


def test_beyond_its_min_a_namespace_replaces_only_pods_of_its_own() -> None:
    harness = start(node(4), quota("a", 1), quota("b", 3), pods("a", 4))
    create(harness, pods("a", 1, priority=5, first=4))
    assert placed(harness) == {"a": 4}
    assert harness.node_of("a/p4") == "n"
    assert len(evicted(harness)) == 1


def test_pods_without_a_quota_and_pods_with_one_leave_each_other_alone() -> None:
    harness = start(
        node(3), quota("a", 1), quota("b", 1), pods("a", 2), pods("free", 1)
    )
    create(harness, pods("b", 1, priority=-1))
    assert evicted(harness) == ["a/p1"] or evicted(harness) == ["a/p0"]
    create(harness, pods("free", 1, priority=5, first=1))
    assert placed(harness) == {"a": 1, "b": 1, "free": 1}
    assert harness.node_of("free/p1") == "n"


def test_disruption_budgets_are_broken_last() -> None:
    protected = make_pod(
        name="kept",
        namespace="a",
        labels={"keep": ""},
        requests={"cpu": "1"},
        priority=-1,
    )
    budget = make_pod_disruption_budget(namespace="a", selector={"keep": ""})
    cluster = [node(4), quota("a", 2), quota("b", 2), budget, protected]
    harness = start(cluster, pods("a", 3))
    create(harness, pods("b", 1))
    assert evicted(harness) in (["a/p0"], ["a/p1"], ["a/p2"])


def test_several_that_take_back_at_once_evict_no_one_too_many() -> None:
    nodes = [node(3, f"n{number}") for number in range(4)]
    harness = start(nodes, quota("a", 6), quota("b", 6), pods("a", 12))
    assert placed(harness) == {"a": 12}
    create(harness, pods("b", 8))
    assert placed(harness) == {"a": 6, "b": 6}
    assert len(evicted(harness)) == 6


def test_pods_that_take_their_time_to_end_are_not_counted_on_twice() -> None:
    nodes = [node(3, f"n{number}") for number in range(4)]
    cluster = [*nodes, quota("a", 6), quota("b", 6), *pods("a", 12, grace=300)]
    harness = start(cluster)
    for pod in pods("b", 8):
        harness.cluster.create(pod)
    # All six find their victims at once: none waits for the victims of another.
    harness.advance(10)
    assert len(evicted(harness)) == 6
    assert placed(harness) == {"a": 12, "b": 0}
    harness.settle()
    assert len(evicted(harness)) == 6
    assert placed(harness) == {"a": 6, "b": 6}


def test_a_pod_that_the_quotas_refuse_waits_for_those_that_end_anyway() -> None:
    harness = start(node(9), quota("a", 2), quota("b", 2), pods("a", 4, grace=300))
    harness.cluster.delete(Pod, "a/p0")
    harness.cluster.create(pods("b", 1)[0])
    harness.advance(1)
    harness.assert_pending("b/p0", reason="waiting for pods that are on their way out")
    harness.settle()
    harness.assert_scheduled("b/p0")
    assert evicted(harness) == []


def test_pods_that_end_give_back() -> None:
    harness = start(node(9), quota("a", 2), pods("a", 3))
    harness.assert_pending("a/p2", reason=OVER_MIN)
    harness.cluster.patch_status(harness.pod("a/p0"), {"phase": "Succeeded"})
    harness.settle()
    harness.assert_scheduled("a/p2")


def test_pods_that_are_deleted_give_back() -> None:
    harness = start(node(9), quota("a", 2, 2), pods("a", 3))
    harness.assert_pending("a/p2", reason=OVER_MAX)
    harness.cluster.delete(Pod, "a/p1")
    harness.settle()
    harness.assert_scheduled("a/p2")


@pytest.mark.parametrize(
    "change",
    [quota("a", 3, 9), quota("b", 1, 1), None],
    ids=["the own grows", "another one comes", "the own goes"],
)
def test_changed_quotas_wake_pods(change: ElasticQuota | None) -> None:
    harness = start(node(9), quota("a", 2, 9), pods("a", 3))
    harness.assert_pending("a/p2", reason=OVER_MIN)
    if change is None:
        harness.cluster.delete(ElasticQuota, "a/quota")
    elif change.namespace == "a":
        harness.cluster.update(change)
    else:
        harness.cluster.create(change)
    harness.settle()
    harness.assert_scheduled("a/p2")


def test_a_changed_status_wakes_nobody() -> None:
    harness = start(node(9), quota("a", 2), pods("a", 3))
    attempts = len(harness.attempts)
    stored = harness.cluster.get(ElasticQuota, "a/quota")
    changed = harness.cluster.patch_status(stored, {"used": stored.spec.min})
    assert changed.status != stored.status
    harness.advance(60)
    assert len(harness.attempts) == attempts


def used(harness: SchedulerHarness) -> Mapping[str, str]:
    amounts = harness.cluster.get(ElasticQuota, "a/quota").status.used
    return {name: str(amount) for name, amount in amounts.items()}


def test_the_status_tells_what_running_pods_request() -> None:
    harness = start(node(9), quota("a", 2), pods("a", 3))
    harness.advance(1)
    assert used(harness) == {"cpu": "2", "memory": "0"}
    harness.cluster.delete(Pod, "a/p0")
    harness.cluster.delete(Pod, "a/p1")
    harness.advance(1)
    assert used(harness) == {"cpu": "1", "memory": "0"}


def test_the_status_is_written_when_the_cluster_is_there_again() -> None:
    harness = SchedulerHarness(
        [node(9), quota("a", 2), *pods("a", 2)],
        plugins=PLUGINS,
        config=CONFIG,
        faults={Fault.ERROR: 0.5},
        seed=3,
    )
    harness.advance(60)
    assert used(harness) == {"cpu": "2", "memory": "0"}


def test_the_status_may_be_left_to_others() -> None:
    config = profile_config(
        enable=[CapacityScheduling],
        disable=["DefaultPreemption"],
        args={CapacityScheduling: {"elasticQuotaStatusSeconds": 0}},
    )
    harness = SchedulerHarness(
        [node(9), quota("a", 2), *pods("a", 1)], plugins=PLUGINS, config=config
    )
    harness.advance(60)
    assert used(harness) == {}


def test_the_first_of_two_quotas_of_a_namespace_counts() -> None:
    second = make_quota("a", min={"cpu": 9, "memory": "1Ti"}, name="second")
    harness = start(node(9), quota("a", 2), second, pods("a", 3))
    assert placed(harness) == {"a": 2}
    harness.cluster.delete(ElasticQuota, "a/quota")
    harness.settle()
    assert placed(harness) == {"a": 3}


def test_a_restarted_scheduler_knows_what_is_used() -> None:
    before = start(node(9), quota("a", 2), pods("a", 2))
    running = [
        stored for kind in (Node, Pod) for stored in before.cluster.list(kind).items
    ]
    harness = start(running, quota("a", 2), pods("a", 1, first=2))
    harness.assert_pending("a/p2", reason=OVER_MIN)


class Hold:
    """Has pods wait on Permit."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return PermitWait(60.0)


def test_pods_that_wait_on_permit_count_after_a_reload_as_well() -> None:
    config = profile_config(
        enable=[CapacityScheduling, Hold], disable=["DefaultPreemption"]
    )
    harness = SchedulerHarness(
        [node(9), quota("a", 2), *pods("a", 2)],
        plugins={**PLUGINS, "Hold": Hold},
        config=config,
    )
    while harness.schedule_one():
        pass
    assert len(harness.waiting_pods()) == 2
    harness.reload(config)
    harness.cluster.create(pods("a", 1, first=2)[0])
    harness.schedule_one()
    harness.assert_pending("a/p2", reason=OVER_MIN)
    # They are never allowed: they release their nodes, and the third is tried.
    harness.advance(61)
    assert "a/p2" in harness.waiting_pods()


def test_failed_bindings_give_back() -> None:
    harness = SchedulerHarness(
        [node(9), quota("a", 2), *pods("a", 6)],
        plugins=PLUGINS,
        config=CONFIG,
        faults={Fault.ERROR: 0.4},
        seed=1,
    )
    harness.settle()
    assert placed(harness) == {"a": 2}


def test_extended_resources_are_counted_like_others() -> None:
    gpu = "nvidia.com/gpu"
    wanting = [
        make_pod(name=f"g{number}", namespace="a", requests={gpu: "1"})
        for number in range(3)
    ]
    machine = make_node(name="n", capacity={gpu: "8"})
    least = make_quota("a", min={gpu: 2, "cpu": 1, "memory": "1Ti"})
    harness = start(machine, least, wanting)
    assert placed(harness) == {"a": 2}
    harness.assert_pending("a/g2", reason=f"over the min of all ElasticQuotas: {gpu}")


NAMES = ("a", "b", "c")
SIZE = 6
# A pod that comes, by namespace and priority; the number of one that ends; another
# quota, by namespace, min, and how much more may be borrowed.
Step = int | tuple[str, int] | tuple[str, int, int]
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 2)),
    st.integers(0, 20),
    st.tuples(st.sampled_from(NAMES), st.integers(0, 4), st.integers(0, 4)),
)


class World:
    """A cluster with quotas, and what must hold in it after every step."""

    def __init__(self) -> None:
        self.bounds = {"a": (2, 4), "b": (3, 3), "c": (1, 6)}
        self.harness = start(node(SIZE), *self.quotas())
        self.names = iter(range(1000))

    def quotas(self) -> list[ElasticQuota]:
        return [quota(name, *each) for name, each in self.bounds.items()]

    def take(self, step: Step) -> None:
        cluster = self.harness.cluster
        living = cluster.list(Pod).items
        if isinstance(step, tuple) and len(step) == 2:
            namespace, priority = step
            number = next(self.names)
            create(
                self.harness,
                pods(namespace, 1, priority=priority, first=number, grace=5),
            )
        elif isinstance(step, tuple):
            namespace, least, more = step
            others = sum(self.bounds[name][0] for name in NAMES if name != namespace)
            least = min(least, SIZE - others)
            self.bounds[namespace] = (least, least + more)
            cluster.update(quota(namespace, *self.bounds[namespace]))
        elif living:
            cluster.delete(Pod, living[step % len(living)].key)
        self.harness.settle()

    def preemptions(self) -> list[tuple[str, str]]:
        """Who had to go for whom so far, by namespace."""
        owners = {
            pod.uid: pod.namespace for pod in self.harness.cluster.list(Pod).items
        }
        return [
            (note.regarding.namespace, owner)
            for note in self.harness.cluster.events()
            if note.reason == "Preempted"
            for uid, owner in owners.items()
            if f" {uid} " in note.note
        ]

    def check(
        self, before: Mapping[str, int], preemptions: Iterable[tuple[str, str]]
    ) -> None:
        pushed = {victim for victim, preemptor in preemptions if victim != preemptor}
        used = placed(self.harness)
        for name, (least, most) in self.bounds.items():
            wanted = sum(
                pod.namespace == name for pod in self.harness.cluster.list(Pod).items
            )
            mine = used.get(name, 0)
            assert mine >= min(wanted, least), f"{name} lacks what it is promised"
            assert mine <= max(most, before.get(name, 0)), f"{name} is over its max"
            if name in pushed:
                assert mine >= least, f"{name} was pushed below its min"
        total = sum(used.values())
        promised = sum(least for least, _ in self.bounds.values())
        assert total <= max(promised, sum(before.values())), "too much is borrowed"


# A quota that shrinks leaves more in use than is promised. Then a namespace gives up
# two pods of its own for one that is more important.
SHRUNK: list[Step] = [("c", 1), ("c", 0, 0), ("a", 0), ("a", 0), ("b", 0, 0), ("a", 1)]


@settings(deadline=None)
@example(steps=SHRUNK)
@given(steps=st.lists(STEPS, max_size=25))
def test_quotas_hold_and_everybody_gets_the_own_min(steps: list[Step]) -> None:
    world = World()
    for step in steps:
        before, preempted = placed(world.harness), world.preemptions()
        world.take(step)
        world.check(before, world.preemptions()[len(preempted) :])
