"""Coscheduling fulfils the plugin contract."""

from hypothesis import strategies as st
from quaymaster.testing import PluginContract, SmallCluster, clusters, pods

from quaymaster_coscheduling import POD_GROUP_LABEL, Coscheduling
from quaymaster_coscheduling.testing import make_pod_group


class TestContract(PluginContract):
    plugin = Coscheduling
    objects = (
        make_pod_group(name="one"),
        make_pod_group(name="two", min_member=2),
        make_pod_group(name="roomy", min_resources={"cpu": "2", "memory": "1Gi"}),
    )

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        names = ("one", "two", "roomy", "unknown")
        labels = [{"labels": {POD_GROUP_LABEL: name}} for name in names]
        return clusters(pods=pods(*labels))
