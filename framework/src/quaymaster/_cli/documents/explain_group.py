"""The result of ``explain podgroup/NAME``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.explain import SuggestionsPart
from quaymaster._cli.documents.explained_groups import ExplainedGroupPart
from quaymaster._cli.documents.parts import WarningPart

__all__ = ["ExplainGroupDocument"]


class ExplainGroupDocument(ExplainedGroupPart, frozen=True):
    """Why the pods of a PodGroup have nodes, or have none: ``explain podgroup/NAME``.

    Attributes:
        group: The namespace and name of the PodGroup.
        outcome: Its state at the end.
        message: What it waits for, or why it does not fit.
        min_count: The pods that must fit together; null without a gang policy.
        topology_key: The label of nodes whose value its pods must share; may be empty.
        nodes: The number of nodes at the end.
        unlabelled_nodes: How many of them lack that label; the group can use none of
            these.
        parents: The CompositePodGroups above it, from its parent to the root.
        misfits: The other PodGroups below that root whose last attempt found no
            placement.
        missing: How many pods must still be created before it is tried.
        pods: Its pods.
        placements: The placements of the attempt that is shown.
        attempt: The number of that attempt, from 1; 0 if there was none.
        attempts: All attempts.
        warnings: What was left out or assumed.
        suggestions: The changes that make it fit, with --suggest.
    """

    warnings: list[WarningPart]
    suggestions: SuggestionsPart | UnsetType = UNSET
