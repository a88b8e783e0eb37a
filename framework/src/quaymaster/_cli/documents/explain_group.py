"""The result of ``explain podgroup/NAME``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.explain import SuggestionsPart
from quaymaster._cli.documents.explained_groups import ExplainedGroupPart
from quaymaster._cli.documents.parts import WarningPart

__all__ = ["ExplainGroupDocument"]


class ExplainGroupDocument(ExplainedGroupPart, frozen=True):
    """Why the pods of a PodGroup have nodes, or have none: ``explain podgroup/NAME``.

    Attributes:
        warnings: What was left out or assumed.
        suggestions: The changes that make it fit, with --suggest.
    """

    warnings: list[WarningPart]
    suggestions: SuggestionsPart | UnsetType = UNSET
