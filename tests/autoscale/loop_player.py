"""Plays recorded loops of the cluster autoscaler."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.cluster import NotFoundError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import KINDS, PodCondition, Time, from_wire
from quaymaster.scheduler import VirtualClock
from tests.kit.internals.autoscaling import (
    AutoscalerEvent,
    Cloud,
    ClusterAutoscaler,
    ClusterAutoscalerOptions,
    ScaledGroup,
    Unremovable,
    read_flags,
    with_defaults,
)

__all__ = ["answer_to_loops"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_SUFFIX: Final = "-x"
_HOUR: Final = 3600
_UNSCHEDULABLE: Final = PodCondition(
    type="PodScheduled", status="False", reason="Unschedulable"
)


def answer_to_loops(case: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return our answer to a case.

    Args:
        case: The case.
        recorded: Its answer, from which the bound pods are taken.
    """
    player = _Player(case)
    loops = zip(case["steps"], recorded["loops"], strict=True)
    return {"id": case["id"], "loops": [player.play(*each) for each in loops]}


class _Player:
    def __init__(self, case: dict[str, Any]) -> None:
        self._clock = VirtualClock()
        self._start = self._clock.now()
        self._cluster = InMemoryCluster(self._clock, kubelet=False, controllers=False)
        self._cluster.load_unchecked(
            _object(each) for each in case["objects"] if each["kind"] != "ConfigMap"
        )
        groups = [_group(each) for each in case["groups"]]
        self._aliases: dict[str, str] = {}
        self._cloud = Cloud(self._cluster, groups, node_name=self._name)
        for each, group in zip(case["groups"], groups, strict=True):
            for _ in range(each["count"]):
                self._add_old_node(group)
        config, registry = with_defaults(None, None)
        self._autoscaler = ClusterAutoscaler(
            self._cluster,
            self._cloud,
            config,
            registry,
            _options(case),
            priorities=dict(case["priorities"]) if "priorities" in case else None,
            evict=self._evict,
        )
        self._seen_events = 0

    def play(self, step: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
        """Play a step, and return the state after it."""
        self._clock.advance(self._start + recorded["t"] - self._clock.now())
        for tree in step.get("add") or ():
            self._add(_typed(tree, Pod))
        for key in step.get("delete") or ():
            self._delete(key)
        for key, alias in (recorded.get("bound") or {}).items():
            self._bind(key, alias)
        if step.get("run"):
            self._autoscaler.run_once()
            self._clock.run_due()
        down, new = self._autoscaler.down, self._autoscaler.events[self._seen_events :]
        self._seen_events += len(new)
        reasons = down.reasons
        return {
            "t": recorded["t"],
            "targets": dict(self._cloud.sizes),
            "nodes": self._nodes(),
            "pending": sorted(pod.key for pod in self._pods() if not pod.node_name),
            "unneeded": sorted(map(self._alias, down.unneeded)),
            "unremovable": {
                self._alias(name): _text(reasons[name]) for name in sorted(reasons)
            },
            "events": sorted(self._text(each) for each in new),
        }

    def _add_old_node(self, group: ScaledGroup) -> None:
        name = self._name(group, 0)
        node = group.template
        long_ago = Time(self._start - _HOUR)
        conditions = tuple(
            replace(each, last_transition_time=long_ago)
            for each in node.status.conditions
        )
        metadata = replace(
            node.metadata,
            name=name,
            labels={**node.labels, "kubernetes.io/hostname": name},
            creation_timestamp=long_ago,
        )
        status = replace(node.status, conditions=conditions)
        self._cluster.create(replace(node, metadata=metadata, status=status))
        self._cloud.adopt(group.name, name)

    def _name(self, group: ScaledGroup, _number: int) -> str:
        """Return the next name of a group; recordings call it ``group#number``."""
        number = sum(
            each.startswith(f"{group.name}#") for each in self._aliases.values()
        )
        name = f"{group.name}{_SUFFIX}{number}"
        self._aliases[name] = f"{group.name}#{number}"
        return name

    def _alias(self, name: str) -> str:
        return self._aliases.get(name, name)

    def _add(self, pod: Pod) -> None:
        metadata = replace(pod.metadata, creation_timestamp=Time(self._clock.now()))
        status = replace(pod.status, phase="Pending", conditions=(_UNSCHEDULABLE,))
        self._cluster.create(replace(pod, metadata=metadata, status=status))

    def _delete(self, key: str) -> None:
        """Delete a pod, or its last copy after evictions."""
        name = key
        while True:
            try:
                self._cluster.delete(Pod, name, grace_period_seconds=0)
            except NotFoundError:
                if name.endswith("rrrrr"):
                    return
                name += "r"
            else:
                return

    def _bind(self, key: str, alias: str) -> None:
        """Bind a pod, unless the pod or the node is missing here."""
        names = {alias: name for name, alias in self._aliases.items()}
        try:
            self._cluster.bind(self._cluster.get(Pod, key), names.get(alias, alias))
        except NotFoundError:
            return

    def _evict(self, pod: Pod, _grace: float) -> None:
        self._cluster.delete(Pod, pod.key, grace_period_seconds=0)
        if pod.metadata.controller is not None:
            metadata = replace(
                pod.metadata,
                name=f"{pod.name}r",
                uid=f"{pod.uid}r",
                resource_version="",
            )
            self._add(replace(pod, metadata=metadata, node_name=""))

    def _pods(self) -> Iterable[Pod]:
        return self._cluster.list(Pod).items

    def _text(self, event: AutoscalerEvent) -> str:
        """Return an event with the recorded names of nodes."""
        text = str(event)
        for name, alias in self._aliases.items():
            text = text.replace(name, alias)
        return text

    def _nodes(self) -> dict[str, list[str]]:
        return {
            self._alias(node.name): [*_state_of(node)]
            for node in self._cluster.list(Node).items
        }


def _state_of(node: Node) -> Iterator[str]:
    ready = next(each for each in node.status.conditions if each.type == "Ready")
    yield "Ready" if ready.status == "True" else "NotReady"
    for taint in node.spec.taints:
        if "ClusterAutoscaler" in taint.key:
            yield f"{taint.key}:{taint.effect}"
    if node.spec.unschedulable:
        yield "unschedulable"


def _object(tree: dict[str, Any]) -> ApiObject:
    return from_wire(tree, KINDS[tree["kind"]])


def _typed(tree: dict[str, Any], kind: type[ObjT]) -> ObjT:
    return from_wire(tree, kind)


def _group(tree: dict[str, Any]) -> ScaledGroup:
    return ScaledGroup(
        name=tree["id"],
        min_size=tree["min"],
        max_size=tree["max"],
        template=_typed(tree["node"], Node),
        registration_seconds=tree["registration"],
        readiness_seconds=tree["readiness"],
    )


def _text(unremovable: Unremovable) -> str:
    blocking = unremovable.blocking
    if blocking is None:
        return unremovable.reason.value
    return f"{unremovable.reason.value} {blocking.pod.key} {blocking.reason.value}"


def _options(case: dict[str, Any]) -> ClusterAutoscalerOptions:
    limits: dict[str, Any] = {
        {"cpu": "cores_total", "memory": "memory_total"}[name]: (least, most)
        for name, (least, most) in case["limits"].items()
    }
    return attrs.evolve(read_flags(case["flags"]), **limits)
