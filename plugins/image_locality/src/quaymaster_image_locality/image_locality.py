"""Prefer nodes that already hold the pod's images.

A node's sum adds the sizes of all images that the node holds, for containers, init
containers and image volumes. Each size is multiplied by the share of all nodes that
hold the image, so that an image on few nodes does not attract all pods to them.
Up to 23 MiB the score is 0; from 1000 MiB per container on it is 100. Since Kubernetes
1.37, image volumes count as containers here.

Mirrors ``ImageLocality`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/imagelocality/image_locality.go``).
"""

from typing import Final, NamedTuple

import numpy as np

from quaymaster import (
    MAX_NODE_SCORE,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.columns import ImageState, freeze
from quaymaster.objects import PodSpec, SpecKey

__all__ = ["ImageLocality"]

_MIB: Final = 1024 * 1024
_LOWEST_SUM: Final = 23 * _MIB
_HIGHEST_SUM_PER_IMAGE: Final = 1000 * _MIB

# The number of cached columns: 10 MiB at 5,000 nodes. Chosen, not measured.
_MAX_COLUMNS: Final = 256


class _Images(NamedTuple):
    """The images of a pod, which determine its scores.

    Attributes:
        names: The images, sorted; an image that is used twice is listed twice.
        counted: The number of images in the formula for 100 points: those of containers
            and init containers, or all.
    """

    names: tuple[str, ...]
    counted: int


class ImageLocality:
    """Scores nodes by the images that they hold already."""

    # A score depends on how many other nodes have an image.
    scope = Scope.NODES
    reads = ()

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle
        self._columns = _Columns()
        counts_volumes = handle.kubernetes.has("image-volume-count")
        self._images = _ALL_IMAGES if counts_volumes else _IMAGES

    @hookimpl
    def sign_pod(self, pod: Pod) -> _Images:
        return self._images.of(pod)

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        pod_images = self._images.of(pod)
        node_count = len(self._handle.snapshot)
        total = 0
        for name in pod_images.names:
            image = node.images.get(name)
            if image is not None:
                total += _spread_size(image, node_count)
        return _points(total, pod_images.counted)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        return self._columns.get(self._images.of(pod), nodes)[rows]


class _Columns:
    """Caches the scores of all nodes by set of images, until some node changes."""

    def __init__(self) -> None:
        self._revision = -1
        self._columns: dict[_Images, Int64Array] = {}

    def get(self, pod_images: _Images, nodes: NodeTable) -> Int64Array:
        """Return the scores of all rows of the table; frozen."""
        revision = nodes.node_changes.revision
        if self._revision != revision:
            self._revision = revision
            self._columns.clear()
        column = self._columns.get(pod_images)
        if column is None:
            if len(self._columns) >= _MAX_COLUMNS:
                self._columns.clear()
            column = self._columns[pod_images] = freeze(
                _score_column(pod_images, nodes)
            )
        return column


def _score_column(pod_images: _Images, nodes: NodeTable) -> Int64Array:
    sums: Int64Array = np.zeros(len(nodes.infos), dtype=np.int64)
    for name in pod_images.names:
        image = nodes.images.get(name)
        if image is not None:
            holders = np.fromiter(image.rows, dtype=np.intp, count=len(image.rows))
            sums[holders] += _spread_size(image, len(nodes))
    highest = pod_images.counted * _HIGHEST_SUM_PER_IMAGE
    scores: Int64Array = np.minimum(sums, highest) - _LOWEST_SUM
    scores *= MAX_NODE_SCORE
    scores //= highest - _LOWEST_SUM
    scores[sums < _LOWEST_SUM] = 0
    return scores


def _spread_size(image: ImageState, node_count: int) -> int:
    """Return an image's size in bytes, times the share of all nodes that hold it."""
    # The share is computed first, in floats, as in ``scaledImageScore``; multiplying
    # first would round large images differently.
    return int(image.size_bytes * (len(image.rows) / node_count))


def _points(total: int, images: int) -> int:
    highest = images * _HIGHEST_SUM_PER_IMAGE
    if total < _LOWEST_SUM:
        # Less than 23 MiB saves no time worth a decision (``minThreshold``).
        return 0
    return (
        MAX_NODE_SCORE * (min(total, highest) - _LOWEST_SUM) // (highest - _LOWEST_SUM)
    )


def _find_images(spec: PodSpec) -> _Images:
    containers = (*spec.init_containers, *spec.containers)
    names = [container.image for container in containers]
    names += [volume.image.reference for volume in spec.volumes if volume.image]
    return _Images(tuple(sorted(map(_with_tag, names))), len(containers))


def _find_all_images(spec: PodSpec) -> _Images:
    names = _find_images(spec).names
    return _Images(names, len(names))


_IMAGES: Final = SpecKey(_find_images)
_ALL_IMAGES: Final = SpecKey(_find_all_images)


def _with_tag(name: str) -> str:
    """Return the name under which a node lists an image."""
    # A colon before the last slash belongs to the port of a registry.
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
