"""Changes some fields of an object's status."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import inspect

from quaymaster._api.objects.codec import dec_hook, enc_hook
from quaymaster._api.objects.meta import ApiObject
from quaymaster._base.errors import ObjectError, Problem
from quaymaster._base.suggestions import did_you_mean

__all__ = ["with_status"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def with_status(obj: ObjT, changes: Mapping[str, object]) -> ObjT:
    """Return an object with other values in some fields of its status.

    Args:
        obj: The object.
        changes: Field of the status, as its class names it -> new value.

    Raises:
        ObjectError: It has no status, or the status has no such fields or values.
    """
    status = _status_of(obj)
    if status is None:
        raise ObjectError([Problem(path="status", message=f"a {obj.kind} has none")])
    fields = type(status).__struct_fields__
    for name in changes:
        if name not in fields:
            message = f"unknown field{did_you_mean(name, fields)}"
            raise ObjectError([Problem(path=f"status.{name}", message=message)])
    new = msgspec.structs.replace(status, **changes)
    try:
        tree = msgspec.to_builtins(new, enc_hook=enc_hook)
        msgspec.convert(tree, type(status), dec_hook=dec_hook)
    except (msgspec.ValidationError, TypeError) as error:
        text, _, place = str(error).partition(" - at `$")
        path = f"status{place.rstrip('`')}"
        text = text[:1].lower() + text[1:]
        raise ObjectError([Problem(path=path, message=text)]) from error
    return msgspec.structs.replace(obj, status=new)


def _status_of(obj: ApiObject) -> msgspec.Struct | None:
    """Return the status of an object; an empty one if it has none but could."""
    status: object = getattr(obj, "status", None)
    if isinstance(status, msgspec.Struct):
        return status
    info = inspect.type_info(type(obj))
    for field in info.fields if isinstance(info, inspect.StructType) else ():
        members = getattr(field.type, "types", ())
        for member in members if field.name == "status" else ():
            if isinstance(member, inspect.StructType):
                return member.cls()
    return None
