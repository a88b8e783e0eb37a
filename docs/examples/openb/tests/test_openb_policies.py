"""Scores of each policy, and the GPUs of pods: examples by hand."""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from quaymaster import Node, Pod
from quaymaster.objects import ObjectMeta
from quaymaster.testing import PluginHarness, make_node, make_pod

from quaymaster_openb import (
    BestFitScore,
    DotProductScore,
    FGDGpuShare,
    FGDScore,
    GpuClusteringScore,
    GpuPackingScore,
    GpuShare,
    RandomGpuShare,
    RandomScore,
    TypicalPod,
    TypicalPods,
)
from quaymaster_openb.data import pods_of
from quaymaster_openb.fragmentation import Fragmentation
from quaymaster_openb.gpus import COUNT, INDEX, MILLI, MODEL
from quaymaster_openb.typical_pods import typical_pods

DATA = Path(__file__).parent / "data"
OTHERS: tuple[type, ...] = (BestFitScore, DotProductScore, GpuClusteringScore)
OTHERS += (GpuPackingScore, RandomScore)


def a_pod(
    name: str = "p",
    *,
    gpus: int = 0,
    milli: int = 1000,
    models: str = "",
    on: str | None = None,
    has: str | None = None,
) -> Pod:
    wanted = {COUNT: str(gpus), MILLI: str(milli)} if gpus else {}
    if models:
        wanted[MODEL] = models
    if has is not None:
        wanted[INDEX] = has
    return make_pod(name=name, node=on, annotations=wanted, requests={"cpu": "8"})


def a_node(name: str = "n", gpus: int = 4, model: str = "G2") -> Node:
    labels = {COUNT: str(gpus), MODEL: model}
    return make_node(name=name, labels=labels, capacity={"cpu": "64"})


def scores(plugin: type, pod: Pod, *there: Pod, **nodes: int) -> dict[str, int]:
    made = [a_node(name, gpus) for name, gpus in nodes.items()]
    harness = PluginHarness(plugin, nodes=made, pods=there)
    return {name: harness.score(pod)[name] for name in nodes}


@pytest.mark.parametrize(
    "plugin",
    [FGDGpuShare, FGDScore, GpuShare, *OTHERS],
    ids=lambda plugin: plugin.__name__,
)
def test_a_policy_is_read_on_two_pages(plugin: type) -> None:
    assert len(inspect.getsource(sys.modules[plugin.__module__]).splitlines()) < 120


# GPU sharing --------------------------------------------------------------------------


def test_a_pod_goes_where_as_many_gpus_have_enough_left() -> None:
    there = [
        a_pod("a", gpus=1, milli=700, on="shared", has="0"),
        a_pod("b", gpus=1, on="shared", has="1"),
    ]
    nodes = [a_node("shared", 2), a_node("free", 2), a_node("none", 0)]
    harness = PluginHarness(GpuShare, nodes=nodes, pods=there)
    assert set(harness.filter(a_pod(gpus=1, milli=300))) == {"none"}
    assert set(harness.filter(a_pod(gpus=1, milli=400))) == {"none", "shared"}
    assert set(harness.filter(a_pod(gpus=3))) == {"none", "shared", "free"}


def test_the_model_is_one_of_those_that_will_do() -> None:
    nodes = [a_node("a", model="A10"), a_node("t", model="T4"), a_node("g")]
    harness = PluginHarness(GpuShare, nodes=nodes)
    assert set(harness.filter(a_pod(gpus=1, models="T4|A10"))) == {"g"}


@pytest.mark.parametrize(
    ("milli", "count", "expected"),
    [(200, 1, "2"), (500, 1, "1"), (900, 1, "0"), (1000, 2, "0-3")],
)
def test_a_pod_gets_the_tightest_gpus(milli: int, count: int, expected: str) -> None:
    there = [
        a_pod("a", gpus=1, milli=400, on="n", has="1"),
        a_pod("b", gpus=1, milli=800, on="n", has="2"),
    ]
    assert given_by(GpuShare, a_pod(gpus=count, milli=milli), there) == expected


def test_whole_gpus_are_the_first_free_ones_even_by_lot() -> None:
    there = [a_pod("a", gpus=1, milli=1, on="n", has="0")]
    assert given_by(RandomGpuShare, a_pod(gpus=2), there) == "1-2"
    assert given_by(RandomGpuShare, a_pod(gpus=1, milli=9), there) in set("0123")


def given_by(plugin: type, pod: Pod, there: Sequence[Pod]) -> str:
    harness = PluginHarness(plugin, nodes=[a_node()], pods=there)
    return reserved(harness, pod, "n")


def reserved(harness: PluginHarness, pod: Pod, node: str) -> str:
    assert harness.reserve(pod, node) is None
    return harness.state.annotations[INDEX]


# Scores -------------------------------------------------------------------------------


def test_dot_product_prefers_what_has_little_free() -> None:
    # (64/128 * 8/128 + 4/8 * 1/8) / 2, and half of that on GPUs for the smaller node.
    found = scores(DotProductScore, a_pod(gpus=1), four=4, two=2)
    assert found == {"four": int(100 * (1 - 0.09375 / 2)), "two": 96}


def test_clustering_prefers_nodes_of_the_same_tag_alone() -> None:
    there = [
        a_pod("a", gpus=1, on="same", has="0"),
        a_pod("b", gpus=1, on="mixed", has="0"),
        a_pod("c", gpus=1, milli=500, on="mixed", has="1"),
        a_pod("d", gpus=2, on="other", has="0-1"),
        a_pod("e", on="cpu"),
    ]
    found = scores(
        GpuClusteringScore, a_pod(gpus=1), *there, same=8, mixed=8, other=8, cpu=8
    )
    assert found == {"same": 78, "mixed": 54, "other": 6, "cpu": 25}


def test_packing_prefers_gpus_in_use_to_free_ones_to_free_nodes() -> None:
    there = [
        a_pod("a", gpus=1, milli=600, on="shared", has="1"),
        a_pod("b", gpus=1, on="used", has="0"),
    ]
    found = scores(
        GpuPackingScore, a_pod(gpus=1, milli=400), *there, shared=4, used=4, free=4
    )
    assert found == {"shared": 96, "used": 49, "free": 29}


def test_best_fit_prefers_what_is_left_with_least() -> None:
    found = scores(BestFitScore, a_pod(gpus=1), one=1, four=4, eight=8)
    assert found == {"one": 78, "four": 59, "eight": 34}


def test_cpu_pods_are_all_the_same_to_clustering_and_packing() -> None:
    for plugin in (GpuClusteringScore, GpuPackingScore):
        assert scores(plugin, a_pod(), one=1, four=4) == {"one": 0, "four": 0}


# Fragmentation ------------------------------------------------------------------------

TYPICAL = (
    TypicalPod(milli_cpu=4000, gpus=1, gpu_milli=500, share=0.5),
    TypicalPod(milli_cpu=8000, gpus=2, gpu_milli=1000, share=0.25),
    TypicalPod(milli_cpu=4000, share=0.25),
)


@pytest.mark.parametrize(
    ("cpu", "left", "expected"),
    [
        (64_000, [1000, 1000], 0.25 * 2000),
        (64_000, [1000, 400], 0.5 * 400 + 0.25 * 1400 + 0.25 * 1400),
        (6_000, [1000, 1000], 0.25 * 2000 + 0.25 * 2000),
        (1_000, [400], 400),
        (64_000, [0, 0], 0),
    ],
)
def test_what_no_typical_pod_can_use_is_fragmented(
    cpu: int, left: list[int], expected: float
) -> None:
    fragmentation = Fragmentation(TYPICAL)
    assert fragmentation.of(cpu, "G2", left) == pytest.approx(expected)
    padded = np.array([left + [0] * (8 - len(left))])
    codes = np.array([fragmentation.code_of("G2")])
    found = fragmentation.of_each(np.array([cpu]), codes, padded)
    assert found.tolist() == [fragmentation.of(cpu, "G2", left)]


def test_a_gpu_of_another_model_is_of_no_use() -> None:
    fragmentation = Fragmentation(
        [TypicalPod(gpus=1, gpu_milli=500, models="T4|A10", share=1.0)]
    )
    assert fragmentation.of(1000, "G2", [1000]) == 1000
    assert fragmentation.of(1000, "A10", [1000]) == 0


def test_fgd_takes_the_gpu_that_leaves_least_in_pieces() -> None:
    """Half a GPU is of use to half of the typical pods, a free one to more."""
    target = TypicalPods(metadata=ObjectMeta(name="typical"), pods=TYPICAL)
    there = [a_pod("a", gpus=1, milli=500, on="started", has="2")]
    nodes = [a_node("started"), a_node("free")]
    pod = a_pod(gpus=1, milli=500)
    harness = PluginHarness(FGDScore, nodes=nodes, pods=there, objects=[target])
    found = harness.score(pod)
    assert found == {"started": 56, "free": 50}
    share = PluginHarness(FGDGpuShare, nodes=nodes, pods=there, objects=[target])
    assert reserved(share, pod, "started") == "2"


def test_typical_pods_are_19_of_20() -> None:
    rows = pods_of(DATA, "default")
    typical = typical_pods((row.cpu, row.milli, row.gpus, row.models) for row in rows)
    assert len(typical) == 35
    first = typical[0]
    assert (first.milli_cpu, first.gpus, first.gpu_milli) == (3152, 1, 810)
    assert first.share == 0.13481843935101726
    assert sum(entry.share for entry in typical) == pytest.approx(1)
