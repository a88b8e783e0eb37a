"""Strategies are stored with the limits that a real API server gives them.

Cases follow upstream's ``pkg/apis/apps/v1/defaults_test.go`` (Kubernetes v1.37).
"""

from typing import Any

import pytest

from quaymaster.config import Kubernetes
from quaymaster.objects import DaemonSet, Deployment, StatefulSet, from_wire, to_wire
from tests.kit.clusters import make_cluster

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
QUARTERS = {"maxUnavailable": "25%", "maxSurge": "25%"}


def stored(
    kind: type[Deployment | DaemonSet | StatefulSet],
    field: str,
    strategy: object,
    kubernetes: str = "1.37",
) -> object:
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
    tree = {"metadata": {"name": "web", "namespace": "default"}}
    workload = from_wire({**tree, "spec": {**spec, field: strategy}}, kind)
    cluster = make_cluster(workload, kubernetes=Kubernetes(kubernetes))
    kept: object = to_wire(cluster.get(kind, workload.key))["spec"]
    assert isinstance(kept, dict)
    return kept.get(field)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, QUARTERS),
        ({"type": "RollingUpdate"}, QUARTERS),
        ({"rollingUpdate": {"maxSurge": 0}}, {**QUARTERS, "maxSurge": 0}),
        (
            {"rollingUpdate": {"maxUnavailable": "0%"}},
            {**QUARTERS, "maxUnavailable": "0%"},
        ),
    ],
)
def test_a_deployment_rolls_a_quarter_of_its_pods(
    given: dict[str, Any], expected: object
) -> None:
    strategy = stored(Deployment, "strategy", given)
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": expected}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"maxUnavailable": 1, "maxSurge": 0}),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "5%"}},
            {"maxUnavailable": "5%", "maxSurge": 0},
        ),
    ],
)
def test_a_daemon_set_rolls_one_node(given: dict[str, Any], expected: object) -> None:
    strategy = stored(DaemonSet, "updateStrategy", given)
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": expected}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"partition": 0, "maxUnavailable": 1}),
        ({"type": "RollingUpdate"}, None),
        ({"rollingUpdate": {"partition": 3}}, {"partition": 3, "maxUnavailable": 1}),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "40%"}},
            {"partition": 0, "maxUnavailable": "40%"},
        ),
    ],
)
def test_a_stateful_set_rolls_all_its_pods(
    given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    rolling = {} if expected is None else {"rollingUpdate": expected}
    strategy = stored(StatefulSet, "updateStrategy", given)
    assert strategy == {"type": "RollingUpdate"} | rolling


def test_limit_of_a_stateful_set_is_dropped_while_its_gate_is_off() -> None:
    given = {"rollingUpdate": {"partition": 3, "maxUnavailable": "nonsense"}}
    strategy = stored(StatefulSet, "updateStrategy", given, kubernetes="1.36")
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"partition": 3}}


@pytest.mark.parametrize(
    ("kind", "field", "name"),
    [
        (Deployment, "strategy", "Recreate"),
        (DaemonSet, "updateStrategy", "OnDelete"),
        (StatefulSet, "updateStrategy", "OnDelete"),
    ],
)
def test_other_strategies_stay_as_they_are(
    kind: type[Deployment | DaemonSet | StatefulSet], field: str, name: str
) -> None:
    assert stored(kind, field, {"type": name}) == {"type": name}
