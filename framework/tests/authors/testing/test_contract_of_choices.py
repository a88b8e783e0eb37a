"""A plugin with a `PodColumn` that chooses in Reserve passes the contract suite."""

from hypothesis import strategies as st

from quaymaster.testing import PluginContract, SmallCluster, clusters, nodes, pods
from tests.kit.device_share import COUNT, DEVICE, WANTS, DeviceShare

CHOSEN: tuple[dict[str, str], ...] = ({}, {DEVICE: "0"}, {DEVICE: "3"})
SHARERS = [
    {"annotations": {WANTS: wants, **chosen}}
    for wants in ("300", "700", "1000")
    for chosen in CHOSEN
]


class TestDeviceShare(PluginContract):
    plugin = DeviceShare

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        counts = [{"labels": {COUNT: str(count)}} for count in range(5)]
        return clusters(nodes=nodes(*counts), pods=pods(*SHARERS))
