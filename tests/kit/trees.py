"""Objects as trees, as manifests have them."""

import json
from typing import Any

from quaymaster import Pod
from quaymaster.objects import (
    decode,
    from_wire,
)

__all__ = ["Tree", "as_json", "pod_tree", "read_pod"]


Tree = dict[str, Any]


def pod_tree(**spec: object) -> Tree:
    """Return a pod of one container, with more fields of its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"containers": [{"name": "main"}], **spec},
    }


def as_json(tree: object) -> bytes:
    """Return a tree as JSON."""
    return json.dumps(tree).encode()


def read_pod(tree: Tree, kind: type[Pod] = Pod) -> Pod:
    """Read a pod in both ways, and check that they agree."""
    parsed = from_wire(tree, kind)
    assert decode(as_json(tree), kind) == parsed
    return parsed
