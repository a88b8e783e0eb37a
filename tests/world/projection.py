"""The state of a cluster: what a course is a sequence of."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from tests.world.cases import Tree
from tests.world.pod_states import (
    condition_status,
    controller_of,
    family_name,
    image_of,
    is_deleted,
    pod_state,
)
from tests.world.workload_status import selected_conditions, workload_status

__all__ = ["KINDS", "Objects", "state_of"]

Objects: TypeAlias = Mapping[str, list[Tree]]

KINDS: Final = (
    "Pod",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "PodDisruptionBudget",
    "PersistentVolumeClaim",
    "PersistentVolume",
    "Node",
    "ResourceQuota",
    "ResourceClaim",
    "HorizontalPodAutoscaler",
)
"""The kinds that a state is made of."""

_HEALTH_TAINTS: Final = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
)
_JOB_CONDITIONS: Final = (
    "Complete",
    "Failed",
    "Suspended",
    "SuccessCriteriaMet",
    "FailureTarget",
)
_JOB_NUMBERS: Final = (
    "active",
    "ready",
    "succeeded",
    "failed",
    "terminating",
    "completedIndexes",
    "failedIndexes",
)


def state_of(objects: Objects, case: Tree) -> Tree:
    """The state of the objects of each kind, by part."""
    given = _given_volumes(case)
    state = {
        "sets": _sets(objects["ReplicaSet"]),
        "status": workload_status(objects),
        "jobs": {_name(job): _job(job) for job in _sorted(objects["Job"])},
        "budgets": {
            _name(budget): _budget(budget) for budget in objects["PodDisruptionBudget"]
        },
        "claims": {
            _name(claim): _claim(claim, given)
            for claim in _sorted(objects["PersistentVolumeClaim"])
        },
        "volumes": _volumes(objects["PersistentVolume"], given),
        "quotas": {_name(quota): _used(quota) for quota in objects["ResourceQuota"]},
        "devices": _devices(objects["ResourceClaim"]),
    }
    # Parts without objects are absent, except the pods and, if asked for, the nodes.
    state = {part: value for part, value in state.items() if value}
    state["pods"] = _pods(objects, case)
    if case.get("tell_nodes"):
        nodes = _sorted(objects["Node"])
        state["nodes"] = {_name(node): _node(node) for node in nodes}
    return state


def _name(tree: Tree) -> str:
    return str(tree["metadata"]["name"])


def _sorted(trees: Iterable[Tree]) -> list[Tree]:
    return sorted(trees, key=_name)


def _pods(objects: Objects, case: Tree) -> Tree:
    replica_sets = {_name(tree): tree for tree in objects["ReplicaSet"]}
    by_node, by_name = case.get("by_node", True), case.get("by_name", True)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pod in objects["Pod"]:
        name = family_name(pod, replica_sets, by_node, by_name)
        name += f" {image_of(pod['spec'])}"
        node = pod["spec"].get("nodeName")
        if case.get("tell_nodes") and node:
            name += f" on {node}"
        counts[name][pod_state(pod)] += 1
    return {name: dict(sorted(counts[name].items())) for name in sorted(counts)}


def _sets(replica_sets: Iterable[Tree]) -> Tree:
    sizes = {}
    for replica_set in replica_sets:
        size = replica_set["spec"].get("replicas", 1)
        if size:
            root = controller_of(replica_set) or replica_set["metadata"]
            image = image_of(replica_set["spec"]["template"]["spec"])
            sizes[f"{root['name']} {image}"] = size
    return dict(sorted(sizes.items()))


def _job(job: Tree) -> Tree:
    status = job.get("status") or {}
    numbers = {name: status[name] for name in _JOB_NUMBERS if status.get(name)}
    return numbers | selected_conditions(job, *_JOB_CONDITIONS)


def _budget(budget: Tree) -> Tree:
    status = budget.get("status") or {}
    names = ("currentHealthy", "desiredHealthy", "expectedPods")
    numbers = {name: status[name] for name in names if status.get(name)}
    return {"allowed": status.get("disruptionsAllowed", 0), **numbers}


def _given_volumes(case: Tree) -> set[str]:
    """The names of the volumes that the case creates."""
    steps = (step["object"] for step in case["steps"] if step["do"] == "create")
    return {
        _name(tree)
        for tree in (*case["objects"], *steps)
        if tree["kind"] == "PersistentVolume"
    }


def _claim(claim: Tree, given: set[str]) -> str:
    volume = claim["spec"].get("volumeName")
    words = [claim.get("status", {}).get("phase") or "Pending"]
    if volume:
        words.append(volume if volume in given else "made")
    return _words(words, claim)


def _volumes(volumes: Iterable[Tree], given: set[str]) -> Tree:
    states = {}
    for volume in volumes:
        reference = volume["spec"].get("claimRef")
        words = [volume.get("status", {}).get("phase") or "Pending"]
        if reference:
            words.append(reference["name"])
        name = _name(volume)
        if name not in given:
            name = f"made for {(reference or {'name': '?'})['name']}"
        states[name] = _words(words, volume)
    return dict(sorted(states.items()))


def _words(words: list[str], tree: Tree) -> str:
    return " ".join([*words, "terminating"] if is_deleted(tree) else words)


def _node(node: Tree) -> Tree:
    ready = condition_status(node, "Ready")
    return {"ready": "?" if ready is None else ready, "taints": _taints(node)}


def _taints(node: Tree) -> list[str]:
    """The taints; those of the Ready condition once for both effects.

    The second of the two comes and goes seconds after the first.
    """
    texts = set()
    for taint in node["spec"].get("taints") or ():
        if taint["key"] in _HEALTH_TAINTS:
            texts.add(taint["key"])
        else:
            value = f"={taint['value']}" if taint.get("value") else ""
            texts.add(f"{taint['key']}{value}:{taint['effect']}")
    return sorted(texts)


def _used(quota: Tree) -> Tree:
    used = quota.get("status", {}).get("used") or {}
    return {resource: str(amount) for resource, amount in sorted(used.items())}


def _devices(claims: Iterable[Tree]) -> Tree:
    counts: dict[str, Counter[str]] = {}
    for claim in claims:
        metadata = claim["metadata"]
        annotations = metadata.get("annotations") or {}
        name = annotations.get("resource.kubernetes.io/pod-claim-name")
        prefix = "for " if metadata.get("generateName") else ""
        counter = counts.setdefault(f"{prefix}{name or metadata['name']}", Counter())
        counter[_device_claim(claim)] += 1
    return {name: dict(counter) for name, counter in counts.items()}


def _device_claim(claim: Tree) -> str:
    status = claim.get("status") or {}
    words = ["allocated" if status.get("allocation") else "pending"]
    if status.get("reservedFor"):
        words.append(f"reserved {len(status['reservedFor'])}")
    return _words(words, claim)
