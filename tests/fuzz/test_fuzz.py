"""For mutated input, the command ends in a result or in one-line errors."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.gentle import make_gentle_mutant
from tests.fuzz.mutants import make_mutant
from tests.fuzz.run import judge, judge_valid

MUTANTS = 150
GENTLE_MUTANTS = 100


@pytest.mark.long
def test_mutants_end_in_a_result_or_in_errors() -> None:
    """``python -m tests.fuzz --mutants 10000`` runs many more."""
    for number in range(MUTANTS):
        wrong = judge(make_mutant(random.Random(f"suite/{number}")))
        assert wrong is None, f"mutant {number}: {wrong}"


@pytest.mark.long
def test_half_of_the_gentle_mutants_are_decided_and_none_differs() -> None:
    """``python -m tests.fuzz --gentle --mutants 20000`` runs many more."""
    decided = 0
    for number in range(GENTLE_MUTANTS):
        mutant = make_gentle_mutant(random.Random(f"suite/{number}"))
        ending, problem = judge_valid(mutant)
        assert problem is None, f"mutant {number}: {problem}"
        decided += ending.code != 2
    assert decided >= GENTLE_MUTANTS // 2


# A mutant takes as many random numbers as there are places to change.
@settings(suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_mutants_that_hypothesis_thinks_of_do_too(rng: random.Random) -> None:
    assert judge(make_mutant(rng)) is None
