"""Replaces the names in objects, such that scheduling decisions stay the same.

It works on objects that were decoded and encoded. So they no longer have the fields
that scheduling does not read: commands, environment, secrets, most annotations.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import attrs
import msgspec

from quaymaster._api.objects import from_wire, to_wire
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._clusters.kubernetes.aliases import (
    Aliases,
    UidAliases,
    hashed_alias,
    hashed_uid,
)
from quaymaster._clusters.kubernetes.lean import is_unread_source, lean_source
from quaymaster._clusters.kubernetes.own_keys import (
    READ_ANNOTATIONS,
    is_own_finalizer,
    is_own_key,
)
from quaymaster._clusters.kubernetes.time_shift import TimeShift, times_in

__all__ = ["Anonymiser", "anonymised"]

Tree: TypeAlias = dict[str, Any]
Rename: TypeAlias = Callable[[str], str]

_NAMES: Final = frozenset(
    [
        "claimName",
        "container",
        "containerName",
        "diskName",
        "diskURI",
        "hpaName",
        "iqn",
        "name",
        "namespace",
        "nodeID",
        "nodeName",
        "nominatedNodeName",
        "path",
        "pdName",
        "persistentVolumeName",
        "parentCompositePodGroupName",
        "podGroupName",
        "pool",
        "priorityClassName",
        "resourceClaimName",
        "resourceClaimTemplateName",
        "runtimeClassName",
        "secretName",
        "secretNamespace",
        "serviceName",
        "shareName",
        "storageClassName",
        "storagePolicyID",
        "storagePolicyName",
        "targetPortal",
        "templateName",
        "user",
        "volumeAttributesClassName",
        "volumeHandle",
        "volumeID",
        "volumeName",
        "volumePath",
        "workloadName",
    ]
)
"""Fields that hold a name, or identify a volume."""

_LISTS_OF_NAMES: Final = frozenset({"monitors", "namespaces", "portals"})
_OF_TAINTS: Final = frozenset({"taint", "taints", "tolerations"})
_IMAGES: Final = frozenset({"image", "reference"})
_LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector", "selector"})
_KEYED: Final = frozenset({"matchExpressions", "matchLabelExpressions"})
_DROPPED: Final = frozenset(
    [
        "authenticationRef",
        "authenticationsTypes",
        "compositeScalerName",
        "description",
        "devicePath",
        "envSourceContainerName",
        "externalMetricNames",
        "fallback",
        "message",
        "mountOptions",
        "note",
        "providerID",
        "recommenders",
        "resourceMetricNames",
        "resourceVersion",
        "scalingModifiers",
        "triggersActivity",
        "triggersTypes",
        "volumeAttributes",
        "volumesAttached",
        "volumesInUse",
    ]
)
"""Fields that do not affect scheduling and may contain any text."""

_ALL_CONTAINERS: Final = "*"

_KINDS_OF_KNOWN_NAMES: Final = frozenset({"CSIDriver", "DeviceClass"})
_KNOWN_NAMES: Final = frozenset(
    {"containerResource", "drivers", "resource", "schedulingGates"}
)
"""Fields whose names other objects or programs look up, such as drivers."""

_QUOTA_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_UNCOUNTED: Final = "uncountedTerminatedPods"
_DOMAIN: Final = "anonymous.example"
"""The domain of finalizers that are not of Kubernetes: they need one."""

_PLAIN_OF_SOURCES: Final = frozenset({"medium", "sizeLimit", "type", "lun"})
_TARGET: Final = "x"
"""The replacement of all addresses of a volume."""


@attrs.frozen(kw_only=True)
class _Substitutes:
    """The functions that replace the texts of objects.

    Attributes:
        name: Returns the alias of a name, or of a uid in place of a name.
        uid: Returns the alias of a uid.
        time: Returns the text for any other text: another time for a time.
    """

    name: Rename
    uid: Rename
    time: Rename


def anonymised(trees: Sequence[Tree], kinds: KindSet) -> list[Tree]:
    """Return objects with other names of namespaces, nodes, pods, images and so on.

    Values of labels are replaced as well, except those of Kubernetes' own labels. Uids
    become numbers in the same order, and all times move by one number of seconds. All
    other fields that affect scheduling stay the same.

    Args:
        trees: The objects of a server.
        kinds: The kinds to include; objects of other kinds are left out.
    """
    read = [
        # Decoded and encoded, which drops fields without a class: they may hold
        # anything.
        to_wire(from_wire(tree, kind))
        for tree in trees
        if (kind := kinds.find(tree["apiVersion"], tree["kind"])) is not None
    ]
    names: set[str] = set()
    uids: set[str] = set()
    collect = _Substitutes(name=_adder(names), uid=_adder(uids), time=_unchanged)
    for tree in read:
        # This pass only collects. Aliases keep the order of names, as it decides ties,
        # so all names are needed first.
        _Renaming(collect, tree).whole()
    compound, stems = _put_together(read)
    uid_aliases = UidAliases(uids)
    # Uids in place of names have aliases of their own.
    names = names.union(*compound.values()) - uids
    aliases = Aliases(names, compound=compound, stems=stems)
    # The digest is secret to everybody who does not have the original objects.
    digest = hashlib.blake2b(msgspec.json.encode(read)).digest()
    substitutes = _Substitutes(
        name=lambda text: uid_aliases.get(text) or aliases.of(text),
        uid=lambda text: uid_aliases.get(text) or text,
        time=TimeShift.of(times_in(read), digest).shifted,
    )
    return [_Renaming(substitutes, tree).whole() for tree in read]


def _adder(texts: set[str]) -> Rename:
    def add(text: str) -> str:
        texts.add(text)
        return text

    return add


def _unchanged(text: str) -> str:
    return text


class Anonymiser:
    """Replaces the names in objects that arrive one after the other.

    Unlike those of `anonymised`, the aliases are not in the order of the names, because
    that order requires all names. Without the key, aliases cannot be reversed. Times
    stay, since a record begins at the real time.

    Args:
        key: The secret key of the hash.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._compound: dict[str, tuple[str, ...]] = {}

    def renamed(self, tree: Tree) -> Tree:
        """Return an object, which was decoded and encoded, with other names."""
        compound, _ = _put_together([tree])
        self._compound.update(compound)
        substitutes = _Substitutes(name=self._of, uid=self._uid_of, time=_unchanged)
        return _Renaming(substitutes, tree).whole()

    def _of(self, name: str) -> str:
        return hashed_alias(name, self._key, self._compound)

    def _uid_of(self, uid: str) -> str:
        return hashed_uid(uid, self._key)


def _put_together(
    trees: Sequence[Tree],
) -> tuple[Mapping[str, tuple[str, ...]], Sequence[str]]:
    """Return the names that controllers compose of others, and those they number."""
    compound: dict[str, tuple[str, ...]] = {}
    stems: list[str] = []
    for tree in trees:
        name, spec = tree["metadata"].get("name", ""), tree.get("spec", {})
        if tree["kind"] == "StatefulSet":
            stems.append(name)
            for template in spec.get("volumeClaimTemplates", ()):
                parts = (template["metadata"]["name"], name)
                compound["-".join(parts)] = parts
                stems.append("-".join(parts))
        elif tree["kind"] == "Pod":
            for volume in spec.get("volumes", ()):
                if "ephemeral" in volume:
                    parts = (name, volume["name"])
                    compound["-".join(parts)] = parts
    return compound, stems


class _Renaming:
    """Replaces all names in one object.

    Args:
        substitutes: Replaces texts.
        tree: The object.
    """

    def __init__(self, substitutes: _Substitutes, tree: Tree) -> None:
        self._rename = substitutes.name
        self._uid = substitutes.uid
        self._time = substitutes.time
        self._tree = tree

    def whole(self) -> Tree:
        """Return the object with other names."""
        renamed: Tree = self._renamed(self._tree, "")
        if self._tree["kind"] in _KINDS_OF_KNOWN_NAMES:
            renamed["metadata"]["name"] = self._tree["metadata"]["name"]
        metadata = self._tree["metadata"]
        if "resourceVersion" in metadata and "creationTimestamp" not in metadata:
            # Without either, admission would treat it as new.
            renamed["metadata"]["resourceVersion"] = "1"
        return renamed

    def _renamed(self, value: Any, parent: str) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, list | tuple):
            return [self._renamed(item, parent) for item in value]
        if not isinstance(value, dict):
            return self._time(value) if isinstance(value, str) else value
        return {
            key: self._field(key, item, value, parent)
            for key, item in value.items()
            if key not in _DROPPED
        }

    def _field(self, key: str, value: Any, owner: Tree, parent: str) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, str):
            return self._text(key, value, owner, parent)
        if is_unread_source(key, value):
            return self._source(key, value)
        if isinstance(value, dict) and key in _MAPS:
            return _MAPS[key](self, value)
        if not isinstance(value, list | tuple):
            return self._renamed(value, key)
        if key in _LISTS:
            return _LISTS[key](self, value)
        if key in _LISTS_OF_NAMES or (key == "values" and parent == "matchFields"):
            return list(map(self._rename, value))
        if key == "names" and parent == "images":
            return list(map(self._image, value))
        if parent == _UNCOUNTED:
            return list(map(self._uid, value))
        return self._renamed(value, key)

    def _text(self, key: str, value: str, owner: Tree, parent: str) -> str:
        if key == "uid":
            return self._uid(value)
        if key in _IMAGES:
            return self._image(value)
        if key == "clusterIP":  # only "None" has a meaning
            return value if value == "None" else ""
        if key == "generateName":
            return f"{self._rename(value.removesuffix('-'))}-"
        if key == "value" and parent in _OF_TAINTS:
            return self._value(owner.get("key", ""), value)
        is_name = key in _NAMES and not (
            (key == "name" and parent in _KNOWN_NAMES) or value == _ALL_CONTAINERS
        )
        return self._rename(value) if is_name else self._time(value)

    def _source(self, key: str, value: Tree) -> Tree:
        """Return a volume source that scheduling does not read, so that it is valid."""
        return {
            name: self._source_field(name, item)
            for name, item in lean_source(key, value).items()
        }

    def _source_field(self, name: str, value: object) -> object:
        if name in _PLAIN_OF_SOURCES:
            return value
        if name == "path":
            # Admission requires an absolute path of some sources.
            return "/"
        if name == "registry":  # of Quobyte: a host and a port
            return f"{self._rename(str(value))}:1"
        if isinstance(value, str):
            return self._rename(value)
        return [_TARGET] if isinstance(value, list | tuple) and value else value

    def labels(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return labels, or a selector."""
        if not _is_of_texts(value):
            return self._renamed(value, "selector")
        return {key: self._value(key, text) for key, text in value.items()}

    def annotations(self, value: Mapping[str, str]) -> Tree:
        """Return the annotations that affect decisions."""
        return {
            key: self._value(key, text)
            for key, text in value.items()
            if key in READ_ANNOTATIONS
        }

    def parameters(self, value: Any) -> Tree:  # noqa: ANN401 - any JSON
        """Return the parameters of a class, or nothing of those for a driver."""
        if not _is_of_texts(value):
            return {}
        return {key: self._rename(text) for key, text in value.items()}

    def expressions(self, value: Sequence[Tree]) -> list[Tree]:
        """Return conditions on labels."""
        return [self._expression(item) for item in value]

    def _expression(self, item: Tree) -> Tree:
        key = item.get("key", "")  # scopes of quotas have none: their values are names
        values = [self._value(key, value) for value in item.get("values", ())]
        return {**item, "values": values} if values else item

    def _value(self, key: str, value: str) -> str:
        """Return the value of a label, taint or annotation."""
        return value if is_own_key(key) else self._rename(value)

    def finalizers(self, value: Sequence[str]) -> list[str]:
        """Return finalizers: an object stays as long as it has some."""
        return [
            name if is_own_finalizer(name) else f"{_DOMAIN}/{self._rename(name)}"
            for name in value
        ]

    def _image(self, name: str) -> str:
        """Return the alias of an image; without a tag, it is ``latest``."""
        has_tag = ":" in name.rpartition("/")[2]
        return f"{self._rename(name if has_tag else f'{name}:latest')}:x"

    def quota(self, value: Mapping[str, object]) -> Tree:
        """Return amounts by resource, some of them of a StorageClass."""
        return {self._quota_key(key): amount for key, amount in value.items()}

    def _quota_key(self, key: str) -> str:
        name, dot, what = key.partition(_QUOTA_OF_CLASS)
        return f"{self._rename(name)}{dot}{what}" if dot else key

    def types(self, value: Sequence[Tree]) -> list[Tree]:
        """Return the types of triggers or metrics: nothing here reads more of them."""
        return [{"type": item.get("type", "")} for item in value]

    def disrupted_pods(self, value: Mapping[str, str]) -> Tree:
        """Return times by the names of pods."""
        return {self._rename(pod): self._time(time) for pod, time in value.items()}


_MAPS: Final[Mapping[str, Callable[[_Renaming, Any], Any]]] = {
    **dict.fromkeys(_LABELS, _Renaming.labels),
    "annotations": _Renaming.annotations,
    "disruptedPods": _Renaming.disrupted_pods,
    "hard": _Renaming.quota,
    "parameters": _Renaming.parameters,
    "used": _Renaming.quota,
}
"""Fields whose values are maps -> what returns the other value."""

_LISTS: Final[Mapping[str, Callable[[_Renaming, Any], Any]]] = {
    **dict.fromkeys(_KEYED, _Renaming.expressions),
    "finalizers": _Renaming.finalizers,
    "currentMetrics": _Renaming.types,
    "triggers": _Renaming.types,
}
"""Fields whose values are lists -> what returns the other value."""


def _is_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
