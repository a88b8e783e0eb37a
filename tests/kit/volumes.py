"""Storage classes for tests."""

from msgspec.structs import replace

from quaymaster.objects import StorageClass
from quaymaster.testing import make_storage_class

__all__ = ["make_default_class"]

_IS_DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


def make_default_class(volume_binding_mode: str) -> StorageClass:
    """Make the storage class of claims that name none."""
    made = make_storage_class(volume_binding_mode=volume_binding_mode)
    return replace(made, metadata=replace(made.metadata, annotations=_IS_DEFAULT))
