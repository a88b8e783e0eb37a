"""The policies keep the contract of plugins; twins answer as scalar hooks do."""

from collections.abc import Sequence

from hypothesis.strategies import SearchStrategy
from quaymaster import ApiObject
from quaymaster.objects import ObjectMeta
from quaymaster.testing import PluginContract, SmallCluster, clusters, nodes, pods

from quaymaster_openb import (
    BestFitScore,
    DotProductScore,
    FGDGpuShare,
    FGDScore,
    GpuClusteringScore,
    GpuPackingScore,
    GpuShare,
    PWRGpuShare,
    PWRScore,
    RandomGpuShare,
    RandomScore,
    TypicalPod,
    TypicalPods,
)
from quaymaster_openb.gpus import COUNT, INDEX, MILLI, MODEL

WISHES: list[dict[str, str]] = [
    {},
    {COUNT: "1", MILLI: "300"},
    {COUNT: "1", MILLI: "300", INDEX: "0"},
    {COUNT: "1", MILLI: "700", INDEX: "1"},
    {COUNT: "1", MILLI: "1000", MODEL: "T4|A10"},
    {COUNT: "2", MILLI: "1000", INDEX: "1-2"},
    {COUNT: "2", MILLI: "1000"},
    {COUNT: "2", MILLI: "400"},
    {COUNT: "many", MILLI: "400"},
]
PODS = [
    {"annotations": wish, "requests": {"cpu": cpu}}
    for wish in WISHES
    for cpu in ("0", "500m", "3")
]
NODES = [
    {"labels": labels, "allocatable": {"cpu": cpu}}
    for labels in ({}, {COUNT: "1", MODEL: "T4"}, {COUNT: "4", MODEL: "G2"})
    for cpu in ("2", "8")
]
TYPICAL = TypicalPods(
    metadata=ObjectMeta(name="typical"),
    pods=(
        TypicalPod(milli_cpu=500, gpus=1, gpu_milli=300, share=0.4),
        TypicalPod(milli_cpu=3000, gpus=2, gpu_milli=1000, models="G2|T4", share=0.3),
        TypicalPod(milli_cpu=1000, gpus=1, gpu_milli=1000, models="A10", share=0.1),
        TypicalPod(milli_cpu=500, share=0.2),
    ),
)


class OnGpus(PluginContract):
    """Clusters of nodes with and without GPUs."""

    objects: Sequence[ApiObject] = (TYPICAL,)

    def clusters(self) -> SearchStrategy[SmallCluster]:
        return clusters(nodes=nodes(*NODES), pods=pods(*PODS))


class TestGpuShare(OnGpus):
    plugin = GpuShare


class TestRandomGpuShare(OnGpus):
    plugin = RandomGpuShare


class TestRandomScore(OnGpus):
    plugin = RandomScore


class TestDotProductScore(OnGpus):
    plugin = DotProductScore


class TestGpuClusteringScore(OnGpus):
    plugin = GpuClusteringScore


class TestGpuPackingScore(OnGpus):
    plugin = GpuPackingScore


class TestBestFitScore(OnGpus):
    plugin = BestFitScore


class TestFGDScore(OnGpus):
    plugin = FGDScore


class TestFGDGpuShare(OnGpus):
    plugin = FGDGpuShare


class TestPWRScore(OnGpus):
    plugin = PWRScore


class TestPWRGpuShare(OnGpus):
    plugin = PWRGpuShare
