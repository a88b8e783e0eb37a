"""Random histories of pods that claim devices break no invariant."""

import pytest

from tests.chaos.__main__ import main
from tests.chaos.devices.device_history import draw_device_steps
from tests.chaos.machine import RATES
from tests.chaos.run import replay, script, shrink
from tests.kit.nightly import sampled

_RUN = 20
_SHORT = 2
"""The number of histories in every run."""

_STEP = 6
"""One of so many parts is played by the long suite; the nightly one plays the rest."""

_PARTS = [range(first, first + _RUN) for first in range(0, 500, _RUN)]


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(_SHORT), id="first"), *sampled(_PARTS, step=_STEP)],
)
def test_no_history_gives_devices_twice_or_loses_any(seeds: range) -> None:
    for seed in seeds:
        steps = draw_device_steps(seed)
        outcome = replay(seed, steps, kind="devices")
        assert not outcome.violation, script(
            seed, shrink(seed, steps, kind="devices"), kind="devices"
        )


@pytest.mark.long
def test_histories_of_devices_meet_every_kind_of_trouble(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--kind", "devices", "--histories", "60", "--seed", "7000"]) == 0
    printed = capsys.readouterr().out
    others = (
        "answers of drivers",
        "claims left without a consumer",
        "deallocations",
        "promises of devices",
        "promises taken back",
        "restarts",
    )
    for name in (*(fault.value for fault in RATES), *others):
        assert f"  {name}: " in printed
        assert f"  {name}: 0\n" not in printed


@pytest.mark.long
def test_a_history_of_devices_is_a_function_of_its_seed() -> None:
    steps = draw_device_steps(1)
    assert replay(1, steps, kind="devices") == replay(1, steps, kind="devices")
