"""A scheduler and an API server that disagree about groups are reported."""

from collections.abc import Mapping
from email.message import Message

import attrs
import msgspec
import pytest

from quaymaster.config import Kubernetes, default_config
from quaymaster.objects import PodGroup
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.deploy import (
    Patient,
    State,
    groups_agree,
    kinds_served,
    unserved_groups,
)
from tests.kit.internals.kubernetes import Answer, ApiError

OFF = Kubernetes("1.37")
ON = Kubernetes("1.37", {"GenericWorkload": True})
TOPOLOGY = Kubernetes(
    "1.37", {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
)
SERVED = "/apis/scheduling.k8s.io/v1beta1"
GROUPS = {"resources": [{"name": "podgroups"}, {"name": "podgroups/status"}]}
METRICS = """
kubernetes_build_info{major="1"} 1
kubernetes_feature_enabled{name="GenericWorkload",stage="BETA"} 1
kubernetes_feature_enabled{name="TopologyAwareWorkloadScheduling",stage="ALPHA"} %s
"""


class Server:
    """Answers to some paths, and with 404 to all others."""

    def __init__(self, answers: Mapping[str, object] = {}) -> None:
        self.answers = answers

    def request(self, method: str, path: str, **_: object) -> Answer:
        answer = self.answers.get(path)
        if answer is None:
            raise ApiError("the server", f"{method} {path}: not found", code=404)
        body = answer.encode() if isinstance(answer, str) else None
        return Answer(200, body or msgspec.json.encode(answer), Message())


class Silent:
    """Does not answer."""

    def request(self, *_: object, **__: object) -> Answer:
        raise ApiError("the server", "connection refused")


def patient(kubernetes: Kubernetes, server: Server) -> Patient:
    registry = PluginRegistry.discover()
    config = default_config(registry, kubernetes=kubernetes)
    return Patient(client=server, config=config, kinds=(), needs=())


def findings(kubernetes: Kubernetes, **answers: object) -> list[str]:
    paths = {SERVED: answers.get("served"), "/metrics": answers.get("metrics")}
    found = list(groups_agree(patient(kubernetes, Server(paths))))
    assert all(finding.state is State.WARNING for finding in found)
    return [finding.text for finding in found]


def test_groups_that_are_not_served_are_one_message() -> None:
    (message,) = unserved_groups(Server(), ON)
    assert message == (
        "PodGroup (scheduling.k8s.io/v1beta1) is not served: start kube-apiserver "
        "with --feature-gates=GenericWorkload=true "
        "--runtime-config=scheduling.k8s.io/v1beta1=true, or switch off the "
        "feature gate GenericWorkload here"
    )


def test_doctor_reports_groups_that_are_not_served_in_the_same_words() -> None:
    without_groups = attrs.evolve(patient(ON, Server()), kinds=(PodGroup,))
    (finding,) = kinds_served(without_groups)
    assert finding.state is State.MISSING
    assert [finding.text] == unserved_groups(Server(), ON)


def test_served_groups_are_no_problem() -> None:
    assert unserved_groups(Server({SERVED: GROUPS}), ON) == []


def test_groups_need_not_be_served_without_their_gate() -> None:
    assert unserved_groups(Server(), OFF) == []


def test_server_that_does_not_answer_is_another_problem() -> None:
    with pytest.raises(ApiError, match="refused"):
        unserved_groups(Silent(), ON)


def test_served_groups_have_no_effect_while_the_gate_is_off() -> None:
    (message,) = findings(OFF, served=GROUPS)
    assert message == (
        "the API server serves PodGroup, but the feature gate GenericWorkload is "
        "off here: pods are scheduled as if they had no PodGroup"
    )


def test_nothing_is_reported_where_groups_are_off_on_both_sides() -> None:
    assert findings(OFF) == []


def test_gate_of_fields_that_the_server_drops_is_reported() -> None:
    (message,) = findings(TOPOLOGY, served=GROUPS, metrics=METRICS % 0)
    assert message == (
        "the feature gate TopologyAwareWorkloadScheduling is on here, but off for "
        "the API server, which drops its fields"
    )


def test_gate_of_fields_that_are_not_read_is_reported() -> None:
    (message,) = findings(ON, served=GROUPS, metrics=METRICS % 1)
    assert message == (
        "the feature gate TopologyAwareWorkloadScheduling is on for the API "
        "server, but off here, where its fields have no effect"
    )


@pytest.mark.parametrize("metrics", [METRICS % 1, None], ids=["equal", "unreadable"])
def test_equal_or_unknown_gates_are_not_reported(metrics: str | None) -> None:
    assert findings(TOPOLOGY, served=GROUPS, metrics=metrics) == []
