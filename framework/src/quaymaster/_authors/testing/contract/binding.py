"""A check: bind binds the pod with its annotations, and reports failed calls."""

from contextlib import suppress
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.harnesses import admitted_harness
from quaymaster._authors.testing.contract.rejections import fail_rejected
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault, FaultyCluster
from quaymaster._authors.testing.harness import PluginHarness, PluginStatusError
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.status import Status
from quaymaster._core.engine.handle import Services

__all__ = ["BINDING"]

_KEY: Final = "quaymaster.test/chosen"
_FAULTS: Final = (Fault.CONFLICT, Fault.ERROR, Fault.LOST_CALL)
"""After these faults of a call, the pod has no node."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for node in cluster.nodes:
            harness = admitted_harness(subject, cluster, PluginHarness)
            if harness is not None:
                _ask_node(harness, pod, node)
        failing = admitted_harness(subject, cluster, _FailingHarness)
        if failing is not None:
            for node in cluster.nodes[:1]:
                _ask_failing(failing, pod, node)


def _ask_node(harness: PluginHarness, pod: Pod, node: Node) -> None:
    with _started(harness):
        harness.state.annotate(_KEY, "yes")
        is_success = _answer(harness, pod, node.name) is None
        stored = _stored(harness, pod)
    if stored is None:
        return
    if is_success and not stored.node_name:
        text = (
            "returned success, but the pod has no node: return Status.skip() to leave "
            "it to the next Bind plugin"
        )
        fail("bind", text, pod, node)
    if stored.node_name and stored.annotations.get(_KEY) != "yes":
        text = (
            "binds without the annotations that plugins have chosen: give "
            "Cluster.bind annotations=state.annotations"
        )
        fail("bind", text, pod, node)


def _ask_failing(harness: "_FailingHarness", pod: Pod, node: Node) -> None:
    rejection: Status | None = None
    with _started(harness):
        for fault in _FAULTS:
            harness.faulty.set_rates({fault: 1.0})
            answer = _answer(harness, pod, node.name)
            stored = _stored(harness, pod)
            if isinstance(answer, Status) and fault is not Fault.CONFLICT:
                rejection = answer if answer.is_rejected else rejection
            if answer is None and stored is not None and not stored.node_name:
                text = (
                    f"returned success, but the call failed ({fault.value}) and the "
                    "pod has no node: return Status.from_error(error)"
                )
                fail("bind", text, pod, node)
        harness.faulty.set_rates({})
        if rejection is not None and _answer(harness, pod, node.name) is None:
            fail_rejected("bind", rejection, pod, node)


def _started(harness: PluginHarness) -> PluginHarness:
    # Other checks report other failures.
    with suppress(Exception):
        harness.start()
    return harness


def _answer(harness: PluginHarness, pod: Pod, node_name: str) -> Status | None:
    """Return the answer of the plugin, which is None once it has bound a pod."""
    try:
        return harness.bind(replace(pod, node_name=node_name), node_name)
    except PluginStatusError as error:
        return error.status
    except Exception as error:
        return Status.from_error(error)


def _stored(harness: PluginHarness, pod: Pod) -> Pod | None:
    with suppress(QuaymasterError):
        return harness.cluster.get(Pod, pod.key)
    return None


class _FailingHarness(PluginHarness):
    """A harness whose calls of the cluster may fail.

    Attributes:
        faulty: The cluster as the plugin sees it.
    """

    faulty: FaultyCluster

    def _adapted(self, services: Services) -> Services:
        self.faulty = FaultyCluster(services.cluster, clock=services.clock, rates={})
        return attrs.evolve(services, cluster=self.faulty)


BINDING = Check(
    name="binding",
    promise="bind writes the chosen annotations, and succeeds only for bound pods",
    ask=_ask,
    hooks=frozenset({"bind"}),
)
