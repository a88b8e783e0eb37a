"""Problems of objects that admission rejects."""

from collections.abc import Iterable

from quaymaster._api.objects import ApiObject
from quaymaster._base.errors import Problem
from quaymaster._core.contract.cluster import InvalidError

__all__ = ["AdmissionError", "place_of"]


class AdmissionError(InvalidError):
    """Some objects break rules, so the cluster does not store them.

    Attributes:
        problems: All problems of the objects.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def place_of(obj: ApiObject) -> str:
    """Return the name of an object in messages, such as ``Pod default/web-0``."""
    metadata = obj.metadata
    name = metadata.name or f"{metadata.generate_name}*"
    if obj.namespaced:
        name = f"{metadata.namespace or 'default'}/{name}"
    return f"{obj.kind} {name}"
