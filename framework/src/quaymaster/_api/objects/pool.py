"""Shares equal parts of many objects."""

import hashlib
import re
from typing import Final, Generic, TypeVar
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import force_setattr

from quaymaster._api.objects.codec import ENCODER, dec_hook
from quaymaster._api.objects.meta import ObjectMeta, OwnerReference
from quaymaster._api.objects.node import ContainerImage, NodeStatus
from quaymaster._api.objects.pod import ContainerStatus, PodSpec, PodStatus

__all__ = ["SpecPool"]

# Bounds on memory: the tables are cleared when they are full. Chosen, not measured:
# many more templates, and parts of templates, than are in use at a time.
_TEXT_LIMIT: Final = 2048
_TABLE_LIMIT: Final = 16384

_SPEC_PARTS: Final = (
    "containers",
    "init_containers",
    "affinity",
    "tolerations",
    "topology_spread_constraints",
)
_NODE_NAME: Final = re.compile(rb'"nodeName"\s*:\s*"([a-z0-9.-]+)"')
_TOKEN_PREFIX: Final = "kube-api-access-"
_TOKEN_VOLUME: Final = _TOKEN_PREFIX.encode()
_TOKEN_LENGTH: Final = 5

K = TypeVar("K")
V = TypeVar("V")


class _NodeName(msgspec.Struct, gc=False, rename="camel"):
    node_name: str | None = None


_NODE_NAME_DECODER: Final = msgspec.json.Decoder(_NodeName)
_SPEC_DECODER: Final = msgspec.json.Decoder(PodSpec, dec_hook=dec_hook)


class _Table(Generic[K, V]):
    """The first value of each key, until there are too many."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: dict[K, V] = {}

    def share(self, key: K, value: V) -> V:
        values = self._values
        if len(values) >= _TABLE_LIMIT:
            values.clear()
        return values.setdefault(key, value)


class SpecPool:
    """Makes pods of one template share one `PodSpec`, and their labels.

    Shared specs save memory, and values derived from a spec are computed once per
    template. A pool belongs to the component that reads objects: a loader, a cluster, a
    watch. It soon drops a spec that no pod uses any longer.

    Attributes:
        texts_read: How many texts of specs were decoded, because the pool had none.
    """

    __slots__ = (
        "_by_text",
        "_container_statuses",
        "_images",
        "_maps",
        "_owners",
        "_spec_parts",
        "_specs",
        "_statuses",
        "_strings",
        "texts_read",
    )

    def __init__(self) -> None:
        self.texts_read = 0
        self._specs: WeakValueDictionary[bytes, PodSpec] = WeakValueDictionary()
        self._by_text: dict[tuple[int, bytes], PodSpec] = {}
        self._spec_parts: _Table[tuple[str, bytes], object] = _Table()
        self._strings: _Table[str, str] = _Table()
        self._maps: _Table[tuple[tuple[str, str], ...], dict[str, str]] = _Table()
        self._owners: _Table[tuple[OwnerReference, ...], tuple[OwnerReference, ...]]
        self._owners = _Table()
        self._container_statuses: _Table[bytes, tuple[ContainerStatus, ...]] = _Table()
        self._statuses: _Table[str, PodStatus] = _Table()
        self._images: _Table[ContainerImage, ContainerImage] = _Table()

    def __len__(self) -> int:
        """Return how many different specs are in use."""
        return len(self._specs)

    def share_spec(self, spec: PodSpec) -> PodSpec:
        """Return the one spec that is shared by all equal ones.

        The volume with the service account's token is dropped, and so is the node's
        name: they would make every pod different.
        """
        spec = _without_token_volume(spec)
        if spec.node_name:
            spec = msgspec.structs.replace(spec, node_name="")
        # A digest distinguishes texts as well, and has a tenth of their size.
        key = hashlib.blake2b(ENCODER.encode(spec), digest_size=20).digest()
        shared = self._specs.get(key)
        if shared is None:
            shared = self._specs[key] = self._share_parts(spec)
        return shared

    def _share_parts(self, spec: PodSpec) -> PodSpec:
        """Return an equal spec; specs that differ in a claim's name share all else."""
        shared = {}
        for field in _SPEC_PARTS:
            value = getattr(spec, field)
            if value:
                key = (field, ENCODER.encode(value))
                shared[field] = self._spec_parts.share(key, value)
        return msgspec.structs.replace(spec, **shared)

    def share_metadata(self, metadata: ObjectMeta) -> ObjectMeta:
        """Return equal metadata, made of shared parts."""
        strings, maps = self._strings, self._maps
        labels, annotations = metadata.labels, metadata.annotations
        owners = metadata.owner_references
        # Equal values can replace each other, since they are immutable.
        force_setattr(
            metadata,
            "namespace",
            strings.share(metadata.namespace, metadata.namespace),
        )
        force_setattr(
            metadata,
            "generate_name",
            strings.share(metadata.generate_name, metadata.generate_name),
        )
        force_setattr(metadata, "labels", maps.share(tuple(labels.items()), labels))
        force_setattr(
            metadata,
            "annotations",
            maps.share(tuple(annotations.items()), annotations),
        )
        force_setattr(metadata, "owner_references", self._owners.share(owners, owners))
        return metadata

    def share_pod_status(self, status: PodStatus) -> PodStatus:
        """Return an equal status, made of shared parts."""
        if not status.conditions and status == PodStatus(phase=status.phase):
            return self._statuses.share(status.phase, status)
        strings = self._strings
        for condition in status.conditions:
            for field in ("type", "status"):
                text = getattr(condition, field)
                force_setattr(condition, field, strings.share(text, text))
        for field in ("container_statuses", "init_container_statuses"):
            value = getattr(status, field)
            if value:
                shared = self._container_statuses.share(ENCODER.encode(value), value)
                force_setattr(status, field, shared)
        return status

    def share_node_status(self, status: NodeStatus) -> NodeStatus:
        """Return an equal status; the nodes of a cluster share their images."""
        share = self._images.share
        images = tuple(share(image, image) for image in status.images)
        force_setattr(status, "images", images)
        return status

    def forget_texts(self) -> None:
        """Drop all texts, so that the next one is decoded."""
        self._by_text.clear()

    def decode_spec(self, text: bytes) -> tuple[PodSpec, str]:
        """Read the JSON of a pod's spec.

        Returns:
            The shared spec, and the name of the node that the pod is bound to.

        Raises:
            msgspec.ValidationError: A field is null or has the wrong type.
        """
        key, node_name = _text_key(text)
        spec = self._by_text.get(key)
        if spec is not None:
            return spec, node_name
        self.texts_read += 1
        actual = _NODE_NAME_DECODER.decode(text).node_name or ""
        spec = self.share_spec(_SPEC_DECODER.decode(text))
        if actual == node_name and _decides_spec(key, spec):
            if len(self._by_text) >= _TEXT_LIMIT:
                self._by_text.clear()
            self._by_text[key] = spec
        return spec, actual


def _text_key(text: bytes) -> tuple[tuple[int, bytes], str]:
    """Cut out of a spec's text the parts that differ between the pods of a template.

    These are the node's name, and the end of the name of the volume with the service
    account token. The place of the cut is part of the key.
    """
    name, start = "", -1
    match = _NODE_NAME.search(text)
    if match is not None:
        start, end = match.span(1)
        name = match[1].decode()
        text = text[:start] + text[end:]
    volume = text.find(_TOKEN_VOLUME)
    if volume >= 0:
        end = volume + len(_TOKEN_VOLUME) + _TOKEN_LENGTH
        token = text[volume:end]
        if token[-_TOKEN_LENGTH:].isalnum():
            text = text.replace(token, _TOKEN_VOLUME)
    return (start, text), name


def _decides_spec(key: tuple[int, bytes], spec: PodSpec) -> bool:
    """Return whether every text with this key has this spec.

    It has if the removed name was the pod's node (and not, for example, a label of that
    key), and if the token volume's name was only in parts that are dropped anyway.
    """
    _, text = key
    return not _NODE_NAME_DECODER.decode(
        text
    ).node_name and _TOKEN_VOLUME not in ENCODER.encode(spec)


def _without_token_volume(spec: PodSpec) -> PodSpec:
    kept = tuple(
        volume
        for volume in spec.volumes
        if volume.projected is None or not volume.name.startswith(_TOKEN_PREFIX)
    )
    if len(kept) == len(spec.volumes):
        return spec
    return msgspec.structs.replace(spec, volumes=kept)
