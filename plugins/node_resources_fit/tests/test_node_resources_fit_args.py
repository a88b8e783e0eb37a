"""NodeResourcesFit's arguments: upstream's defaults and validation.

Mirrors ``SetDefaults_NodeResourcesFitArgs`` and ``ValidateNodeResourcesFitArgs``
(kube-scheduler 1.36.2, ``pkg/scheduler/apis/config``).
"""

import re
from collections.abc import Mapping

import pytest

from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_node_resources_fit import (
    NodeResourcesFit,
    NodeResourcesFitArgs,
    ResourceSpec,
    ScoringStrategyType,
)

RATIO = "RequestedToCapacityRatio"


def messages(args: Mapping[str, object]) -> list[str]:
    """Return the errors of arguments, with their paths."""
    with pytest.raises(ConfigErrors) as caught:
        PluginHarness(NodeResourcesFit, args=args)
    prefix = "profiles[0].pluginConfig[0].args."
    return [
        f"{problem.path.removeprefix(prefix)}: {problem.message}"
        for problem in caught.value.problems
    ]


def test_without_arguments_cpu_and_memory_are_least_allocated() -> None:
    args = NodeResourcesFitArgs()
    assert args.scoring_strategy.type is ScoringStrategyType.LEAST_ALLOCATED
    assert args.scoring_strategy.resources == (
        ResourceSpec(name="cpu", weight=1),
        ResourceSpec(name="memory", weight=1),
    )
    assert args.ignored_resources == ()
    assert args.ignored_resource_groups == ()


@pytest.mark.parametrize(
    "strategy",
    [
        pytest.param({"type": "MostAllocated"}, id="no resources"),
        pytest.param({"type": "MostAllocated", "resources": []}, id="empty resources"),
        pytest.param({"type": "MostAllocated", "resources": None}, id="null resources"),
        pytest.param(
            {
                "type": "MostAllocated",
                "resources": [{"name": "cpu"}, {"name": "memory", "weight": 0}],
            },
            id="no weight and weight 0",
        ),
    ],
)
def test_what_is_not_given_is_filled_in(strategy: dict[str, object]) -> None:
    args = {"scoringStrategy": strategy}
    node = make_node(name="node", capacity={"cpu": "4", "memory": "8Gi"})
    harness = PluginHarness(NodeResourcesFit, args=args, nodes=[node])
    pod = make_pod(requests={"cpu": "2", "memory": "2Gi"})
    assert harness.score(pod) == {"node": (50 + 25) // 2}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            {"scoringStrategy": {"type": "Random"}},
            "scoringStrategy.type: expected one of 'LeastAllocated', 'MostAllocated', "
            "'RequestedToCapacityRatio', got 'Random'",
            id="unknown strategy",
        ),
        pytest.param(
            {"scoringStrategy": {"resources": [{"name": "cpu"}]}},
            "scoringStrategy.type: required, but not given",
            id="no strategy",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu"}, {"name": "memory", "weight": 101}],
                }
            },
            "scoringStrategy.resources[1].weight: "
            "expected an integer from 1 to 100, got 101",
            id="weight too high",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": -1}],
                }
            },
            "scoringStrategy.resources[0].weight: "
            "expected an integer from 1 to 100, got -1",
            id="negative weight",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "resources": [{"name": "cpu", "weight": "5"}],
                }
            },
            "scoringStrategy.resources[0].weight: "
            "expected an integer from 1 to 100, got '5'",
            id="weight that is a text",
        ),
        pytest.param(
            {"scoringStrategy": {"type": RATIO}},
            "scoringStrategy.requestedToCapacityRatio: "
            "required, since type is RequestedToCapacityRatio",
            id="ratio without its parameters",
        ),
        pytest.param(
            {
                "scoringStrategy": {
                    "type": "LeastAllocated",
                    "requestedToCapacityRatio": {"shape": [{}]},
                }
            },
            "scoringStrategy.requestedToCapacityRatio: "
            "expected nothing, since type is LeastAllocated",
            id="parameters of the ratio for another strategy",
        ),
        pytest.param(
            {"ignoredResources": ["example.com/foo", "a/b/c"]},
            "ignoredResources[1]: "
            "expected a name such as cpu or example.com/gpu, got 'a/b/c'",
            id="impossible resource",
        ),
        pytest.param(
            {"ignoredResourceGroups": ["example.com/foo"]},
            "ignoredResourceGroups[0]: "
            "expected a name without /, got 'example.com/foo'",
            id="group with a slash",
        ),
        pytest.param(
            {"ignoredResourceGroups": [""]},
            "ignoredResourceGroups[0]: expected a name without /, got ''",
            id="empty group",
        ),
        pytest.param(
            {"ignoredResource": []},
            "ignoredResource: unknown field; did you mean 'ignoredResources'?",
            id="misspelt field",
        ),
    ],
)
def test_wrong_argument_is_told_with_its_path(
    args: dict[str, object], message: str
) -> None:
    assert messages(args) == [message]


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        pytest.param(
            [], ": expected at least one point, got an empty list", id="empty"
        ),
        pytest.param(
            [{"utilization": -1, "score": 1}],
            "[0].utilization: expected an integer from 0 to 100, got -1",
            id="utilization too low",
        ),
        pytest.param(
            [{"utilization": 101, "score": 1}],
            "[0].utilization: expected an integer from 0 to 100, got 101",
            id="utilization too high",
        ),
        pytest.param(
            [{"utilization": 1, "score": 11}],
            "[0].score: expected an integer from 0 to 10, got 11",
            id="score too high",
        ),
        pytest.param(
            [{"utilization": 1, "score": -1}],
            "[0].score: expected an integer from 0 to 10, got -1",
            id="score too low",
        ),
        pytest.param(
            [{"utilization": 50}, {"utilization": 50}, {"utilization": 40}],
            "[1].utilization: expected more than 50, got 50",
            id="not rising",
        ),
    ],
)
def test_wrong_shape_is_told_with_its_path(
    shape: list[dict[str, int]], message: str
) -> None:
    ratio = {"requestedToCapacityRatio": {"shape": shape}}
    args = {"scoringStrategy": {"type": RATIO, **ratio}}
    path = "scoringStrategy.requestedToCapacityRatio.shape"
    assert messages(args) == [f"{path}{message}"]


def test_all_mistakes_come_at_once() -> None:
    args = {
        "ignoredResources": ["-"],
        "scoringStrategy": {"type": RATIO, "resources": [{"weight": 1}]},
    }
    found = "\n".join(messages(args))
    assert re.search(r"ignoredResources\[0\]", found)
    assert re.search(r"resources\[0\]\.name", found)
