"""Templates of objects that a step creates many times."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Job, ObjectMeta, Pod, SpecPool, encode
from quaymaster._api.objects.wire import decode
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION

__all__ = ["NUMBER", "Template", "can_run_for", "made"]

ObjT = TypeVar("ObjT", bound=ApiObject)

NUMBER: Final = "$(number)"
"""The placeholder of an object's number in its texts."""


@attrs.frozen(eq=False)
class Template:
    """A template of many objects.

    Attributes:
        obj: The object.
        text: Its JSON, if the number occurs in it; else None.
        pool: The pool of parts that all its objects share.
    """

    obj: ApiObject
    text: bytes | None
    pool: SpecPool = attrs.field(repr=False)

    @classmethod
    def of(cls, obj: ApiObject, pool: SpecPool) -> "Template":
        """Make a template of an object."""
        text = encode(obj)
        return cls(obj, text if NUMBER.encode() in text else None, pool)

    def numbered(self, number: int | None) -> ApiObject:
        """Make one of the objects.

        Args:
            number: Its number; None if there is only one.
        """
        obj = self.obj
        if self.text is not None:
            text = self.text.replace(NUMBER.encode(), str(number or 0).encode())
            obj = decode(text, type(obj), pool=self.pool)
        has_own_name = NUMBER in self.obj.metadata.name
        if number is None or has_own_name or not obj.metadata.name:
            return obj
        metadata = replace(obj.metadata, name=f"{obj.metadata.name}-{number}")
        return replace(obj, metadata=metadata)


def made(
    templates: Sequence[Template],
    number: int | None,
    run_times: Iterator[float] | None,
) -> Iterator[ApiObject]:
    """Make one object of each template.

    Args:
        templates: The templates.
        number: The number of the objects; None if there is only one of each.
        run_times: How long they run, in seconds, one after the other; or None.
    """
    for template in templates:
        obj = template.numbered(number)
        if run_times is not None and can_run_for(obj):
            obj = _running_for(obj, next(run_times))
        yield obj


def can_run_for(obj: ApiObject) -> bool:
    """Whether the pods of an object may have a run time."""
    return isinstance(obj, Pod | Job)


def _running_for(obj: ObjT, seconds: float) -> ObjT:
    text = f"{seconds:.6f}".rstrip("0").rstrip(".")
    if isinstance(obj, Job):
        template = obj.spec.template
        new = replace(template, metadata=_annotated(template.metadata, text))
        return replace(obj, spec=replace(obj.spec, template=new))
    return replace(obj, metadata=_annotated(obj.metadata, text))


def _annotated(metadata: ObjectMeta, seconds: str) -> ObjectMeta:
    annotations = {**metadata.annotations, RUN_SECONDS_ANNOTATION: seconds}
    return replace(metadata, annotations=annotations)
