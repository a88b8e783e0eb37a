"""The result of ``doctor``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.parts import DocumentPart
from quaymaster._surfaces.deploy.findings import State

__all__ = ["FindingDocument", "RightPart"]


class RightPart(DocumentPart, frozen=True):
    """A right on an API server.

    Attributes:
        verb: The verb, such as list.
        resource: The resource with its subresource, such as pods/binding.
        group: The group of the resource; empty for the core group.
        namespace: The only namespace; empty for all.
        name: The name of the only object; empty for all.
    """

    verb: str
    resource: str
    group: str
    namespace: str
    name: str


class FindingDocument(DocumentPart, frozen=True):
    """The result of a check; ``doctor -o json`` prints a list of them.

    Attributes:
        check: The check, as one word.
        state: The severity.
        found: The finding, and what was expected.
        right: The missing right, if it is about one.
        needed_by: What needs the right, if it is about one.
    """

    check: str
    state: State
    found: str
    right: RightPart | UnsetType = UNSET
    needed_by: list[str] | UnsetType = UNSET
