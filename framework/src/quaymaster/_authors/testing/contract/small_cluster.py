"""Clusters that are small enough to be shown in a message."""

import json
from collections.abc import Iterable, Sequence

import attrs

from quaymaster._api.objects import ApiObject, Node, Pod, to_wire
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod

__all__ = ["SmallCluster", "described"]


@attrs.frozen(kw_only=True, eq=False)
class SmallCluster:
    """A cluster on which the contract suite tries a plugin; see `clusters`.

    Attributes:
        nodes: The nodes.
        pods: The pods on these nodes.
        pending: The pods that wait for a node.
        objects: All other objects.
    """

    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()
    pending: tuple[Pod, ...] = ()
    objects: tuple[ApiObject, ...] = ()

    def __repr__(self) -> str:
        return "; ".join(described([*self.nodes, *self.pods, *self.pending]))


def described(objects: Iterable[ApiObject]) -> Sequence[str]:
    """Return a line per object: kind, key, and the differences from defaults."""
    return [_described(obj) for obj in objects]


def _described(obj: ApiObject) -> str:
    usual: object = {}
    if isinstance(obj, Pod):
        usual = to_wire(
            make_pod(name=obj.name, namespace=obj.namespace, node=obj.node_name or None)
        )
    elif isinstance(obj, Node):
        usual = to_wire(make_node(name=obj.name))
    rest = _without(to_wire(obj), usual)
    text = json.dumps(rest, default=str) if rest else ""
    on = f" on {obj.node_name}" if isinstance(obj, Pod) and obj.node_name else ""
    return f"{obj.kind} {obj.key}{on} {text}".rstrip()


_UNTOLD = ("apiVersion", "kind", "name", "namespace", "uid")


def _without(value: object, usual: object) -> object:
    """Return the differences from the usual value; lists are returned whole."""
    if not isinstance(value, dict):
        return value
    defaults = usual if isinstance(usual, dict) else {}
    actual = {
        key: _without(part, defaults.get(key))
        for key, part in value.items()
        if key not in _UNTOLD and part != defaults.get(key)
    }
    return {key: part for key, part in actual.items() if part not in ({}, [], None, "")}
