"""LoadAware fulfils the plugin contract."""

from collections.abc import Mapping

from hypothesis.strategies import SearchStrategy
from quaymaster import Handle, Snapshot
from quaymaster.testing import PluginContract, SmallCluster, clusters, nodes, pods

from quaymaster_load_aware import LoadAware, LoadAwareArgs

SIZES = [{"requests": {"cpu": cpu}} for cpu in ("0", "100m", "1", "3")]
NODES = [{"allocatable": {"cpu": cpu}} for cpu in ("0", "1", "8")]


class Measured(LoadAware):
    """Some nodes have measures, from a time before all pods; others have none."""

    def __init__(self, args: LoadAwareArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.loads.take({"n0": 10.0, "n1": 75.0}, Snapshot())

    def fetch(self) -> bytes:
        raise OSError("nothing is read in these tests")


class TestContract(PluginContract):
    plugin = Measured
    opt_outs: Mapping[str, str] = {
        "effects": "no node is rejected without a limit, which is another class's test"
    }

    def clusters(self) -> SearchStrategy[SmallCluster]:
        return clusters(nodes=nodes(*NODES), pods=pods(*SIZES))


class TestContractWithLimit(TestContract):
    args: Mapping[str, object] = {"limitPercent": 80}
    opt_outs: Mapping[str, str] = {}
