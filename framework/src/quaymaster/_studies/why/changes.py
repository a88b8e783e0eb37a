"""One change of the input that may place a pod, and how to make it."""

import enum
import json
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject

__all__ = [
    "Apply",
    "Candidate",
    "ChangeKind",
    "Effect",
    "FieldChange",
    "SuggestedChange",
    "both",
    "single",
    "yaml_scalar",
]

_PLAIN: Final = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_./-]*")
_TYPED: Final = re.compile(
    r"(?i:true|false|yes|no|on|off|y|n|null)|[0-9][0-9_.]*(?:e[0-9]+)?|0[xo][0-9a-f]+"
    r"|[0-9]{4}-[0-9-]+"
)
"""Texts that YAML reads as numbers, truth values, dates or nothing."""

Apply: TypeAlias = Callable[[Sequence[ApiObject]], list[ApiObject]]
"""Makes a change: returns the changed objects of an input."""


class ChangeKind(enum.StrEnum):
    """The kind of a change.

    The order is that of suggestions: first changes of the workload, the cheapest first,
    then another node, then changes that affect other pods.
    """

    SCHEDULER = "scheduler"
    """Another ``schedulerName``, of an existing profile."""

    GATES = "gates"
    """The scheduling gates are opened."""

    TAINTS_POLICY = "taints-policy"
    """A spread constraint does not count nodes that the pod does not tolerate."""

    MATCH_LABEL_KEYS = "match-label-keys"
    """A spread constraint counts only pods of the same revision."""

    ROLLOUT = "rollout"
    """A Deployment deletes an old pod before it creates a new one."""

    LOWER_REQUEST = "lower-request"
    """One request of one container is lowered, by at most a quarter."""

    HOST_PORT = "host-port"
    """One host port is not requested."""

    SPREADING = "spreading"
    """One topology spread constraint requires less."""

    TOLERATION = "toleration"
    """One taint is tolerated, of the only nodes that the pod could use."""

    STORAGE_CLASS = "storage-class"
    """One claim has another class."""

    SELECTOR = "selector"
    """One node label is not selected."""

    AFFINITY = "affinity"
    """One required affinity term is dropped."""

    PLUGIN = "plugin"
    """A change that a plugin suggests."""

    LOWER_REQUEST_FAR = "lower-request-far"
    """One request of one container is lowered by more than a quarter, at most by half.

    Requests of devices and huge pages are always of this kind."""

    ADD_NODE = "add-node"
    """Nodes like an existing one are added."""

    MIN_COUNT = "min-count"
    """The quorum of a PodGroup is lowered."""

    RESERVED_NODES = "reserved-nodes"
    """One taint is tolerated, of nodes that are reserved for other pods."""

    UNCORDON = "uncordon"
    """One node may be used again."""

    LABEL_NODE = "label-node"
    """One node gets one label."""

    PRIORITY = "priority"
    """A higher priority class, which evicts other pods."""


class Effect(enum.Enum):
    """What a change may do to other pods."""

    CHANGES = enum.auto()
    """Other pods must not lose anything."""

    ADDS_ROOM = enum.auto()
    """Other pods can only gain: nodes are added or may be used again."""

    EVICTS = enum.auto()
    """Pods of lower priority may lose their nodes."""


@attrs.frozen(kw_only=True)
class FieldChange:
    """A field that is changed.

    Attributes:
        object: The object in kubectl's notation: ``deployment/web``, ``node/a``.
        namespace: Its namespace; empty if it has none.
        path: The path of the field.
        old: The current value; empty if the field is missing.
        new: The required value as YAML; empty if the field must be removed.
    """

    object: str
    namespace: str
    path: str
    old: str
    new: str


@attrs.frozen(kw_only=True)
class SuggestedChange:
    """A tried change that places the requested pods.

    Attributes:
        kinds: Its kind, or two kinds for two changes together.
        text: The change as a sentence.
        fields: The changed fields.
        command: The kubectl command that makes the change, if there is a short one.
        placed: How many more pods of the input have a node with it.
        evicted: How many other pods lose their nodes, or get none, because of it.
        apply: Makes the change: takes the objects of the input and returns them
            changed.
    """

    kinds: tuple[ChangeKind, ...]
    text: str
    fields: tuple[FieldChange, ...]
    command: str = ""
    placed: int = 0
    evicted: int = 0
    apply: Apply = attrs.field(eq=False, repr=False)


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """A change that has not been tried yet, or a series of smaller and larger ones.

    Attributes:
        kind: A description.
        levels: The number of levels. The first is the largest change and the last one
            the smallest. The search returns the highest level that works.
        effect: What it may do to other pods.
        at: Makes the change of a level, from 0.
    """

    kind: ChangeKind
    levels: int = 1
    effect: Effect = Effect.CHANGES
    at: Callable[[int], SuggestedChange]


_ROOM: Final = frozenset({ChangeKind.ADD_NODE, ChangeKind.UNCORDON})


def yaml_scalar(text: str) -> str:
    """Return a text as YAML: quoted if it looks like a number or a truth value."""
    return (
        text
        if _PLAIN.fullmatch(text) and not _TYPED.fullmatch(text)
        else json.dumps(text)
    )


def single(change: SuggestedChange) -> Candidate:
    """Make a candidate of a change that has no levels."""
    kind = change.kinds[0]
    effect = Effect.ADDS_ROOM if kind in _ROOM else Effect.CHANGES
    return Candidate(kind=kind, effect=effect, at=lambda _level: change)


def both(first: SuggestedChange, second: SuggestedChange) -> SuggestedChange:
    """Combine two changes into one."""
    return SuggestedChange(
        kinds=(*first.kinds, *second.kinds),
        text=f"{first.text}, and {second.text}",
        fields=(*first.fields, *second.fields),
        command=" && ".join([first.command, second.command])
        if first.command and second.command
        else "",
        apply=lambda objects: second.apply(first.apply(objects)),
    )
