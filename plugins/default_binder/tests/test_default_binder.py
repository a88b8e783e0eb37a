"""DefaultBinder: the written binding, and failed calls."""

from collections.abc import Mapping

import pytest

from quaymaster import Code, Pod
from quaymaster.cluster import ConflictError, NotFoundError, UnknownOutcomeError
from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_node, make_pod
from quaymaster_default_binder import DefaultBinder


def harness_with(pod: Pod) -> PluginHarness:
    return PluginHarness(DefaultBinder, nodes=[make_node(name="a")], objects=[pod])


def test_pod_is_bound_to_its_node() -> None:
    pod = make_pod()
    harness = harness_with(pod)
    assert harness.bind(pod, "a") is None
    assert harness.cluster.get(Pod, pod.key).node_name == "a"


def test_refusal_is_an_error_with_the_text_of_the_cluster() -> None:
    pod = make_pod()
    status = harness_with(pod).bind(pod, "gone")
    assert status is not None
    assert status.code is Code.ERROR
    assert isinstance(status.error, NotFoundError)
    assert status.message == str(status.error)


def test_pod_that_was_replaced_by_another_of_its_name_is_not_bound() -> None:
    harness = harness_with(make_pod())
    status = harness.bind(make_pod(uid="deleted-meanwhile"), "a")
    assert status is not None
    assert isinstance(status.error, ConflictError)
    assert harness.cluster.get(Pod, "default/pod").node_name == ""


def test_pod_is_not_bound_twice() -> None:
    pod = make_pod()
    harness = harness_with(pod)
    harness.bind(pod, "a")
    status = harness.bind(pod, "a")
    assert status is not None
    assert isinstance(status.error, ConflictError)


def test_lost_answer_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = UnknownOutcomeError("no answer within 30s")

    def bind(
        pod: Pod, node_name: str, *, annotations: Mapping[str, str] | None = None
    ) -> None:
        raise lost

    pod = make_pod()
    harness = harness_with(pod)
    monkeypatch.setattr(harness.cluster, "bind", bind)
    status = harness.bind(pod, "a")
    assert status is not None
    assert status.code is Code.ERROR
    assert status.error is lost


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'DefaultBinder' takes no arguments"):
        PluginHarness(DefaultBinder, args={"colour": "red"})
