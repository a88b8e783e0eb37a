"""Replaces the names in objects, such that scheduling decisions stay the same.

It works on objects that were decoded and encoded. So they no longer have the fields
that scheduling does not read: commands, environment, secrets, most annotations.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from quaymaster._api.objects import from_wire, to_wire
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.volumes import UNREAD_SOURCES
from quaymaster._clusters.kubernetes.aliases import Aliases, hashed_alias

__all__ = ["Anonymiser", "anonymised"]

Tree: TypeAlias = dict[str, Any]
Rename: TypeAlias = Callable[[str], str]

_NAMES: Final = frozenset(
    [
        "claimName",
        "diskName",
        "diskURI",
        "iqn",
        "name",
        "namespace",
        "nodeID",
        "nodeName",
        "nominatedNodeName",
        "path",
        "pdName",
        "persistentVolumeName",
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
        "user",
        "volumeAttributesClassName",
        "volumeHandle",
        "volumeID",
        "volumeName",
        "volumePath",
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
        "description",
        "devicePath",
        "message",
        "mountOptions",
        "note",
        "parameters",
        "providerID",
        "volumeAttributes",
        "volumesAttached",
        "volumesInUse",
    ]
)
"""Fields that do not affect scheduling and may contain any text."""

_KINDS_OF_KNOWN_NAMES: Final = frozenset({"CSIDriver", "DeviceClass"})
_KNOWN_NAMES: Final = frozenset({"drivers", "schedulingGates"})
"""Lists whose names other objects or programs look up, such as drivers."""

_OWN_NAMES: Final = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/metadata.name",
        "statefulset.kubernetes.io/pod-name",
        "batch.kubernetes.io/job-name",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
    }
)
"""Keys of Kubernetes whose values are names of objects."""

_ANNOTATIONS: Final = frozenset(
    [
        "batch.kubernetes.io/job-completion-index",
        "controller.kubernetes.io/pod-deletion-cost",
        "deployment.kubernetes.io/revision",
        "kubernetes.io/config.mirror",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/provisioned-by",
        "simulation.quaymaster.io/run-seconds",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
    ]
)
"""The annotations that are kept, because they affect decisions."""

_QUOTA_OF_CLASS: Final = ".storageclass.storage.k8s.io/"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


_UNREAD: Final = {_camel(name) for name in UNREAD_SOURCES} | {"scaleIO"}


def anonymised(trees: Sequence[Tree], kinds: KindSet) -> list[Tree]:
    """Return objects with other names of namespaces, nodes, pods, images and so on.

    Values of labels are replaced as well, except those of Kubernetes' own labels.
    All other fields that affect scheduling stay the same.

    Args:
        trees: The objects of a server.
        kinds: The kinds to include; objects of other kinds are left out.
    """
    read = [
        to_wire(from_wire(tree, kind))
        for tree in trees
        if (kind := kinds.find(tree["apiVersion"], tree["kind"])) is not None
    ]
    names: set[str] = set()

    def collect(name: str) -> str:
        names.add(name)
        return name

    for tree in read:
        _Renaming(collect, tree).whole()
    compound, stems = _put_together(read)
    aliases = Aliases(names.union(*compound.values()), compound=compound, stems=stems)
    return [_Renaming(aliases.of, tree).whole() for tree in read]


class Anonymiser:
    """Replaces the names in objects that arrive one after the other.

    Unlike those of `anonymised`, the aliases are not in the order of the names, because
    that order requires all names. Without the key, aliases cannot be reversed.

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
        return _Renaming(self._of, tree).whole()

    def _of(self, name: str) -> str:
        return hashed_alias(name, self._key, self._compound)


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
        rename: Returns the alias of a name.
        tree: The object.
    """

    def __init__(self, rename: Rename, tree: Tree) -> None:
        self._rename = rename
        self._tree = tree

    def whole(self) -> Tree:
        """Return the object with other names."""
        renamed: Tree = self._renamed(self._tree, "")
        if self._tree["kind"] in _KINDS_OF_KNOWN_NAMES:
            renamed["metadata"]["name"] = self._tree["metadata"]["name"]
        return renamed

    def _renamed(self, value: Any, parent: str) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, list | tuple):
            return [self._renamed(item, parent) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._field(key, item, value, parent)
            for key, item in value.items()
            if key not in _DROPPED
        }

    def _field(self, key: str, value: Any, owner: Tree, parent: str) -> Any:  # noqa: ANN401 - any JSON
        if key in _UNREAD and isinstance(value, dict):
            # Of these volumes, scheduling reads only a path on a node.
            return {"path": "/"} if "path" in value else {}
        if isinstance(value, str):
            return self._text(key, value, owner, parent)
        if key in _LABELS and _is_of_texts(value):
            return {each: self._value(each, text) for each, text in value.items()}
        if key == "annotations":
            return {
                each: self._value(each, text)
                for each, text in value.items()
                if each in _ANNOTATIONS
            }
        if key in _KEYED:
            return [self._expression(item) for item in value]
        if key in _LISTS_OF_NAMES or (key == "values" and parent == "matchFields"):
            return list(map(self._rename, value))
        if key == "names" and parent == "images":
            return list(map(self._image, value))
        if key == "finalizers":
            return [item for item in value if _is_of_kubernetes(item)]
        if key in ("hard", "used", "disruptedPods"):
            return {self._quota_or_pod(key, each): item for each, item in value.items()}
        return self._renamed(value, key)

    def _text(self, key: str, value: str, owner: Tree, parent: str) -> str:
        if key in _IMAGES:
            return self._image(value)
        if key == "clusterIP":  # only "None" has a meaning
            return value if value == "None" else ""
        if key == "generateName":
            return f"{self._rename(value.removesuffix('-'))}-"
        if key == "value" and parent in _OF_TAINTS:
            return self._value(owner.get("key", ""), value)
        is_name = key in _NAMES and not (key == "name" and parent in _KNOWN_NAMES)
        return self._rename(value) if is_name else value

    def _expression(self, item: Tree) -> Tree:
        key = item.get("key", "")  # scopes of quotas have none: their values are names
        values = [self._value(key, value) for value in item.get("values", ())]
        return {**item, "values": values} if values else item

    def _value(self, key: str, value: str) -> str:
        """Return the value of a label, taint or annotation."""
        if _is_of_kubernetes(key) and key not in _OWN_NAMES:
            return value
        return self._rename(value)

    def _image(self, name: str) -> str:
        """Return the alias of an image; without a tag, it is ``latest``."""
        has_tag = ":" in name.rpartition("/")[2]
        return f"{self._rename(name if has_tag else f'{name}:latest')}:x"

    def _quota_or_pod(self, field: str, key: str) -> str:
        if field == "disruptedPods":
            return self._rename(key)
        name, dot, what = key.partition(_QUOTA_OF_CLASS)
        return f"{self._rename(name)}{dot}{what}" if dot else key


def _is_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str) for v in value.values())


def _is_of_kubernetes(key: str) -> bool:
    """Return whether Kubernetes defines a key, and users do not choose its values."""
    domain, slash, _ = key.partition("/")
    if not slash or domain == "app.kubernetes.io" or domain.endswith(".sigs.k8s.io"):
        return False
    own = ("kubernetes.io", "k8s.io", "simulation.quaymaster.io")
    return domain in own or domain.endswith((".kubernetes.io", ".k8s.io"))
