"""Random histories with faults break no invariant."""

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet
from hypothesis import given, settings
from hypothesis import strategies as st

from quaymaster import Pod
from tests.chaos.__main__ import main
from tests.chaos.machine import RATES
from tests.chaos.objects import TRAITS
from tests.chaos.run import replay, script, shrink
from tests.chaos.steps import STEPS, Step, draw_steps
from tests.kit.internals.state import Cache
from tests.kit.nightly import sampled

_RUN = 25
_SHORT = 2
"""The number of histories in every run."""

_STEP = 6
"""One of so many parts is played by the long suite; the nightly one plays the rest."""


def histories(count: int) -> Sequence[ParameterSet]:
    """Return the seeds of histories: few in every run, and all of them at night."""
    parts = [range(first, first + _RUN) for first in range(0, count, _RUN)]
    return [
        pytest.param(range(_SHORT), id="first"),
        *sampled(parts, step=_STEP),
    ]


@pytest.mark.parametrize("seeds", histories(2000))
def test_no_history_breaks_an_invariant(seeds: range) -> None:
    for seed in seeds:
        steps = draw_steps(seed)
        outcome = replay(seed, steps)
        assert not outcome.violation, script(seed, shrink(seed, steps))


@pytest.mark.parametrize("seeds", histories(500))
def test_no_history_of_the_newer_scheduler_breaks_an_invariant(seeds: range) -> None:
    for seed in seeds:
        steps = draw_steps(seed)
        outcome = replay(seed, steps, "1.37")
        assert not outcome.violation, script(seed, shrink(seed, steps, "1.37"), "1.37")


def steps_of(name: str) -> st.SearchStrategy[Step]:
    arguments = [st.sampled_from(choices) for choices in STEPS[name][1]]
    if name != "add_pod":
        return st.tuples(st.just(name), *arguments)
    traits = st.lists(st.integers(0, len(TRAITS) - 1), max_size=3, unique=True)
    pods = st.tuples(st.just(name), st.tuples(*arguments), traits)
    return pods.map(lambda pod: (pod[0], *pod[1], *pod[2]))


# The same histories in every run: if one breaks, the last change caused it.
@pytest.mark.long
@settings(derandomize=True, database=None)
@given(
    st.integers(0, 5),
    st.lists(st.one_of([steps_of(name) for name in STEPS]), max_size=60),
)
def test_no_history_that_hypothesis_thinks_of_does(
    seed: int, steps: list[Step]
) -> None:
    outcome = replay(seed, steps)
    assert not outcome.violation, script(seed, steps)


@pytest.mark.long
def test_histories_meet_every_kind_of_trouble(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--histories", "20", "--seed", "128"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("histories: 20, steps: ")
    others = ("ambushes", "binds", "restarts", "sabotaged calls")
    for name in (*(fault.value for fault in RATES), *others):
        assert f"  {name}: " in printed
        assert f"  {name}: 0\n" not in printed


@pytest.mark.long
def test_a_history_is_a_function_of_its_seed() -> None:
    assert replay(3, draw_steps(3)) == replay(3, draw_steps(3))


@pytest.mark.long
def test_a_violation_is_shrunk_and_printed_as_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forget_nothing(_cache: Cache, _pod: Pod) -> bool:
        return False

    monkeypatch.setattr(Cache, "forget", forget_nothing)
    assert main(["--histories", "4"]) == 1
    printed = capsys.readouterr().out
    assert "is queued and assumed" in printed
    assert "steps = [\n    ('add_" in printed
    _, _, program = printed.partition("\n\n")
    assert program.count("    ('") <= 10
