"""The look-ups of an attempt for a pod's volumes do not grow with the cluster.

Look-ups and comparisons are counted, not seconds.
"""

from collections import Counter
from collections.abc import Callable

import pytest

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Selector
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import (
    make_csi_node,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from quaymaster.volumes import NO_PROVISIONER
from tests.kit.internals.engine import EngineInformers

HOST = "kubernetes.io/hostname"


def objects_of(size: int) -> list[ApiObject]:
    """Return nodes with disks and limits, and pods with volumes on half of them."""
    objects: list[ApiObject] = [make_storage_class(provisioner=NO_PROVISIONER)]
    for number in range(size):
        name = f"node-{number}"
        objects += [
            make_node(name=name, labels={HOST: name}, allocatable={"cpu": "2"}),
            make_csi_node(name=name, limits={"csi.example.com": 2}),
            make_persistent_volume(name=f"disk-{number}", node_labels={HOST: name}),
        ]
        if number % 2:
            objects += with_volume(f"there-{number}", node=name)
    return objects


def with_volume(name: str, node: str = "") -> list[ApiObject]:
    claim = make_persistent_volume_claim(name=name, volume=name)
    volume = make_persistent_volume(name=name, claim=claim)
    pod = make_pod(name=name, claims=[name], node=node, requests={"cpu": "1"})
    return [claim, volume, pod]


def with_claim(name: str) -> list[ApiObject]:
    claim = make_persistent_volume_claim(name=name)
    return [claim, make_pod(name=name, claims=[name], requests={"cpu": "1"})]


def work_for_one_more(
    size: int, new: str, monkeypatch: pytest.MonkeyPatch
) -> Counter[str]:
    """Count the calls for one more pod, after other pods have been scheduled."""
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects_of(size))
    registry = PluginRegistry.discover()
    make = with_volume if new == "volume" else with_claim
    done: Counter[str] = Counter()
    # Before the plugins are built: they keep the methods of the informers.
    with monkeypatch.context() as patch:
        for owner, name in (
            (EngineInformers, "get"),
            (EngineInformers, "list"),
            (Selector, "matches"),
        ):
            patch.setattr(owner, name, counted(done, name, getattr(owner, name)))
        scheduler = Scheduler(
            cluster, default_config(registry), registry, clock=cluster.clock
        )
        scheduler.start()
        cluster.load(make("first"))
        scheduler.settle()
        done.clear()
        cluster.load(make("second"))
        scheduler.settle()
    assert cluster.get(Pod, "default/second").node_name
    return done


def counted(
    done: Counter[str], name: str, function: Callable[..., object]
) -> Callable[..., object]:
    def call(*args: object) -> object:
        done[name] += 1
        return function(*args)

    return call


@pytest.mark.long
@pytest.mark.parametrize("new", ["volume", "claim"])
def test_placing_a_pod_takes_as_many_looks_in_a_large_cluster_as_in_a_small_one(
    new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = work_for_one_more(20, new, monkeypatch)
    large = work_for_one_more(200, new, monkeypatch)
    assert small
    assert large == small
