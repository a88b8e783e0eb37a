"""Objects of older versions of the kinds that plugins declare."""

from collections.abc import Mapping

import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._base.raised import describe_exception
from quaymaster._clusters.manifests.texts import ContentError, ObjectText
from quaymaster._clusters.manifests.types import ObjectType

__all__ = ["in_declared_version"]


def in_declared_version(entry: ObjectText, kind: type[ApiObject]) -> ObjectText:
    """Convert an object to the version of its class.

    Args:
        entry: The object.
        kind: Its class, which has a conversion for its version.

    Raises:
        ContentError: The function failed, or did not return an object.
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    version = entry.typed.api_version
    convert = kind.conversions[version]
    try:
        tree = convert(entry.fields())
    # The function belongs to a package, so it may raise anything.
    except Exception as error:
        message = f"cannot be converted from {version}: {describe_exception(error)}"
        raise ContentError("", message) from error
    if not isinstance(tree, Mapping):
        got = f"returned {type(tree).__name__}, expected an object"
        raise ContentError("", f"cannot be converted from {version}: {got}")
    text = msgspec.json.encode(
        {**tree, "apiVersion": kind.api_version, "kind": kind.kind}
    )
    typed = ObjectType(kind.api_version, kind.kind)
    return ObjectText(text, typed, entry.source, entry.duplicates)
