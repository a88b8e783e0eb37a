"""LearnedPolicy fulfils the plugin contract."""

from collections.abc import Mapping

from hypothesis.strategies import SearchStrategy
from quaymaster.testing import PluginContract, SmallCluster, clusters, nodes, pods

from quaymaster_learned_policy import LearnedPolicy

SIZES = [
    {"requests": {"cpu": cpu, "memory": memory}}
    for cpu, memory in (("0", "0"), ("100m", "3Gi"), ("1", "1Gi"), ("3", "7Gi"))
]
NODES = [
    {"allocatable": {"cpu": cpu, "memory": memory}}
    for cpu, memory in (("0", "8Gi"), ("1", "8Gi"), ("8", "0"), ("7", "16Gi"))
]


class TestContract(PluginContract):
    plugin = LearnedPolicy

    def clusters(self) -> SearchStrategy[SmallCluster]:
        return clusters(nodes=nodes(*NODES), pods=pods(*SIZES))


class TestContractWithOtherWeights(TestContract):
    args: Mapping[str, object] = {
        "weights": [0.1, -0.7, 1.3, 0.0, -2.9, 3.1, 1e-3, -11]
    }
