"""An error of the author's own clusters is reported once, not by each check."""

import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from quaymaster.testing import ContractError, PluginContract, SmallCluster, clusters
from tests.kit.planted.forecasts import Forecasts


class RaisesAtOnce(PluginContract):
    plugin = Forecasts

    def clusters(self) -> SearchStrategy[SmallCluster]:
        raise KeyError("tier")


class RaisesWhenDrawn(PluginContract):
    plugin = Forecasts

    def clusters(self) -> SearchStrategy[SmallCluster]:
        def broken(_number: int) -> SmallCluster:
            raise KeyError("tier")

        return st.integers().map(broken)


class IsFine(RaisesAtOnce):
    def clusters(self) -> SearchStrategy[SmallCluster]:
        return clusters()


@pytest.mark.parametrize("contract", [RaisesAtOnce, RaisesWhenDrawn])
def test_clusters_that_raise_are_reported_once(contract: type[PluginContract]) -> None:
    with pytest.raises(ContractError, match=r"no clusters to try: KeyError: 'tier' \("):
        contract().test_contract("purity")
    with pytest.raises(pytest.skip.Exception, match="another test of this class"):
        contract().test_contract("node order")
    IsFine().test_contract("unresolvable")
