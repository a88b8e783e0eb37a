"""Answers of a warm cluster agree with an explanation and with a simulation."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import assume, given

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import AdmissionError
from quaymaster.scheduler import PluginRegistry
from quaymaster.service import RequestError, WarmCluster
from quaymaster.testing import SmallCluster, clusters
from tests.kit.profiles import fewer

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)


def warm(objects: Iterable[ApiObject]) -> WarmCluster:
    try:
        return WarmCluster(tuple(objects), config=CONFIG, registry=REGISTRY)
    except AdmissionError:
        assume(False)
        raise


def running(cluster: SmallCluster) -> WarmCluster:
    return warm((*cluster.nodes, *cluster.objects, *cluster.pods))


def askable_pods(cluster: SmallCluster, service: WarmCluster) -> Sequence[Pod]:
    """Return the pending pods without gates that a client may ask about."""
    found = []
    for pod in cluster.pending:
        try:
            service.explain(pod)
        except RequestError:
            continue
        if not pod.spec.scheduling_gates:
            found.append(pod)
    return found


@pytest.mark.long
@fewer(2)
@given(clusters())
def test_a_repeated_question_gets_the_same_answer(
    cluster: SmallCluster,
) -> None:
    service, other = running(cluster), running(cluster)
    pods = askable_pods(cluster, other)
    first = service.fit(pods)
    for pod in pods:
        service.fit([pod])
    assert service.fit(pods) == first
    assert other.fit(pods) == first


@pytest.mark.long
@fewer(2)
@given(clusters())
def test_a_fit_agrees_with_an_explanation(cluster: SmallCluster) -> None:
    service = running(cluster)
    for pod in askable_pods(cluster, service):
        explanation = service.explain(pod)
        best = max([score.total for score in explanation.scores], default=0)
        top = [score.node for score in explanation.scores if score.total == best]
        for _ in range(2):
            (fit,) = service.fit([pod]).pods
            assert fit.node in top if top else fit.message == explanation.message


@pytest.mark.long
@fewer(2)
@given(clusters())
def test_a_fit_agrees_with_a_simulation(cluster: SmallCluster) -> None:
    service = running(cluster)
    for pod in askable_pods(cluster, service):
        (fit,) = service.fit([pod]).pods
        found = service.simulate([pod])
        placed = {placement.pod for placement in found.placements}
        if fit.node or found.preempted:
            assert pod.key in placed
            assert not (fit.node and found.preempted)
        else:
            (left,) = [
                pod_result
                for pod_result in found.unscheduled
                if pod_result.pod == pod.key
            ]
            assert left.message.startswith(fit.message)
