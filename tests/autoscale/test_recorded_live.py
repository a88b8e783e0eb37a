"""Compares simulations with the real Karpenter beside a real control plane.

The recordings are states: times depend on the machine, and kube-scheduler decides which
pods share a node.
"""

from typing import Final

import pytest

from tests.autoscale.cases import DATA, Tree, read_cases
from tests.autoscale.live_player import LivePlayer, launchable, recorded_nodes

pytestmark = pytest.mark.long

_RECORDING: Final = DATA / "live" / "karpenter.jsonl.gz"
_CASES: Final = {line["case"]["id"]: line for line in read_cases(_RECORDING)}

_CUT_OFF: Final = {"live-102-weights-and-limits"}
"""Cases whose first phase was recorded while Karpenter validated a consolidation.

For 15 seconds nothing changes then, so the recorder took the cluster for settled.
"""

_BY_PLACEMENT: Final = {"live-102-spread-zones", "live-102-weights-and-limits"}
"""Cases in which the placement of pods decides which nodes later phases keep."""


@pytest.mark.parametrize("case", _CASES.values(), ids=_CASES.keys())
def test_nodes_are_those_of_the_real_karpenter(case: Tree) -> None:
    name, phases = case["case"]["id"], case["answer"]["phases"]
    with LivePlayer(case["case"]) as player:
        for number, (changes, phase) in enumerate(
            zip(case["case"]["do"], phases, strict=True)
        ):
            player.begin(changes)
            if number == 0 and name in _CUT_OFF:
                assert recorded_nodes(phase) in player.states()
            else:
                assert player.settle() == recorded_nodes(phase)
                claims = phase["settled"]["claims"]
                assert launchable(player.claims()) == launchable(claims)
            if name in _BY_PLACEMENT:
                break
