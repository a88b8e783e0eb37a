"""What an autoscaler answers about one pod or one node."""

import enum
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.simulation.autoscaler import (
    AutoscaledNode,
    Autoscaler,
    AutoscalerFactory,
)

__all__ = [
    "NO_GROUP_GROWS",
    "ExplainsScaling",
    "GroupVerdict",
    "NodeFact",
    "NodeGroupFate",
    "NodeScaling",
    "PodFate",
    "PodOfNode",
    "PodScaling",
    "ReasonSince",
    "explaining",
    "node_scaling",
    "pod_scaling",
]

NO_GROUP_GROWS: Final = "no group of nodes grows for it"
_NEVER_PENDING: Final = "the autoscaler did not see it pending, so no group grew for it"


class NodeGroupFate(enum.StrEnum):
    """Whether a group of nodes grows for a pod."""

    GROWS = "grows"
    """It grows, and a new node is meant for the pod."""

    NOT_CHOSEN = "not-chosen"
    """The pod fits on a new node of it, but another group grows."""

    REJECTED = "rejected"
    """The pod does not fit on a new node of it."""

    LIMITED = "limited"
    """It may not grow now, or not far enough: limits, a backoff, unhealthy nodes."""

    STAYS = "stays"
    """It does not grow; the autoscaler gives no more than a text."""


@attrs.frozen(kw_only=True)
class GroupVerdict:
    """Whether a group of nodes grows for a pod, and why.

    Attributes:
        group: The group.
        fate: Whether it grows.
        why: The reason, in words.
        plugin: The plugin that rejects the pod; empty for other reasons.
        nodes: How many nodes it gets, or would get; 0 if that was not computed.
        price: What these nodes cost per hour; None if that is unknown.
    """

    group: str
    fate: NodeGroupFate
    why: str
    plugin: str = ""
    nodes: int = 0
    price: float | None = None


@attrs.frozen(kw_only=True)
class PodScaling:
    """What an autoscaler last decided for a pod.

    Attributes:
        pod: The key of the pod.
        summary: The decision in one sentence.
        decided: When, in seconds since the beginning; None if the autoscaler has not
            considered the pod.
        groups: The verdict of each group; empty if no group was considered.
    """

    pod: str
    summary: str
    decided: float | None = None
    groups: tuple[GroupVerdict, ...] = ()


class PodFate(enum.StrEnum):
    """What would happen to a pod if its node were removed."""

    MOVES = "moves"
    """Another node has a place for it."""

    BLOCKS = "blocks"
    """It forbids the removal."""

    NO_PLACE = "no-place"
    """No other node has a place for it."""

    ENDS = "ends"
    """It ends with its node, as the pods of DaemonSets do."""


@attrs.frozen(kw_only=True)
class PodOfNode:
    """A pod of a node that might be removed.

    Attributes:
        pod: Its key.
        fate: What would happen to it.
        why: The node that it would move to, or why it has none.
    """

    pod: str
    fate: PodFate
    why: str = ""


@attrs.frozen(kw_only=True)
class NodeFact:
    """Something that decides whether a node is removed.

    Attributes:
        name: What it is about, such as ``utilization``.
        value: Its value, in words.
    """

    name: str
    value: str


@attrs.frozen(kw_only=True)
class ReasonSince:
    """Why a node was not removed, from some time on.

    Attributes:
        since: The time, in seconds since the beginning.
        why: The reason.
    """

    since: float
    why: str


@attrs.frozen(kw_only=True)
class NodeScaling:
    """Why an autoscaler has removed a node, or has not.

    Attributes:
        node: The node.
        group: Its group; empty if it is in none.
        removed: When it was deleted, in seconds since the beginning; None if it exists.
        why: The reason.
        facts: What decides about the node, as it is at the end.
        pods: Its pods at the end, and what keeps each of them.
        history: Why it was not removed, from the beginning on.
    """

    node: str
    group: str
    removed: float | None
    why: str
    facts: tuple[NodeFact, ...] = ()
    pods: tuple[PodOfNode, ...] = ()
    history: tuple[ReasonSince, ...] = ()


@runtime_checkable
class ExplainsScaling(Protocol):
    """An `Autoscaler` that can explain its decisions about one pod or one node.

    These methods are optional: without them, its other reasons are shown. They are
    called only if `AutoscalerContext.explains` is true, at the end of the simulation.
    """

    def scaling_of_pod(self, key: str) -> PodScaling | None:
        """Return what was last decided for a pod; None if it was never pending."""

    def scaling_of_node(self, name: str) -> NodeScaling | None:
        """Return why a node was removed or stays; None if it never existed."""


def explaining(factory: AutoscalerFactory) -> AutoscalerFactory:
    """Return a factory whose autoscalers keep what they need to explain decisions."""
    return lambda context: factory(attrs.evolve(context, explains=True))


def pod_scaling(autoscaler: Autoscaler, pod: Pod) -> PodScaling:
    """Return what an autoscaler decided for a pod.

    Args:
        autoscaler: The autoscaler, at the end of its simulation.
        pod: The pod.
    """
    key = pod.key
    if isinstance(autoscaler, ExplainsScaling):
        scaling = autoscaler.scaling_of_pod(key)
        return scaling or PodScaling(pod=key, summary=_NEVER_PENDING)
    reasons = autoscaler.reasons_not_to_grow().get(key)
    if reasons is None:
        return _by_its_node(autoscaler, pod)
    verdicts = (
        GroupVerdict(group=group, fate=NodeGroupFate.STAYS, why=why)
        for group, why in reasons.items()
    )
    return PodScaling(pod=key, summary=NO_GROUP_GROWS, groups=tuple(verdicts))


def _by_its_node(autoscaler: Autoscaler, pod: Pod) -> PodScaling:
    """Return what the node of a pod shows, if an autoscaler has ordered that node."""
    life = _life_of(autoscaler.nodes(), pod.node_name)
    if life is None or life.ordered is None:
        return PodScaling(pod=pod.key, summary="the autoscaler gives no reason")
    verdict = GroupVerdict(
        group=life.group,
        fate=NodeGroupFate.GROWS,
        why=f"{life.node}, for {life.added_for}",
        nodes=1,
        price=life.price,
    )
    return PodScaling(
        pod=pod.key,
        summary=f"{life.group} grows by the node {life.node}",
        decided=life.ordered,
        groups=(verdict,),
    )


def node_scaling(autoscaler: Autoscaler, name: str) -> NodeScaling | None:
    """Return why an autoscaler has removed a node, or has not.

    Args:
        autoscaler: The autoscaler, at the end of its simulation.
        name: The name of the node.

    Returns:
        The reasons; None if the autoscaler gives none for a node of that name.
    """
    if isinstance(autoscaler, ExplainsScaling):
        return autoscaler.scaling_of_node(name)
    life = _life_of(autoscaler.nodes(), name)
    why = autoscaler.reasons_to_stay().get(name, "")
    if life is None and not why:
        return None
    return NodeScaling(
        node=name,
        group=life.group if life else "",
        removed=life.removed if life else None,
        why=life.removed_for if life and life.removed is not None else why,
    )


def _life_of(lives: Sequence[AutoscaledNode], name: str) -> AutoscaledNode | None:
    """Return the last node of a name: names may be used again."""
    return next((life for life in reversed(lives) if life.node == name), None)
