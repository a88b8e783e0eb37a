"""Small clusters, drawn by hypothesis."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._api.objects.quantity import Quantity
from quaymaster._authors.testing.contract.features import (
    NODE_FEATURES,
    OBJECTS,
    POD_FEATURES,
    Feature,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod

__all__ = ["draw_clusters", "draw_nodes", "draw_pods"]

_MOST_FEATURES = 7
_MOST_OBJECTS = 6

_Arguments: TypeAlias = dict[str, Any]  # Any: the arguments of makers


def draw_pods(features: Iterable[Feature] = ()) -> SearchStrategy[Pod]:
    """See `quaymaster.testing.pods`."""
    return _features(features, POD_FEATURES).map(_made_pod)


def draw_nodes(features: Iterable[Feature] = ()) -> SearchStrategy[Node]:
    """See `quaymaster.testing.nodes`."""
    return _features(features, NODE_FEATURES).map(_made_node)


@st.composite
def draw_clusters(
    draw: st.DrawFn,
    nodes: SearchStrategy[Node],
    pods: SearchStrategy[Pod],
    objects: SearchStrategy[ApiObject] | None,
) -> SmallCluster:
    """See `quaymaster.testing.clusters`."""
    named = [
        _with_name(node, f"n{at}")
        for at, node in enumerate(draw(st.lists(nodes, min_size=1, max_size=4)))
    ]
    running = [
        _on(pod, f"p{at}", named[draw(st.integers(0, len(named) - 1))].name)
        for at, pod in enumerate(draw(st.lists(pods, max_size=4)))
    ]
    waiting = draw(st.lists(pods, min_size=2, max_size=3))
    others = st.sampled_from(OBJECTS) if objects is None else objects
    return SmallCluster(
        nodes=tuple(named),
        pods=tuple(running),
        pending=tuple(_on(pod, f"w{at}", "") for at, pod in enumerate(waiting)),
        objects=tuple(
            draw(
                st.lists(
                    others,
                    max_size=_MOST_OBJECTS,
                    unique_by=lambda obj: (obj.kind, obj.key),
                )
            )
        ),
    )


def _features(
    own: Iterable[Feature], usual: Sequence[Feature]
) -> SearchStrategy[list[Feature]]:
    features = list(own)
    every = st.sampled_from([*features, *usual])
    some = st.lists(every, max_size=_MOST_FEATURES)
    if not features:
        return some
    mine = st.lists(st.sampled_from(features), max_size=2)
    return st.tuples(mine, some).map(lambda both: both[0] + both[1])


def _merged(features: Iterable[Feature]) -> _Arguments:
    """Merge features into one; of two with the same argument, the later one wins."""
    merged: _Arguments = {}
    for feature in features:
        for name, value in feature.items():
            before = merged.get(name)
            if isinstance(value, Mapping) and isinstance(before, Mapping):
                merged[name] = {**before, **value}
            elif isinstance(value, list) and isinstance(before, list):
                merged[name] = [
                    *before,
                    *(item for item in value if item not in before),
                ]
            else:
                merged[name] = value
    return merged


def _made_pod(features: Iterable[Feature]) -> Pod:
    arguments = _merged(features)
    limits, requests = arguments.get("limits"), arguments.get("requests")
    if limits and requests:
        # Merged features may have limits below requests, which API servers reject.
        arguments["limits"] = {
            name: max(Quantity(limit), Quantity(requests.get(name, limit)))
            for name, limit in limits.items()
        }
    return make_pod(**arguments)


def _made_node(features: Iterable[Feature]) -> Node:
    return make_node(**_merged(features))


def _with_name(node: Node, name: str) -> Node:
    labels = {**node.metadata.labels, "kubernetes.io/hostname": name}
    metadata = replace(
        node.metadata, name=name, uid=make_uid(Node, name), labels=labels
    )
    return replace(node, metadata=metadata)


def _on(pod: Pod, name: str, node_name: str) -> Pod:
    namespace = pod.metadata.namespace
    metadata = replace(pod.metadata, name=name, uid=make_uid(Pod, name, namespace))
    spec = replace(pod.spec, scheduling_gates=()) if node_name else pod.spec
    phase = "Running" if node_name else "Pending"
    status = replace(pod.status, phase=phase)
    return replace(
        pod, metadata=metadata, spec=spec, status=status, node_name=node_name
    )
