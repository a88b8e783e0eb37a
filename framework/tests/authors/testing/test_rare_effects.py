"""A hook that seldom has an effect is not taken for one that never has."""

import warnings

import pytest
from hypothesis import strategies as st

from quaymaster import Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.testing import (
    VacuousContractWarning,
    check_plugin,
    clusters,
    make_pod,
)
from tests.kit.internals.testing import CHECKS

OTHERS = {name: "not asked here" for name in CHECKS if name != "effects"}
SERIALS = [{"serial": str(number)} for number in range(32)]
CLUSTERS = clusters(pods=st.builds(make_pod, labels=st.sampled_from(SERIALS)))


class RejectsSerials:
    """Rejects one of 32 pods."""

    recalled = "21"

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        is_recalled = pod.labels["serial"] == self.recalled
        return Status.unresolvable("it is recalled") if is_recalled else None


class RejectsNothing(RejectsSerials):
    """Its clusters have no such pod."""

    recalled = "32"


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_rare_effect_is_never_reported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", VacuousContractWarning)
        for number in range(12):
            # Each name has other clusters.
            named = type(f"RejectsSerials{number}", (RejectsSerials,), {})
            check_plugin(named, clusters=CLUSTERS, opt_outs=OTHERS)


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_missing_effect_is_reported_after_many_clusters() -> None:
    with pytest.warns(VacuousContractWarning, match=r"rejected 0 of \d{4} nodes"):
        check_plugin(RejectsNothing, clusters=CLUSTERS, opt_outs=OTHERS)
