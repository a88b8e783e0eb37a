"""How objects travel to the engine: only what scheduling reads of a pod.

Pods of one template are many, and their specs are most of their text: a spec is sent
once, and later pods name its number. Objects of other kinds go as the server gave them.
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

_MOST_SPECS: Final = 4096  # chosen: far more templates than are in use at a time


class PackedPod(msgspec.Struct, array_like=True, tag_field="form", tag=0, gc=False):
    """A pod that was added or changed, or its last state when it was deleted.

    Attributes:
        type: Such as ``ADDED``.
        metadata: All of it that scheduling reads.
        spec: The number of its spec.
        node_name: The node that it is bound to.
        status: All of it that scheduling reads.
    """

    type: str
    metadata: ObjectMeta
    spec: int
    node_name: str
    status: PodStatus


class Text(msgspec.Struct, array_like=True, tag_field="form", tag=1, gc=False):
    """Any object, as the server gave it, in JSON."""

    type: str
    json: bytes


class Gone(msgspec.Struct, array_like=True, tag_field="form", tag=2, gc=False):
    """An object that is no more; its deletion itself was missed."""

    key: str


Change: TypeAlias = PackedPod | Text | Gone

_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=enc_hook)
_CHANGES: Final = msgspec.msgpack.Decoder(list[Change], dec_hook=dec_hook)
_SPECS: Final = msgspec.msgpack.Decoder(PodSpec, dec_hook=dec_hook)


def pack(changes: list[Change]) -> bytes:
    """Make one text of some changes."""
    return _ENCODER.encode(changes)


class PodPacker:
    """Packs pods, and tells each spec ahead of the first pod that has it.

    Args:
        tell_spec: Takes the number of a spec, and its packed text. A number that was
            told before stands for another spec from then on.
    """

    def __init__(self, tell_spec: Callable[[int, bytes], None]) -> None:
        self._tell_spec = tell_spec
        self._pool = SpecPool()
        # The pool shares specs, so they are told apart by identity while they live.
        self._numbers: dict[int, int] = {}
        self._specs: list[PodSpec] = []

    def packed(self, change_type: str, text: msgspec.Raw) -> Change:
        """Pack a pod; one that cannot be read goes as it is, for the engine to tell."""
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
            self._tell_spec(number, _ENCODER.encode(spec))
        return number


class Unpacker(Generic[ObjT]):
    """Makes objects of what was packed.

    Args:
        kind: The class of the objects.
    """

    def __init__(self, kind: type[ObjT]) -> None:
        self._kind = kind
        self._pool = SpecPool()
        self._specs: dict[int, PodSpec] = {}

    def learn_spec(self, number: int, text: bytes) -> None:
        """Take a spec, which pods name by its number from now on."""
        self._specs[number] = self._pool.share_spec(_SPECS.decode(text))

    def changes(self, text: bytes) -> list[Change]:
        """The changes in a packed text."""
        return _CHANGES.decode(text)

    def object_of(self, change: PackedPod | Text) -> ObjT:
        """The object of a change.

        Raises:
            ObjectError: Some fields are wrong.
            msgspec.DecodeError: Its text is no JSON.
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
