"""The contract suite finds mistakes in the hooks that are about groups."""

import pytest

from quaymaster.config import Kubernetes
from quaymaster.testing import ContractError, check_plugin
from tests.kit.broken_groups import BROKEN_GROUPS, GroupsAreFine
from tests.kit.internals.testing import CHECKS

CHECKS_OF_GROUPS = ("placements", "placement scores", "quorum", "group rescue")


def without(*checks: str) -> dict[str, str]:
    """Return all other checks, to opt out of."""
    return {name: "not asked here" for name in CHECKS if name not in checks}


@pytest.mark.usefixtures("unshrunk_examples")
@pytest.mark.long
@pytest.mark.parametrize(
    ("plugin", "check", "message"),
    [pytest.param(*case, id=case[0].__name__) for case in BROKEN_GROUPS],
)
def test_each_mistake_with_groups_is_named_by_its_check(
    plugin: type, check: str, message: str
) -> None:
    with pytest.raises(ContractError) as caught:
        check_plugin(plugin, opt_outs=without(check))
    (violation,) = caught.value.violations
    assert (violation.check, violation.plugin) == (check, plugin.__name__)
    assert message in str(caught.value).splitlines()[0]


@pytest.mark.parametrize("check", CHECKS_OF_GROUPS)
def test_plugin_for_groups_without_mistakes_passes(check: str) -> None:
    check_plugin(GroupsAreFine, opt_outs=without(check))


def test_versions_without_groups_have_nothing_to_check() -> None:
    (plugin, check, _), *_ = BROKEN_GROUPS
    check_plugin(plugin, opt_outs=without(check), kubernetes=[Kubernetes("1.36")])
