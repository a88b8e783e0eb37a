"""The plugins of this package fulfil the plugin contract."""

from collections.abc import Mapping

from hypothesis import strategies as st
from quaymaster.testing import PluginContract, SmallCluster, clusters, pods

from quaymaster_order import (
    REQUESTED_SECONDS,
    AgeingSort,
    ConservativeBackfilling,
    EasyBackfilling,
    HeadOfLine,
)

SHORT = {"annotations": {REQUESTED_SECONDS: "60"}, "requests": {"cpu": "1"}}
LONG = {"annotations": {REQUESTED_SECONDS: "3600"}, "requests": {"cpu": "2"}}


def batch() -> st.SearchStrategy[SmallCluster]:
    return clusters(pods=pods(SHORT, LONG, {"namespace": "other"}))


class TestHeadOfLine(PluginContract):
    plugin = HeadOfLine
    args: Mapping[str, object] = {"orderBy": "WFP3"}

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return batch()


class TestEasyBackfilling(PluginContract):
    plugin = EasyBackfilling
    args: Mapping[str, object] = {"orderBy": "ShortestFirst", "keepHead": False}

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return batch()


class TestConservativeBackfilling(PluginContract):
    plugin = ConservativeBackfilling
    args: Mapping[str, object] = {"orderBy": "F1"}

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return batch()


class TestAgeingSort(PluginContract):
    plugin = AgeingSort
    args: Mapping[str, object] = {"orderBy": "FairShare", "halfLife": "1h"}

    def clusters(self) -> st.SearchStrategy[SmallCluster]:
        return batch()
