"""An index returns the same objects as a search through all objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.errors import UnfollowedKindError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Deployment
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import Fault, FaultyCluster, PluginHarness
from tests.kit.clusters import make_cluster
from tests.kit.informers import IgnoresChanges
from tests.kit.internals.engine import EngineInformers
from tests.kit.kinds import LABEL, Gangs, PodGroup, make_group, make_member

COLOURS = st.sampled_from(["", "red", "blue"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "delete", "ask"]), st.integers(0, 4), COLOURS),
    max_size=30,
)


def colour_of(group: PodGroup) -> str | None:
    return group.labels.get("colour")


def recomputed(cluster: InMemoryCluster, colour: str) -> set[str]:
    groups = cluster.list(PodGroup).items
    return {group.key for group in groups if colour_of(group) == colour}


@given(
    STEPS,
    st.integers(0, 3),
    st.sampled_from([{}, {Fault.EXPIRED_WATCH: 0.3, Fault.BROKEN_WATCH: 0.3}]),
)
def test_index_agrees_with_a_search_through_all_objects(
    steps: list[tuple[str, int, str]], seed: int, faults: dict[Fault, float]
) -> None:
    clock = VirtualClock()
    cluster = make_cluster(clock=clock, controllers=False)
    faulty = FaultyCluster(cluster, clock=clock, rates=faults, seed=seed)
    informers = EngineInformers(faulty, lambda: None, kinds=[PodGroup])
    informers.start(IgnoresChanges())
    index = informers.index(PodGroup, by=colour_of)
    for step, number, colour in steps:
        labels = {"colour": colour} if colour else {}
        group = make_group(f"g{number}", labels=labels)
        keys = {pod_group.key for pod_group in cluster.list(PodGroup).items}
        if step == "ask":
            informers.sync()
            index.get(colour)
        elif step == "delete" and group.key in keys:
            cluster.delete(PodGroup, group.key)
        elif step == "put" and group.key in keys:
            # Its uid is not always the maker's: that of a deleted one is spent.
            metadata = replace(group.metadata, uid="")
            cluster.update(replace(group, metadata=metadata))
        elif step == "put":
            cluster.create(group)
    faulty.set_rates({})
    while informers.sync():
        pass
    for colour in ("red", "blue", "green"):
        found = index.get(colour)
        assert {group.key for group in found} == recomputed(cluster, colour)
        assert all(group in cluster.list(PodGroup).items for group in found)
        assert index.count(colour) == len(found)
    assert set(index.keys()) == {
        colour for colour in ("red", "blue") if recomputed(cluster, colour)
    }


def test_pods_are_found_by_namespace_and_label() -> None:
    harness = PluginHarness(
        Gangs,
        pods=[replace(make_member(name), node_name="n") for name in ("a", "b")],
        objects=[make_group()],
    )
    index = harness.handle.informers.index(
        Pod, by=lambda pod: (pod.namespace, pod.labels.get(LABEL))
    )
    assert [pod.name for pod in index.get(("default", "gang"))] == ["a", "b"]
    assert index.get(("default", "other")) == ()
    # Identity: nothing has changed, so nothing is gathered again.
    assert index.get(("default", "gang")) is index.get(("default", "gang"))


def test_kind_that_is_not_followed_cannot_be_indexed() -> None:
    harness = PluginHarness(Gangs)
    with pytest.raises(UnfollowedKindError):
        harness.handle.informers.index(
            Deployment, by=lambda deployment: deployment.name
        )


def test_index_function_that_fails_is_called_again() -> None:
    is_broken = True

    def name_of(group: PodGroup) -> str:
        if is_broken:
            raise LookupError(group.name)
        return group.name

    index = PluginHarness(
        Gangs, objects=[make_group("a"), make_group("b")]
    ).handle.informers.index(PodGroup, by=name_of)
    with pytest.raises(LookupError):
        index.get("a")
    is_broken = False
    assert len(index.get("a")) == len(index.get("b")) == 1
