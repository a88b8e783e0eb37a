"""Pods by node are the same, whether kept up to date or read at once."""

import random

import pytest

from quaymaster import Pod
from quaymaster.testing import make_pod
from tests.kit.internals.karpenter import BoundPods

NODES = ("n0", "n1", "n2")
STEPS = 60


def pods_on(pods: dict[str, Pod], node: str, *, finished: bool) -> list[Pod]:
    """Return the pods of a node that have ended or not, with a loop over all pods."""
    return [
        pod
        for pod in pods.values()
        if pod.node_name == node and pod.is_finished == finished
    ]


@pytest.mark.parametrize("seed", range(8))
def test_pods_by_node_follow_all_changes(seed: int) -> None:
    chance = random.Random(seed)
    pods: dict[str, Pod] = {}
    bound = BoundPods()
    for _ in range(STEPS):
        name = f"p{chance.randrange(8)}"
        key = f"default/{name}"
        if key in pods and chance.random() < 0.3:
            del pods[key]
            bound.drop(key)
        else:
            node = chance.choice((None, *NODES))
            phase = chance.choice(("Running", "Running", "Succeeded"))
            pods[key] = make_pod(name=name, node=node, phase=phase)
            bound.put(pods[key])
        for node in NODES:
            assert [*bound.on(node)] == pods_on(pods, node, finished=False)
            ended = [*bound.finished_on(node)]
            assert ended == pods_on(pods, node, finished=True)


def test_pods_of_a_node_are_the_same_sequence_until_they_change() -> None:
    bound = BoundPods([make_pod(name="a", node="n0")])
    before = bound.on("n0")
    bound.put(make_pod(name="b", node="n1"))
    assert bound.on("n0") is before
    bound.put(make_pod(name="c", node="n0"))
    assert [pod.name for pod in before] == ["a"]
    assert [pod.name for pod in bound.on("n0")] == ["a", "c"]
