"""The cache: assumed, confirmed, moved and forgotten pods, in any order of events."""

import attrs
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from quaymaster import Pod, Snapshot
from quaymaster.columns import CPU
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.state import AssumeError, Cache

NODES = ("n1", "n2", "n3")


def make_cache(*nodes: str) -> tuple[Cache, Snapshot]:
    snapshot = Snapshot()
    cache = Cache(snapshot)
    for name in nodes:
        cache.add_node(make_node(name=name))
    return cache, snapshot


def on_node(name: str, node: str, milli_cpu: int = 100) -> Pod:
    requests = {"cpu": f"{milli_cpu}m"}
    return make_pod(name=name, node=node, requests=requests, phase="Pending")


def pods_on(snapshot: Snapshot, node: str) -> list[str]:
    info = snapshot.get(node)
    assert info is not None
    return [pod.name for pod in info.pods.values()]


def test_assumed_pod_counts_on_its_node() -> None:
    cache, snapshot = make_cache("n1")
    pod = on_node("p", "n1")
    cache.assume(pod)
    assert cache.is_assumed(pod.uid)
    assert pods_on(snapshot, "n1") == ["p"]


@pytest.mark.parametrize("confirmed", [False, True], ids=["assumed", "confirmed"])
def test_pod_that_is_on_a_node_cannot_be_assumed(confirmed: bool) -> None:
    cache, snapshot = make_cache("n1", "n2")
    pod = on_node("p", "n1")
    cache.assume(pod)
    if confirmed:
        cache.add_pod(pod)
    with pytest.raises(AssumeError, match=r"default/p\) is in the cache, .* node n1"):
        cache.assume(on_node("p", "n2"))
    assert pods_on(snapshot, "n2") == []


def test_confirmed_pod_counts_once_and_takes_over_the_new_object() -> None:
    cache, snapshot = make_cache("n1")
    pod = on_node("p", "n1")
    cache.assume(pod)
    labels = {"seen": "by-the-cluster"}
    confirmed = replace(pod, metadata=replace(pod.metadata, labels=labels))
    cache.add_pod(confirmed)
    assert not cache.is_assumed(pod.uid)
    assert cache.get(pod.uid) is confirmed
    info = snapshot.get("n1")
    assert info is not None
    assert info.requested.milli_cpu == 100
    assert info.pods[pod.uid] is confirmed


def test_confirmation_that_changes_nothing_moves_no_row() -> None:
    cache, snapshot = make_cache("n1")
    pod = on_node("p", "n1")
    cache.assume(pod)
    revision = snapshot.nodes.changes.revision
    newer = replace(pod, metadata=replace(pod.metadata, resource_version="2"))
    cache.add_pod(newer)
    assert snapshot.nodes.changes.since(revision) == set()
    assert cache.get(pod.uid) is newer


def test_pod_confirmed_on_another_node_moves() -> None:
    cache, snapshot = make_cache("n1", "n2")
    cache.assume(on_node("p", "n1"))
    cache.add_pod(on_node("p", "n2"))
    assert pods_on(snapshot, "n1") == []
    assert pods_on(snapshot, "n2") == ["p"]


def test_forgotten_pod_is_gone_and_may_be_forgotten_again() -> None:
    cache, snapshot = make_cache("n1")
    pod = on_node("p", "n1")
    cache.assume(pod)
    assert cache.forget(pod)
    assert cache.forget(pod)
    assert pods_on(snapshot, "n1") == []
    cache.assume(pod)


@pytest.mark.parametrize("node", NODES[:2])
def test_pod_that_a_watch_has_confirmed_is_not_forgotten(node: str) -> None:
    cache, snapshot = make_cache("n1", "n2")
    assumed = on_node("p", "n1")
    cache.assume(assumed)
    cache.add_pod(on_node("p", node))
    assert not cache.forget(assumed)
    assert pods_on(snapshot, node) == ["p"]


def test_pod_assumed_elsewhere_is_not_forgotten() -> None:
    cache, _ = make_cache("n1", "n2")
    cache.assume(on_node("p", "n1"))
    assert not cache.forget(on_node("p", "n2"))


def test_update_of_an_unknown_pod_adds_it() -> None:
    cache, snapshot = make_cache("n1")
    pod = on_node("p", "n1")
    cache.update_pod(pod, pod)
    assert pods_on(snapshot, "n1") == ["p"]


def test_update_to_another_uid_replaces_the_pod() -> None:
    cache, snapshot = make_cache("n1")
    old = on_node("p", "n1")
    new = replace(old, metadata=replace(old.metadata, uid="other"))
    cache.add_pod(old)
    cache.update_pod(old, new)
    assert cache.get(old.uid) is None
    info = snapshot.get("n1")
    assert info is not None
    assert list(info.pods) == ["other"]


def test_deleted_pod_is_removed_from_its_node_even_if_the_event_is_stale() -> None:
    cache, snapshot = make_cache("n1")
    cache.assume(on_node("p", "n1"))
    cache.remove_pod(make_pod(name="p"))  # a stale object, without a node
    assert pods_on(snapshot, "n1") == []
    assert cache.assumed_count == 0
    cache.remove_pod(make_pod(name="p"))  # twice does no harm


def test_pods_of_a_deleted_node_are_kept() -> None:
    cache, snapshot = make_cache()
    cache.add_pod(on_node("p", "n1"))
    cache.add_node(make_node(name="n1"))
    cache.remove_node(make_node(name="n1"))
    assert snapshot.get("n1") is None
    cache.add_node(make_node(name="n1"))
    assert pods_on(snapshot, "n1") == ["p"]


@attrs.define
class Counted:
    """The state of a pod in the model."""

    node: str
    milli_cpu: int
    assumed: bool


class CacheMachine(RuleBasedStateMachine):
    """Events and decisions in any order, against a model of two dictionaries."""

    uids = st.sampled_from([make_pod(name=f"p{i}").uid for i in range(4)])
    pods = st.builds(
        on_node,
        st.sampled_from([f"p{i}" for i in range(4)]),
        st.sampled_from(NODES),
        st.sampled_from([100, 250]),
    )
    nodes = st.sampled_from(NODES)

    def __init__(self) -> None:
        super().__init__()
        self.cache, self.snapshot = make_cache()
        self.model: dict[str, Counted] = {}
        self.known_nodes: set[str] = set()

    @rule(pod=pods)
    def assume(self, pod: Pod) -> None:
        if pod.uid in self.model:
            with pytest.raises(AssumeError):
                self.cache.assume(pod)
        else:
            self.cache.assume(pod)
            self._count(pod, assumed=True)

    @rule(pod=pods)
    def forget(self, pod: Pod) -> None:
        counted = self.model.get(pod.uid)
        stays = counted is not None and (
            not counted.assumed or counted.node != pod.node_name
        )
        assert self.cache.forget(pod) is not stays
        if not stays:
            self.model.pop(pod.uid, None)

    @rule(pod=pods)
    def watch_adds_pod(self, pod: Pod) -> None:
        self.cache.add_pod(pod)
        self._count(pod, assumed=False)

    @rule(old=pods, new=pods)
    def watch_updates_pod(self, old: Pod, new: Pod) -> None:
        self.cache.update_pod(old, new)
        if old.uid != new.uid:
            self.model.pop(old.uid, None)
        self._count(new, assumed=False)

    @rule(uid=uids)
    def watch_updates_status(self, uid: str) -> None:
        pod = self.cache.get(uid)
        if pod is not None:
            new = replace(pod, metadata=replace(pod.metadata, resource_version="9"))
            self.cache.update_pod(pod, new)
            self.model[uid].assumed = False

    @rule(pod=pods)
    def watch_removes_pod(self, pod: Pod) -> None:
        self.cache.remove_pod(pod)
        self.model.pop(pod.uid, None)

    @rule(name=nodes, cpu=st.sampled_from(["4", "8"]))
    def watch_adds_or_updates_node(self, name: str, cpu: str) -> None:
        self.cache.add_node(make_node(name=name, capacity={"cpu": cpu}))
        self.known_nodes.add(name)

    @rule(name=nodes)
    def watch_removes_node(self, name: str) -> None:
        self.cache.remove_node(make_node(name=name))
        self.known_nodes.discard(name)

    @invariant()
    def cache_agrees_with_the_model(self) -> None:
        assert len(self.cache) == len(self.model)
        for uid, counted in self.model.items():
            pod = self.cache.get(uid)
            assert pod is not None
            assert pod.node_name == counted.node
            assert self.cache.is_assumed(uid) == counted.assumed
        assumed = [counted for counted in self.model.values() if counted.assumed]
        assert self.cache.assumed_count == len(assumed)

    @invariant()
    def snapshot_agrees_with_the_model(self) -> None:
        assert {info.name for info in self.snapshot} == self.known_nodes
        for info in self.snapshot:
            mine = {
                uid: counted
                for uid, counted in self.model.items()
                if counted.node == info.name
            }
            milli_cpu = sum(counted.milli_cpu for counted in mine.values())
            assert info.pods.keys() == mine.keys()
            assert info.requested.milli_cpu == milli_cpu
            assert self.snapshot.nodes.requested[CPU, info.row] == milli_cpu
            assert self.snapshot.nodes.pod_count[info.row] == len(mine)
            assert all(info.pods[uid] is self.cache.get(uid) for uid in mine)

    def _count(self, pod: Pod, *, assumed: bool) -> None:
        cpu = pod.spec.containers[0].resources.requests["cpu"]
        self.model[pod.uid] = Counted(pod.node_name, cpu.milli_value, assumed)


TestCacheAgainstModel = CacheMachine.TestCase
