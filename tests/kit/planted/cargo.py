"""A plugin that reads several fields of a pod, and signatures that lack some."""

from collections.abc import Hashable, Sequence

from quaymaster import (
    Change,
    ClusterEventWithHint,
    NodeInfo,
    Pod,
    PodUse,
    QueueingHint,
    Scope,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import clusters, nodes, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["CARGO_MISTAKES", "OWN", "Cargo"]

CRANE = "example.com/crane"
NO_CRANE = Status.unresolvable("node(s) had no crane for the pod")
HEAVY = 2000


class Cargo(Plugin):
    """Correct: pods prefer nodes with their images, and need a crane if they want one.

    The crane is a label, or else an annotation. Pods that may use much CPU need one.
    """

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = ()

    def images(self, pod: Pod) -> tuple[str, ...]:
        """Return the images of a pod."""
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        return tuple(container.image for container in containers)

    def crane(self, pod: Pod) -> str:
        """Return the crane that a pod wants."""
        return pod.labels.get(CRANE) or pod.annotations.get(CRANE, "")

    def is_heavy(self, pod: Pod) -> bool:
        """Return whether a pod may use much CPU."""
        limits = [each.resources.limits.get("cpu") for each in pod.spec.containers]
        return sum(limit.milli_value for limit in limits if limit is not None) >= HEAVY

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return self.images(pod), self.crane(pod), self.is_heavy(pod)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        has_crane = node.labels.get(CRANE, "")
        wanted = Cargo.crane(self, pod)
        if wanted and has_crane != wanted:
            return NO_CRANE
        return NO_CRANE if Cargo.is_heavy(self, pod) and not has_crane else None

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        images = Cargo.images(self, pod)
        names = {name for image in node.node.status.images for name in image.names}
        return 100 * sum(image in names for image in images) // max(1, len(images))

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
            on_pod.target(Change.UPDATE, _always),
        ]


def _always(_pod: Pod, _old: object, _new: object) -> QueueingHint:
    return QueueingHint.QUEUE


class SignsNoInitContainers(Cargo):
    def images(self, pod: Pod) -> tuple[str, ...]:
        return tuple(container.image for container in pod.spec.containers)


class SignsTheFirstContainer(Cargo):
    def images(self, pod: Pod) -> tuple[str, ...]:
        first = pod.spec.containers[0].image
        return first, *(container.image for container in pod.spec.init_containers)


class SignsNoAnnotation(Cargo):
    def crane(self, pod: Pod) -> str:
        return pod.labels.get(CRANE, "")


class SignsRequests(Cargo):
    def is_heavy(self, pod: Pod) -> bool:
        requests = [each.resources.requests.get("cpu") for each in pod.spec.containers]
        return (
            sum(amount.milli_value for amount in requests if amount is not None)
            >= HEAVY
        )


IMAGES = ("registry.example/red:v1", "registry.example/blue:v1")
OWN = clusters(
    nodes=nodes(
        {"labels": {CRANE: "big"}},
        *({"images": {image: 100 << 20}} for image in IMAGES),
    ),
    pods=pods(
        {"labels": {CRANE: "big"}},
        {"requests": {"cpu": "3"}},
        *({"images": [image]} for image in IMAGES),
    ),
)
CARGO_MISTAKES: Sequence[Mistake] = (
    Mistake(SignsNoInitContainers, ["signature"], OWN),
    Mistake(SignsNoAnnotation, ["signature"], OWN),
    Mistake(SignsTheFirstContainer, ["signature"], OWN),
    Mistake(SignsRequests, ["signature"], OWN),
)
