"""Results of plugins repeat only as long as their hooks would return them.

The contract tests of the plugins check their defaults. By default, DefaultPreemption
draws no random number in small clusters.
"""

import pytest

from quaymaster.testing import check_plugin
from quaymaster_default_preemption import DefaultPreemption
from tests.kit.internals.testing import CHECKS

FEW = {"minCandidateNodesAbsolute": 1, "minCandidateNodesPercentage": 0}


@pytest.mark.long
def test_preemption_with_few_candidates_repeats_its_random_numbers() -> None:
    others = {name: "not asked here" for name in CHECKS if name != "repeats"}
    check_plugin(DefaultPreemption, args=FEW, opt_outs=others)
