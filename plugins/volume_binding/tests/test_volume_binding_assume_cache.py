"""Assumed objects replace only the versions that they were made from."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.columns import ChangeLog
from quaymaster.objects import ObjectIndex, PersistentVolume
from quaymaster.testing import make_persistent_volume
from quaymaster_volume_binding.assume_cache import AssumeCache, OutOfSyncError

ObjT = TypeVar("ObjT", bound=ApiObject)
K = TypeVar("K", bound=Hashable)


class FixedInformers:
    """Informers with an object that the test sets."""

    def __init__(self, *objects: ApiObject) -> None:
        self.objects = {(type(obj), obj.key): obj for obj in objects}

    def put(self, obj: ApiObject) -> None:
        self.objects[type(obj), obj.key] = obj

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        found = self.objects.get((kind, key))
        return found if isinstance(found, kind) else None

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        return [obj for obj in self.objects.values() if isinstance(obj, kind)]

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        return ObjectIndex(self, kind, by)

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        return ChangeLog()

    def on_change(
        self, kind: type[ObjT], callback: Callable[[ObjT | None, ObjT | None], None]
    ) -> Callable[[], None]:
        raise AssertionError("the code under test reads the log")


def volume(version: str, storage: str = "1Gi") -> PersistentVolume:
    made = make_persistent_volume(storage=storage)
    return replace(made, metadata=replace(made.metadata, resource_version=version))


def test_an_assumed_object_stands_until_the_informer_has_a_newer_one() -> None:
    informers = FixedInformers(volume("1"))
    cache = AssumeCache(PersistentVolume, informers)
    assumed = volume("1", "2Gi")
    cache.assume(assumed)
    assert cache.get("volume") is assumed
    newer = volume("2")
    informers.put(newer)
    assert cache.get("volume") is newer
    assert len(cache) == 0


def test_an_assumed_object_can_be_taken_back() -> None:
    informers = FixedInformers(volume("1"))
    cache = AssumeCache(PersistentVolume, informers)
    assumed = volume("1", "2Gi")
    cache.assume(assumed)
    cache.restore(volume("1", "3Gi"))
    assert cache.get("volume") is assumed
    cache.restore(assumed)
    cache.restore(assumed)
    assert cache.get("volume") == volume("1")


def test_an_assumed_object_that_is_deleted_is_gone() -> None:
    informers = FixedInformers(volume("1"))
    cache = AssumeCache(PersistentVolume, informers)
    cache.assume(volume("1", "2Gi"))
    informers.objects.clear()
    assert cache.get("volume") is None


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        pytest.param(
            ["2"], '"volume" is out of sync (stored: 2, assume: 1)', id="newer"
        ),
        pytest.param([], 'persistentvolumes "volume" not found', id="gone"),
    ],
)
def test_an_object_that_has_changed_cannot_be_assumed(
    stored: list[str], text: str
) -> None:
    cache = AssumeCache(PersistentVolume, FixedInformers(*map(volume, stored)))
    with pytest.raises(OutOfSyncError) as caught:
        cache.assume(volume("1"))
    assert str(caught.value) == text
