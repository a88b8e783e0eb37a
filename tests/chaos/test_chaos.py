"""What must hold through random histories with faults does hold."""

import pytest

from quaymaster._cache.cache import Cache
from quaymaster.objects import Pod
from quaymaster.testing import Fault
from tests.chaos.__main__ import main
from tests.chaos.run import quiet, replay, script, shrink
from tests.chaos.steps import draw_steps


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_no_history_breaks_an_invariant(first: int) -> None:
    with quiet():
        for seed in range(first, first + 50):
            steps = draw_steps(seed)
            outcome = replay(seed, steps)
            assert not outcome.violation, script(seed, shrink(seed, steps))


def test_histories_meet_every_kind_of_fault(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--histories", "10", "--seed", "7"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("histories: 10, steps: ")
    for fault in Fault:
        assert f"  {fault.value}: " in printed
        assert f"  {fault.value}: 0\n" not in printed


def test_a_history_is_a_function_of_its_seed() -> None:
    with quiet():
        assert replay(3, draw_steps(3)) == replay(3, draw_steps(3))


def test_a_violation_is_shrunk_and_printed_as_a_script(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def forget_nothing(_cache: Cache, _pod: Pod) -> bool:
        return False

    monkeypatch.setattr(Cache, "forget", forget_nothing)
    assert main(["--histories", "3"]) == 1
    printed = capsys.readouterr().out
    assert "is queued and assumed" in printed
    assert "steps = [\n    ('add_" in printed
    _, _, program = printed.partition("\n\n")
    assert program.count("    ('") <= 4
