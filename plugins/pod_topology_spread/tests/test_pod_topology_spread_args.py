"""The arguments of PodTopologySpread, as upstream validates them."""

import re

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness
from quaymaster_pod_topology_spread import PodTopologySpread

GOOD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}


@pytest.mark.parametrize(
    "args",
    [
        pytest.param(None, id="nothing given"),
        pytest.param({"defaultingType": ""}, id="empty type"),
        pytest.param({"defaultingType": "System"}, id="the system's"),
        pytest.param({"defaultingType": "List"}, id="an empty list"),
        pytest.param(
            {
                "defaultingType": "List",
                "defaultConstraints": [
                    GOOD,
                    {**GOOD, "whenUnsatisfiable": "ScheduleAnyway"},
                    {**GOOD, "topologyKey": "example.com/rack"},
                ],
            },
            id="a list",
        ),
    ],
)
def test_arguments_are_accepted(args: dict[str, object] | None) -> None:
    PluginHarness(PodTopologySpread, args=args)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        pytest.param(
            [{**GOOD, "maxSkew": 0}],
            "defaultConstraints[0].maxSkew: expected an integer, 1 or more, got 0",
            id="no skew",
        ),
        pytest.param(
            [{**GOOD, "topologyKey": ""}],
            "defaultConstraints[0].topologyKey: expected a name",
            id="no key",
        ),
        pytest.param(
            [{**GOOD, "topologyKey": "not a key"}],
            "defaultConstraints[0].topologyKey: expected a name",
            id="wrong key",
        ),
        pytest.param(
            [{**GOOD, "whenUnsatisfiable": ""}],
            "defaultConstraints[0].whenUnsatisfiable: expected one of",
            id="no action",
        ),
        pytest.param(
            [{**GOOD, "whenUnsatisfiable": "Whenever"}],
            "defaultConstraints[0].whenUnsatisfiable: expected one of",
            id="wrong action",
        ),
        pytest.param(
            [{**GOOD, "labelSelector": {}}],
            "defaultConstraints[0].labelSelector: expected none",
            id="selector",
        ),
        pytest.param(
            [GOOD, {**GOOD, "maxSkew": 2}],
            "defaultConstraints[1]: repeats the topologyKey",
            id="repetition",
        ),
    ],
)
def test_wrong_constraint_is_an_error(
    constraints: list[dict[str, object]], message: str
) -> None:
    args = {"defaultingType": "List", "defaultConstraints": constraints}
    with pytest.raises(ConfigErrors, match=re.escape(message)):
        PluginHarness(PodTopologySpread, args=args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            {"defaultConstraints": [GOOD]},
            "defaultingType: expected 'List', since there are defaultConstraints",
            id="constraints beside the system's",
        ),
        pytest.param({"defaultingType": "None"}, "defaultingType: expected", id="type"),
        pytest.param({"maxSkew": 1}, "maxSkew", id="unknown field"),
    ],
)
def test_wrong_arguments_are_an_error(args: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigErrors, match=re.escape(message)):
        PluginHarness(PodTopologySpread, args=args)
