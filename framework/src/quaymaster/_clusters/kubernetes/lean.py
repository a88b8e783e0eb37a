"""Removes from objects what scheduling, admission and controllers do not read.

Classes of objects have fields for what is read, so most other fields are gone once an
object was decoded and encoded: environment, commands, arguments, mounts. What remains
then is removed here.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kind_set import KindSet
from quaymaster._api.objects.wire import to_wire

__all__ = ["is_unread_source", "lean_objects", "lean_source"]

Tree: TypeAlias = dict[str, Any]

_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_ATTRIBUTES: Final = "volumeAttributes"
_OPAQUE: Final = "opaque"
_PARAMETERS: Final = "parameters"  # of a driver, in the configuration of devices

_CHECKED: Final[Mapping[str, Sequence[str]]] = {
    "cephfs": ("monitors",),
    "configMap": ("name",),
    "downwardAPI": (),
    "emptyDir": ("medium", "sizeLimit"),
    "fc": ("targetWWNs", "lun", "wwids"),
    "flexVolume": ("driver",),
    "flocker": ("datasetName", "datasetUUID"),
    "gitRepo": ("repository", "directory"),
    "glusterfs": ("endpoints", "path"),
    "hostPath": ("path", "type"),
    "nfs": ("server", "path"),
    "photonPersistentDisk": ("pdID",),
    "projected": (),
    "quobyte": ("registry", "volume"),
    "scaleIO": ("gateway", "system", "volumeName"),
    "secret": ("secretName",),
    "storageos": ("volumeName", "volumeNamespace"),
}
"""Volume source -> the fields that admission checks; nothing reads others of them."""

_UNREAD: Final = frozenset(
    (
        "chapAuthDiscovery",
        "chapAuthSession",
        "controllerExpandSecretRef",
        "controllerPublishSecretRef",
        "dataSource",
        "dataSourceRef",
        "initiatorName",
        "nodeExpandSecretRef",
        "nodePublishSecretRef",
        "nodeStageSecretRef",
        "podCIDR",
        "podCIDRs",
        "secretRef",
    )
)
"""Optional fields of volumes, claims and nodes that nothing reads."""
_ACTIONS: Final = frozenset(("grpc", "httpGet", "tcpSocket"))
_REPOSITORY: Final = "repository"
_OMITTED: Final = "omitted"


def lean_objects(objects: Iterable[ApiObject], kinds: KindSet) -> list[Tree]:
    """Return objects without what nothing reads.

    Removed are the configuration that kubectl applied last, attributes of volumes,
    parameters of device drivers, texts in the actions of probes and hooks, and the
    fields of volume sources that admission does not require. Names stay. Objects of
    plugins' kinds have all fields of their classes.

    Args:
        objects: The objects, which were decoded.
        kinds: The kinds that have a class.
    """
    own = frozenset(kinds.own)
    trees = []
    for obj in objects:
        tree = to_wire(obj)
        metadata = tree.get("metadata", {})
        if _LAST_APPLIED in obj.annotations:
            metadata["annotations"].pop(_LAST_APPLIED)
            if not metadata["annotations"]:
                del metadata["annotations"]
        trees.append(tree if type(obj) in own else _lean(tree))
    return trees


def lean_source(name: str, source: Tree) -> Tree:
    """Return the fields of a volume source that admission checks.

    Args:
        name: The field of the volume that holds it, such as ``nfs``.
        source: The source.
    """
    kept = {key: source[key] for key in _CHECKED[name] if key in source}
    if kept.get(_REPOSITORY):  # its URL may hold a password
        kept[_REPOSITORY] = _OMITTED
    return kept


def is_unread_source(name: str, value: object) -> bool:
    """Return whether a field holds a volume source that scheduling does not read."""
    return name in _CHECKED and isinstance(value, dict)


def _lean(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list | tuple):
        return [_lean(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _lean_field(key, item)
        for key, item in value.items()
        if key != _ATTRIBUTES and key not in _UNREAD
    }


def _lean_field(key: str, value: Any) -> Any:  # noqa: ANN401 - any JSON
    if is_unread_source(key, value):
        return lean_source(key, value)
    if key in ("exec", *_ACTIONS) and isinstance(value, dict):
        return _lean_action(key, value)
    if key == _OPAQUE and isinstance(value, dict):
        return {name: item for name, item in value.items() if name != _PARAMETERS}
    return _lean(value)


def _lean_action(key: str, action: Tree) -> Tree:
    """Return a valid action of a probe or hook without its texts, such as tokens."""
    if key == "exec":
        # Admission rejects an action without a command.
        return {"command": [_OMITTED]}
    port = action.get("port")
    # Admission requires a valid port, and nothing reads which one it is.
    return {"port": port if isinstance(port, int) else 1}
