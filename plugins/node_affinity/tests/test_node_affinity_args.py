"""NodeAffinity's arguments.

Mirrors ``ValidateNodeAffinityArgs`` (kube-scheduler 1.36.2,
``pkg/scheduler/apis/config/validation``).
"""

from collections.abc import Mapping

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_affinity import NodeAffinity, NodeAffinityArgs

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def messages(added: object) -> list[str]:
    """Return the errors of an added affinity, with their paths."""
    with pytest.raises(ConfigErrors) as caught:
        PluginHarness(NodeAffinity, args={"addedAffinity": added})
    prefix = "profiles[0].pluginConfig[0].args.addedAffinity."
    return [
        f"{problem.path.removeprefix(prefix)}: {problem.message}"
        for problem in caught.value.problems
    ]


def terms(**condition: object) -> Mapping[str, object]:
    return {"nodeSelectorTerms": [{"matchExpressions": [condition]}]}


def test_without_arguments_nothing_is_added() -> None:
    assert NodeAffinityArgs().added_affinity is None


@pytest.mark.parametrize("added", [None, {}, {REQUIRED: None, PREFERRED: []}])
def test_empty_added_affinity_adds_nothing(added: object) -> None:
    args = {"addedAffinity": added}
    harness = PluginHarness(NodeAffinity, args=args, nodes=[make_node()])
    assert harness.filter(make_pod(), pre_filter=False) == {}
    assert harness.score(make_pod()) == {}


def test_wrong_requirement_is_told_with_its_path() -> None:
    [found] = messages({REQUIRED: terms(key="zone", operator="Near", values=["a"])})
    assert found == (
        f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator: expected one "
        "of DoesNotExist, Exists, Gt, In, Lt, NotIn, got 'Near'"
    )


def test_wrong_preference_is_told_with_its_path() -> None:
    condition = {"key": "metadata.name", "operator": "Exists"}
    preference = {"weight": 1, "preference": {"matchFields": [condition]}}
    assert messages({PREFERRED: [preference]}) == [
        f"{PREFERRED}[0].matchFields[0].operator: expected In or NotIn, got 'Exists'"
    ]


def test_all_mistakes_come_at_once() -> None:
    preference = {"matchExpressions": [{"key": "-", "operator": "Exists"}]}
    added = {
        REQUIRED: terms(key="zone", operator="In", values=[]),
        PREFERRED: [{"weight": 1, "preference": preference}],
    }
    first, second = messages(added)
    assert first == (
        f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values: "
        "expected at least one value for In, got []"
    )
    assert second == (
        f"{PREFERRED}[0].matchExpressions[0].key: expected a label key, got '-'"
    )


def test_misspelt_field_is_told_with_its_path() -> None:
    assert messages({"required": {}})[0].startswith("required: unknown field")
