"""Takes names out of objects, so that decisions about them stay the same.

What scheduling has no field for (commands, environment, secrets, most annotations) is
not there any more when this begins: it works on objects that were read and written.
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
"""Fields that hold a name, or tell one volume from another."""

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
"""Fields that decide nothing and may hold anything."""

_KINDS_OF_KNOWN_NAMES: Final = frozenset({"CSIDriver", "DeviceClass"})
_KNOWN_NAMES: Final = frozenset({"drivers", "schedulingGates"})
"""Lists of what has a name that others go by: drivers are looked for."""

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
"""The annotations that are kept, since they decide something."""

_QUOTA_OF_CLASS: Final = ".storageclass.storage.k8s.io/"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


_UNREAD: Final = {_camel(name) for name in UNREAD_SOURCES} | {"scaleIO"}


def anonymised(trees: Sequence[Tree], kinds: KindSet) -> list[Tree]:
    """Return objects with other names of namespaces, nodes, pods, images and so on.

    Values of labels are names as well, but for those of Kubernetes' own labels. All
    else that decides is as it was.

    Args:
        trees: The objects as a server has them.
        kinds: What they are; those of other kinds are left out.
    """
    read = [
        to_wire(from_wire(tree, kind))
        for tree in trees
        if (kind := kinds.find(tree["apiVersion"], tree["kind"])) is not None
    ]
    found: set[str] = set()

    def collect(name: str) -> str:
        found.add(name)
        return name

    for tree in read:
        _Renaming(collect, tree).whole()
    compound, stems = _put_together(read)
    aliases = Aliases(found.union(*compound.values()), compound=compound, stems=stems)
    return [_Renaming(aliases.of, tree).whole() for tree in read]


class Anonymiser:
    """Gives objects other names, one after the other, as they come.

    Unlike those of `anonymised`, the names are not in the order of the true ones, which
    nobody knows before all have come. Without the key, nobody can tell what they were.

    Args:
        key: A secret, of which the names are made.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._compound: dict[str, tuple[str, ...]] = {}

    def renamed(self, tree: Tree) -> Tree:
        """An object that was read and written, with other names."""
        compound, _ = _put_together([tree])
        self._compound.update(compound)
        return _Renaming(self._of, tree).whole()

    def _of(self, name: str) -> str:
        return hashed_alias(name, self._key, self._compound)


def _put_together(
    trees: Sequence[Tree],
) -> tuple[Mapping[str, tuple[str, ...]], Sequence[str]]:
    """Names that controllers put together of others, and those that they number."""
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
    """Gives all names in one object other ones.

    Args:
        rename: Gives a name its other one.
        tree: The object.
    """

    def __init__(self, rename: Rename, tree: Tree) -> None:
        self._rename = rename
        self._tree = tree

    def whole(self) -> Tree:
        """The object with other names."""
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
            # A path on a node is all that is read of these.
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
            return [self._expression(one) for one in value]
        if key in _LISTS_OF_NAMES or (key == "values" and parent == "matchFields"):
            return list(map(self._rename, value))
        if key == "names" and parent == "images":
            return list(map(self._image, value))
        if key == "finalizers":
            return [one for one in value if _is_of_kubernetes(one)]
        if key in ("hard", "used", "disruptedPods"):
            return {self._quota_or_pod(key, each): one for each, one in value.items()}
        return self._renamed(value, key)

    def _text(self, key: str, value: str, owner: Tree, parent: str) -> str:
        if key in _IMAGES:
            return self._image(value)
        if key == "clusterIP":  # all that counts is whether there is one
            return value if value == "None" else ""
        if key == "generateName":
            return f"{self._rename(value.removesuffix('-'))}-"
        if key == "value" and parent in _OF_TAINTS:
            return self._value(owner.get("key", ""), value)
        is_name = key in _NAMES and not (key == "name" and parent in _KNOWN_NAMES)
        return self._rename(value) if is_name else value

    def _expression(self, one: Tree) -> Tree:
        key = one.get("key", "")  # scopes of quotas have none: their values are names
        values = [self._value(key, value) for value in one.get("values", ())]
        return {**one, "values": values} if values else one

    def _value(self, key: str, value: str) -> str:
        """The value of a label, taint or annotation."""
        if _is_of_kubernetes(key) and key not in _OWN_NAMES:
            return value
        return self._rename(value)

    def _image(self, name: str) -> str:
        """An image: one without a tag is the latest one."""
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
    """Whether a key is of Kubernetes itself, and its values are not users' words."""
    domain, slash, _ = key.partition("/")
    if not slash or domain == "app.kubernetes.io" or domain.endswith(".sigs.k8s.io"):
        return False
    own = ("kubernetes.io", "k8s.io", "simulation.quaymaster.io")
    return domain in own or domain.endswith((".kubernetes.io", ".k8s.io"))
