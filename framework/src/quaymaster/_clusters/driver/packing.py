"""Packs objects for the engine: of a pod, only the fields that scheduling reads.

Many pods share a template, and the spec is most of a pod's text. So a spec is sent once
and later pods refer to it by number. Objects of other kinds are sent unchanged.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeAlias, TypeVar, cast

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.codec import dec_hook, enc_hook
from quaymaster._api.objects.meta import ObjectMeta
from quaymaster._api.objects.pod import PodSpec, PodStatus
from quaymaster._api.objects.pool import SpecPool
from quaymaster._api.objects.wire import decode
from quaymaster._base.errors import ObjectError

__all__ = ["Change", "Gone", "PackedPod", "PodPacker", "Text", "Unpacker", "pack"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_MOST_SPECS: Final = 4096  # far more templates than are in use at a time


class PackedPod(msgspec.Struct, array_like=True, tag_field="form", tag=0, gc=False):
    """A pod that was added or changed, or its last state when it was deleted.

    Attributes:
        type: Such as ``ADDED``.
        metadata: The fields of its metadata that scheduling reads.
        spec: The number of its spec.
        node_name: The node that it is bound to.
        status: The fields of its status that scheduling reads.
    """

    type: str
    metadata: ObjectMeta
    spec: int
    node_name: str
    status: PodStatus


class Text(msgspec.Struct, array_like=True, tag_field="form", tag=1, gc=False):
    """An object of any kind, in the JSON of the server."""

    type: str
    json: bytes


class Gone(msgspec.Struct, array_like=True, tag_field="form", tag=2, gc=False):
    """An object that was deleted while no watch was open."""

    key: str


Change: TypeAlias = PackedPod | Text | Gone

_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_CHANGES: Final = msgspec.msgpack.Decoder(list[Change], dec_hook=dec_hook)
_SPECS: Final = msgspec.msgpack.Decoder(PodSpec, dec_hook=dec_hook)


def pack(changes: list[Change]) -> bytes:
    """Encode changes."""
    return _ENCODER.encode(changes)


class PodPacker:
    """Packs pods, and sends each spec before the first pod that has it.

    Args:
        send_spec: Sends the number of a spec and its packed text. A number that is sent
            again refers to the new spec from then on.
    """

    def __init__(self, send_spec: Callable[[int, bytes], None]) -> None:
        self._send_spec = send_spec
        self._pool = SpecPool()
        # The pool shares equal specs, so identity distinguishes those in `_specs`.
        self._numbers: dict[int, int] = {}
        self._specs: list[PodSpec] = []

    def packed(self, change_type: str, text: msgspec.Raw) -> Change:
        """Pack a pod; an unreadable one is sent unchanged, and the engine logs it."""
        try:
            pod = decode(text, Pod, pool=self._pool)
        except (ObjectError, msgspec.DecodeError):
            return Text(change_type, bytes(text))
        number = self._number_of(pod.spec)
        return PackedPod(change_type, pod.metadata, number, pod.node_name, pod.status)

    def _number_of(self, spec: PodSpec) -> int:
        number = self._numbers.get(id(spec))
        if number is None:
            if len(self._specs) == _MOST_SPECS:
                self._specs.clear()
                self._numbers.clear()
            number = self._numbers[id(spec)] = len(self._specs)
            self._specs.append(spec)
            self._send_spec(number, _ENCODER.encode(spec))
        return number


class Unpacker(Generic[ObjT]):
    """Unpacks objects.

    Args:
        kind: The class of the objects.
    """

    def __init__(self, kind: type[ObjT]) -> None:
        self._kind = kind
        self._pool = SpecPool()
        self._specs: dict[int, PodSpec] = {}

    def add_spec(self, number: int, text: bytes) -> None:
        """Store a spec, to which pods refer by its number from now on."""
        self._specs[number] = self._pool.share_spec(_SPECS.decode(text))

    def changes(self, text: bytes) -> list[Change]:
        """Decode packed changes."""
        return _CHANGES.decode(text)

    def object_of(self, change: PackedPod | Text) -> ObjT:
        """Return the object of a change.

        Raises:
            ObjectError: Some fields are invalid.
            msgspec.DecodeError: Its text is not JSON.
        """
        if isinstance(change, Text):
            return decode(change.json, self._kind, pool=self._pool)
        pool = self._pool
        pod = Pod(
            metadata=pool.share_metadata(change.metadata),
            spec=self._specs[change.spec],
            node_name=change.node_name,
            status=pool.share_pod_status(change.status),
        )
        return cast(ObjT, pod)  # nothing else is packed
