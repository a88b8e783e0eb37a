"""CapacityScheduling fulfils the plugin contract."""

from collections.abc import Mapping

from hypothesis import strategies as st
from quaymaster import ApiObject
from quaymaster.testing import PluginContract, SmallCluster, clusters, pods

from quaymaster_capacity_scheduling import CapacityScheduling, ElasticQuota
from quaymaster_capacity_scheduling.testing import make_quota

FEATURES = [
    {"namespace": namespace, "requests": {"cpu": cpu}}
    for namespace in ("a", "b")
    for cpu in ("1", "3")
]


def quotas() -> st.SearchStrategy[ElasticQuota]:
    amounts = st.integers(0, 4).map(lambda cpu: {"cpu": cpu, "memory": "1Ti"})
    return st.builds(
        make_quota,
        st.sampled_from(["a", "b", "default"]),
        min=amounts,
        max=amounts | st.none(),
    )


class TestContract(PluginContract):
    plugin = CapacityScheduling
    opt_outs: Mapping[str, str] = {
        "effects": "its pre_enqueue rejects only while victims are being deleted"
    }
    objects: tuple[ApiObject, ...] = (
        make_quota("a", min={"cpu": 2, "memory": "1Gi"}),
        make_quota("b", min={"cpu": 1, "memory": "1Gi"}, max={"cpu": 2}, name="small"),
    )

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return clusters(pods=pods(*FEATURES), objects=quotas())
