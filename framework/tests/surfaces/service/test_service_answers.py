"""Answers of a warm cluster are those of an explanation and of a simulation."""

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


def asked(cluster: SmallCluster, service: WarmCluster) -> Sequence[Pod]:
    """The pods that wait, as far as a client may ask about them, and without gates."""
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
def test_a_question_gets_the_same_answer_however_often_it_comes(
    cluster: SmallCluster,
) -> None:
    service, other = running(cluster), running(cluster)
    pods = asked(cluster, other)
    first = service.fit(pods)
    for pod in pods:
        service.fit([pod])
    assert service.fit(pods) == first
    assert other.fit(pods) == first


@pytest.mark.long
@fewer(2)
@given(clusters())
def test_a_fit_is_what_an_explanation_says(cluster: SmallCluster) -> None:
    service = running(cluster)
    for pod in asked(cluster, service):
        told = service.explain(pod)
        best = max([one.total for one in told.scores], default=0)
        top = [one.node for one in told.scores if one.total == best]
        for _ in range(2):
            (fit,) = service.fit([pod]).pods
            assert fit.node in top if top else fit.message == told.message


@pytest.mark.long
@fewer(2)
@given(clusters())
def test_a_fit_is_what_a_simulation_does(cluster: SmallCluster) -> None:
    service = running(cluster)
    for pod in asked(cluster, service):
        (fit,) = service.fit([pod]).pods
        found = service.simulate([pod])
        placed = {one.pod for one in found.placements}
        if fit.node or found.preempted:
            assert pod.key in placed
            assert not (fit.node and found.preempted)
        else:
            (left,) = [one for one in found.unscheduled if one.pod == pod.key]
            assert left.message.startswith(fit.message)
