"""What a state has of each pod: the name of its family, and one word."""

from collections.abc import Mapping

from tests.world.cases import Tree

__all__ = [
    "condition_status",
    "controller_of",
    "family_name",
    "image_of",
    "is_deleted",
    "phase_of",
    "pod_state",
]


def image_of(pod_spec: Tree) -> str:
    """The image of the first container."""
    return str(pod_spec["containers"][0]["image"])


def phase_of(pod: Tree) -> str:
    """The phase of a pod."""
    return pod.get("status", {}).get("phase") or "Pending"


def is_deleted(tree: Tree) -> bool:
    """Whether an object has been deleted and is still there."""
    return bool(tree["metadata"].get("deletionTimestamp"))


def condition_status(tree: Tree, condition_type: str) -> str | None:
    """The status of a condition, or None."""
    for condition in tree.get("status", {}).get("conditions") or ():
        if condition["type"] == condition_type:
            return str(condition["status"])
    return None


def controller_of(tree: Tree) -> Tree | None:
    """The owner reference that names the controller, or None."""
    for reference in tree["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            controller: Tree = reference
            return controller
    return None


def pod_state(pod: Tree) -> str:
    """One word for the state of a pod."""
    phase = phase_of(pod)
    if phase in ("Succeeded", "Failed"):
        return phase.lower() + (" terminating" if is_deleted(pod) else "")
    if is_deleted(pod):
        return "terminating"
    if not pod["spec"].get("nodeName"):
        return "waiting"
    if phase == "Pending":
        return "starting"
    return "ready" if condition_status(pod, "Ready") == "True" else "unready"


def family_name(
    pod: Tree,
    replica_sets: Mapping[str, Tree],
    by_node: bool = True,
    by_name: bool = True,
) -> str:
    """Return the workload of a pod; the pod's own name if it was chosen."""
    owner, metadata = controller_of(pod), pod["metadata"]
    kind = "" if owner is None else owner["kind"]
    if owner is None or (kind == "StatefulSet" and by_name):
        return str(metadata["name"])
    if kind == "StatefulSet":
        return str(owner["name"])
    if not metadata.get("generateName"):
        return str(metadata["name"])
    if kind == "ReplicaSet":
        replica_set = replica_sets.get(owner["name"])
        root = None if replica_set is None else controller_of(replica_set)
        return str((root or owner)["name"])
    return f"{owner['name']}{_suffix(pod, kind, by_node)}"


def _suffix(pod: Tree, kind: str, by_node: bool) -> str:
    if kind == "DaemonSet" and by_node:
        return f"/{_node_name(pod)}"
    if kind == "Job":
        annotations = pod["metadata"].get("annotations") or {}
        index = annotations.get("batch.kubernetes.io/job-completion-index")
        return "" if index is None else f"[{index}]"
    return ""


def _node_name(pod: Tree) -> str:
    """The node of a pod, or the only one to which it may go."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name":
                return str(field["values"][0])
    return "?"
