"""The invariants after a fault, read from the API server and its audit log."""

from collections import Counter
from collections.abc import Iterator

from tests.e2e.client import Tree
from tests.e2e.faults.stage import Stage
from tests.e2e.records import Record

__all__ = ["longest_parting", "problems"]


def problems(stage: Stage, *, may_lack_conditions: bool = False) -> list[str]:
    """Return the broken invariants after a burst.

    Args:
        stage: The stage.
        may_lack_conditions: Whether groups may have no condition; see `Fault.kills`.
    """
    groups = [
        group
        for group in stage.groups()
        if group["status"].get("conditions") or not may_lack_conditions
    ]
    found = stage.admin.items(f"/api/v1/namespaces/{stage.namespace}/pods")
    names = [replica.name for replica in stage.replicas]
    return [
        *_lost(stage.count, found),
        *_overfull(stage.admin.items("/api/v1/nodes"), found),
        *_bound_twice(stage.record.read()),
        *(_bound_by_others(stage.record, names) if len(names) > 1 else ()),
        *_unscheduled_groups(groups),
    ]


def longest_parting(record: Record, gang_size: int) -> float:
    """Return the longest time, in seconds, in which a gang was only partly bound."""
    times: dict[tuple[str, int], list[float]] = {}
    for bind in record.binds:
        if bind.is_done:
            prefix, _, number = bind.pod.rpartition("-")
            gang = prefix, int(number) // gang_size
            times.setdefault(gang, []).append(bind.answered)
    return max((max(gang) - min(gang) for gang in times.values()), default=0.0)


def _unscheduled_groups(groups: list[Tree]) -> Iterator[str]:
    """Yield the groups whose condition does not report that they are scheduled."""
    for group in groups:
        conditions = group["status"].get("conditions") or [{}]
        if [each.get("status") for each in conditions] != ["True"]:
            yield f"group {group['metadata']['name']}: {conditions}"


def _lost(count: int, found: list[Tree]) -> Iterator[str]:
    if len(found) != count:
        yield f"{count - len(found)} pods are gone"
    unbound = [pod for pod in found if not pod["spec"].get("nodeName")]
    if unbound:
        conditions = unbound[0]["status"].get("conditions") or [{}]
        why = conditions[-1].get("message", "nobody has looked at it")
        first = unbound[0]["metadata"]["name"]
        yield f"{len(unbound)} pods are not bound, such as {first}: {why}"


def _overfull(nodes: list[Tree], found: list[Tree]) -> Iterator[str]:
    """Yield the nodes whose pods request more than the node has."""
    used: Counter[str] = Counter()
    on_node: Counter[str] = Counter()
    for pod in found:
        node = pod["spec"].get("nodeName", "")
        on_node[node] += 1
        for container in pod["spec"]["containers"]:
            used[node] += _millicores(container["resources"]["requests"]["cpu"])
    for tree in nodes:
        name, size = tree["metadata"]["name"], tree["status"]["allocatable"]
        if used[name] > _millicores(size["cpu"]) or on_node[name] > int(size["pods"]):
            yield f"{name} has {used[name]}m of {size['cpu']}, {on_node[name]} pods"


def _bound_twice(record: Record) -> Iterator[str]:
    for pod, times in record.bound.items():
        if times > 1:
            yield f"{pod} was bound {times} times"


def _bound_by_others(record: Record, replicas: list[str]) -> Iterator[str]:
    """Yield the bindings by a replica while another one had the lease."""
    leases = [(at, user) for at, user in record.leases if user in replicas]
    if not leases:
        yield "no replica has a lease"
    for bind in record.binds:
        holders = [user for at, user in leases if at <= bind.received]
        if bind.is_done and holders and holders[-1] != bind.user:
            yield f"{bind.pod} was bound by {bind.user} while {holders[-1]} led"


def _millicores(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000
