"""How long nodes need to pull the images of pods.

As a kubelet by default (``serializeImagePulls``), a node pulls one image after another,
each once. The sizes are those that nodes report in ``status.images``; an image that no
node has takes no time. Pulled images are not added to the status of nodes, so they do
not change decisions.
"""

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from quaymaster._api.objects import Container, Node, Pod, PodSpec
from quaymaster._api.objects.spec_key import SpecKey
from quaymaster._core.contract.clock import Clock

__all__ = ["ImagePulls", "full_image_name", "image_sizes", "images_of"]

_NEVER: Final = "Never"
_DEFAULT_REGISTRY: Final = "docker.io"
_DEFAULT_FOLDER: Final = "library"


class ImagePulls:
    """The images that the nodes of a cluster pull.

    Args:
        clock: The cluster's time.
        bytes_per_second: How fast a node pulls.
        nodes: The nodes, by name.
    """

    def __init__(
        self, clock: Clock, bytes_per_second: float, nodes: Mapping[str, Node]
    ) -> None:
        self._clock = clock
        self._rate = bytes_per_second
        self._nodes = nodes
        self._sizes: dict[str, int] = {}
        # By node: the images that it had, and when each other one is there.
        self._stored: dict[str, frozenset[str]] = {}
        self._ends: dict[str, dict[str, float]] = {}

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that was created, changed or removed."""
        if new is not None:
            # Identity: most changes of a node share its images.
            if old is None or old.status.images is not new.status.images:
                sizes = image_sizes((new,))
                self._sizes |= sizes
                self._stored[new.name] = frozenset(sizes)
        elif old is not None:
            self._stored.pop(old.name, None)
            self._ends.pop(old.name, None)

    def hold(self, pod: Pod) -> None:
        """Note that a pod which was loaded with its node has its images there."""
        ends, now = self._ends.setdefault(pod.node_name, {}), self._clock.now()
        for image in images_of(pod.spec):
            # At the time of loading, so that further pods on this node need not pull
            # it.
            ends.setdefault(image, now)

    def seconds(self, pod: Pod, node_name: str) -> float:
        """Begin the pulls for a pod on a node, and return how long they take.

        The time is infinite if the pod may not pull an image that is missing.
        """
        now = self._clock.now()
        stored = self._stored.get(node_name, frozenset())
        ends = self._ends.setdefault(node_name, {})
        end = now
        for image, may_pull in _IMAGES.of(pod):
            # Another pod has begun the pull, so this one waits for its end only.
            if image in stored or image in ends:
                end = max(end, ends.get(image, now))
            elif not may_pull:
                return math.inf
            # An image that no node reports has no known size, and is free.
            elif size := self._sizes.get(image, 0):
                # One after the other: ``serializeImagePulls`` of kubelets is on by
                # default.
                begin = max(now, *ends.values()) if ends else now
                ends[image] = begin + size / self._rate
                end = max(end, ends[image])
        return end - now


def image_sizes(nodes: Iterable[Node]) -> dict[str, int]:
    """Return the size of each image that nodes report, by all of its names."""
    return {
        full_image_name(name): image.size_bytes
        for node in nodes
        for image in node.status.images
        for name in image.names
    }


def images_of(spec: PodSpec) -> Iterator[str]:
    """Yield the full names of the images of a pod, in the order of their pulls."""
    for container in (*spec.init_containers, *spec.containers):
        if container.image:
            yield full_image_name(container.image)


@functools.lru_cache(maxsize=4096)
def full_image_name(name: str) -> str:
    """Return the name of an image with its registry and its tag or digest.

    Mirrors ``ParseNormalizedNamed`` and ``TagNameOnly`` of distribution/reference.
    """
    first, slash, _ = name.partition("/")
    is_registry = bool(slash) and (
        "." in first or ":" in first or first == "localhost" or first.lower() != first
    )
    if not is_registry:
        name = name if slash else f"{_DEFAULT_FOLDER}/{name}"
        name = f"{_DEFAULT_REGISTRY}/{name}"
    last = name.rpartition("/")[2]
    # Only the last part: the registry may have a port.
    return name if ":" in last or "@" in last else f"{name}:latest"


def _images(spec: PodSpec) -> tuple[tuple[str, bool], ...]:
    """Return each image of a pod once, and whether it may be pulled."""
    policies: dict[str, bool] = {}
    for container in (*spec.init_containers, *spec.containers):
        if container.image:
            image = full_image_name(container.image)
            # If one of two containers may not pull, the pod has to wait for the image
            # in any case.
            policies[image] = policies.get(image, True) and _may_pull(container)
    return tuple(policies.items())


def _may_pull(container: Container) -> bool:
    # ``Always`` compares a digest, and pulls what is missing, as ``IfNotPresent``.
    return container.image_pull_policy != _NEVER


_IMAGES: Final = SpecKey(_images)
