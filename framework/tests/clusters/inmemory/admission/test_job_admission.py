"""Which Jobs an API server rejects, and what it fills in.

Cases follow ``TestValidateJob`` of upstream (Kubernetes v1.37,
``pkg/apis/batch/validation/validation_test.go``).
"""

from typing import Any

import pytest

from quaymaster.objects import Job, from_wire
from tests.kit.admission import rejected_paths
from tests.kit.clusters import make_cluster

Tree = dict[str, Any]

POD = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
RULES = "spec.podFailurePolicy.rules"
WINS = "spec.successPolicy.rules"


def job(**spec: object) -> Tree:
    return {"spec": {"template": {"spec": POD}, **spec}}


def indexed(**spec: object) -> Tree:
    return job(completionMode="Indexed", **{"completions": 5, **spec})


def failing(*rules: Tree, **spec: object) -> Tree:
    return job(podFailurePolicy={"rules": list(rules)}, **spec)


def on_codes(*values: int, **fields: object) -> Tree:
    codes = {"operator": "In", "values": list(values), **fields}
    return failing({"action": "Ignore", "onExitCodes": codes})


def on_condition(**pattern: str) -> Tree:
    return failing({"action": "Ignore", "onPodConditions": [pattern]})


def succeeding(**rule: object) -> Tree:
    return indexed(successPolicy={"rules": [rule]})


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        pytest.param(
            job(ttlSecondsAfterFinished=-1),
            ["spec.ttlSecondsAfterFinished"],
            id="a time to live below 0",
        ),
        pytest.param(
            indexed(maxFailedIndexes=1),
            ["spec.backoffLimitPerIndex"],
            id="failed indexes without a limit for each index",
        ),
        pytest.param(
            job(backoffLimitPerIndex=1, maxFailedIndexes=1, completions=1),
            ["spec.backoffLimitPerIndex", "spec.maxFailedIndexes"],
            id="limits of indexes without indexes",
        ),
        pytest.param(
            indexed(backoffLimitPerIndex=1, maxFailedIndexes=6),
            ["spec.maxFailedIndexes"],
            id="more failed indexes than indexes",
        ),
        pytest.param(
            indexed(backoffLimitPerIndex=1, completions=100_001, parallelism=10_001),
            ["spec.maxFailedIndexes", "spec.parallelism"],
            id="too many indexes at once",
        ),
        pytest.param(
            failing(*({"action": "Ignore", "onPodConditions": [{"type": "T"}]},) * 21),
            [RULES],
            id="21 rules",
        ),
        pytest.param(failing({}), [f"{RULES}[0].action", f"{RULES}[0]"], id="no rule"),
        pytest.param(
            failing({"action": "FailIndex", "onPodConditions": [{"type": "T"}]}),
            [f"{RULES}[0].action"],
            id="failing an index without a limit for each index",
        ),
        pytest.param(
            failing(
                {
                    "action": "Count",
                    "onExitCodes": {"operator": "In", "values": [1]},
                    "onPodConditions": [{"type": "T"}],
                }
            ),
            [f"{RULES}[0]"],
            id="codes and conditions",
        ),
        pytest.param(
            on_codes(3, 1, 1, 0),
            [
                f"{RULES}[0].onExitCodes.values[2]",
                f"{RULES}[0].onExitCodes.values[3]",
                f"{RULES}[0].onExitCodes.values",
            ],
            id="codes that repeat, succeed and descend",
        ),
        pytest.param(
            on_codes(operator="Near", containerName="d"),
            [
                f"{RULES}[0].onExitCodes.operator",
                f"{RULES}[0].onExitCodes.containerName",
                f"{RULES}[0].onExitCodes.values",
            ],
            id="codes of an unknown container",
        ),
        pytest.param(
            on_condition(type="no key", status="Maybe"),
            [
                f"{RULES}[0].onPodConditions[0].type",
                f"{RULES}[0].onPodConditions[0].status",
            ],
            id="a malformed condition",
        ),
        pytest.param(
            on_codes(1) | {"spec": {**on_codes(1)["spec"], "podReplacementPolicy": ""}},
            ["spec.podReplacementPolicy"],
            id="a replacement policy beside a failure policy",
        ),
        pytest.param(
            job(successPolicy={"rules": []}),
            ["spec.successPolicy"],
            id="a success policy without indexes",
        ),
        pytest.param(succeeding(), [f"{WINS}[0]"], id="an empty success rule"),
        pytest.param(
            succeeding(succeededCount=3, succeededIndexes="0-1"),
            [f"{WINS}[0].succeededCount"],
            id="more successes than indexes",
        ),
        pytest.param(
            succeeding(succeededCount=0, succeededIndexes="1,3-4"), [], id="indexes"
        ),
        *(
            pytest.param(
                succeeding(succeededIndexes=text),
                [f"{WINS}[0].succeededIndexes"],
                id=f"the indexes {text}",
            )
            for text in ("5", "1-2-3", "3-3", "2,1", "a", "-1", ",")
        ),
    ],
)
def test_job_is_rejected_for_the_fields_that_an_api_server_names(
    tree: Tree, paths: list[str]
) -> None:
    assert rejected_paths("Job", tree) == paths


def test_condition_without_a_status_is_for_true_ones() -> None:
    tree = {"metadata": {"name": "a"}, **on_condition(type="DisruptionTarget")}
    job = make_cluster(controllers=False).create(from_wire(tree, Job))
    assert job.spec.pod_failure_policy is not None
    assert job.spec.pod_failure_policy.rules[0].on_pod_conditions[0].status == "True"
