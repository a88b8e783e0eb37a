"""Arguments that no code reads or uses are reported as ones without effect."""

import re
import warnings
from typing import ClassVar

import attrs
import pytest
from hypothesis.strategies import SearchStrategy

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.testing import (
    PluginContract,
    SmallCluster,
    VacuousContractWarning,
    check_plugin,
    clusters,
    nodes,
)
from tests.kit.internals.testing import CHECKS
from tests.kit.planted.boilers import ChecksValves, DerivesHeat, HasABoiler, StoresSteam

OTHERS = {name: "not asked here" for name in CHECKS if name != "effects"}
CLUSTERS = clusters(nodes=nodes({"labels": {"wet": "yes"}}))
WET = Status.unresolvable("the node is wet")


@attrs.frozen(kw_only=True)
class PumpArgs:
    """The settings of pumps.

    Attributes:
        may_be_wet: Whether nodes may be wet.
        unread_litres: Only its default is read.
    """

    may_be_wet: bool = False
    unread_litres: int = 0


class IgnoresLitres:
    """Reads a default instead of the argument."""

    Args: ClassVar[type] = PumpArgs

    def __init__(self, args: PumpArgs, handle: Handle) -> None:
        self.may_be_wet = args.may_be_wet or PumpArgs().unread_litres > 0

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return WET if "wet" in node.labels and not self.may_be_wet else None


@attrs.frozen(kw_only=True)
class TankArgs:
    """The settings of tanks.

    Attributes:
        by_name: It is read by its name.
        by_match: It is read by a pattern.
    """

    by_name: bool = False
    by_match: bool = False


class ReadsAll(IgnoresLitres):
    """Correct, and reads its arguments in other ways."""

    Args: ClassVar[type] = TankArgs

    def __init__(self, args: TankArgs, handle: Handle) -> None:
        self.may_be_wet = bool(getattr(args, "by_name"))  # noqa: B009 - this way
        match args:
            case TankArgs(by_match=True):
                self.may_be_wet = True


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
@pytest.mark.parametrize(
    ("plugin", "argument"),
    [
        (StoresSteam, "stored_"),
        (ChecksValves, "checked_"),
        (DerivesHeat, "degrees_"),
    ],
)
def test_argument_that_is_only_validated_or_stored_has_no_effect(
    plugin: type, argument: str
) -> None:
    # Code that has the whole name as a text may read the argument by it.
    text = rf"argument '{argument}\w+' has no effect: it is validated or stored"
    with pytest.warns(VacuousContractWarning, match=text):
        check_plugin(plugin, clusters=CLUSTERS, opt_outs=OTHERS)


class Boilers(PluginContract):
    plugin = HasABoiler

    def clusters(self) -> SearchStrategy[SmallCluster]:
        return CLUSTERS


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_report_names_an_argument_with_which_nothing_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Boilers().test_contract("effects")
    text = capsys.readouterr().out
    assert re.search(r"argument 'boiler_\w+' had no effect on any of \d+", text)
    assert text.count("argument") == 1


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_argument_whose_default_is_read_has_no_effect() -> None:
    text = "argument 'unread_litres' has no effect"
    with pytest.warns(VacuousContractWarning, match=text):
        check_plugin(IgnoresLitres, clusters=CLUSTERS, opt_outs=OTHERS)


@pytest.mark.usefixtures("usual_examples")
@pytest.mark.long
def test_argument_may_be_read_by_name_or_by_a_pattern() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", VacuousContractWarning)
        check_plugin(ReadsAll, clusters=CLUSTERS, opt_outs=OTHERS)
