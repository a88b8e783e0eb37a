"""The first difference of two variants, and the differences of their results."""

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._core.cycle.explanation import Explanation
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.comparing.outcome import Decision, Outcome

__all__ = ["Difference", "Divergence", "MovedWorkload", "first_difference", "moved"]


@attrs.frozen(kw_only=True)
class Divergence:
    """The first decision that two variants make differently.

    All decisions before it are the same, so that both variants saw the same cluster.

    Attributes:
        number: Its number in the sequence of all decisions, from 1.
        first: The decision of the first variant; None if it had none left.
        other: The decision of the other variant; None likewise.
        first_explanation: The verdict of every plugin of the first variant about every
            node; None where the two tried different pods.
        other_explanation: The same for the other variant.
    """

    number: int
    first: Decision | None
    other: Decision | None
    first_explanation: Explanation | None = attrs.field(default=None, repr=False)
    other_explanation: Explanation | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class MovedWorkload:
    """A workload, or a single pod, that two variants place differently.

    Attributes:
        workload: Its name, such as ``deployment.apps/default/web``.
        pods: How many of its pods are placed differently.
        first: Node -> how many more of its pods the first variant placed there; the
            empty name is for pending pods.
        other: Node -> how many more of its pods the other variant placed there.
    """

    workload: str
    pods: int
    first: Mapping[str, int]
    other: Mapping[str, int]


@attrs.frozen(kw_only=True)
class Difference:
    """How another variant differs from the first one.

    Attributes:
        variant: The other variant's name.
        figures: How much higher each figure is than the first variant's, seed by seed;
            figures that only one of the two has are left out.
        moved: The workloads that are placed differently with the first seed, those with
            the most pods first.
        divergence: The first decision that differs with the first seed, or None.
    """

    variant: str
    figures: Mapping[str, Estimate]
    moved: tuple[MovedWorkload, ...]
    divergence: Divergence | None


def moved(first: Outcome, other: Outcome) -> tuple[MovedWorkload, ...]:
    """Return the workloads whose pods are on other nodes, most pods first."""
    workloads = []
    for name in dict.fromkeys((*first.places, *other.places)):
        ours = Counter(first.places.get(name, {}))
        theirs = Counter(other.places.get(name, {}))
        left, right = ours - theirs, theirs - ours
        pods = max(left.total(), right.total())
        if pods:
            workloads.append(
                MovedWorkload(workload=name, pods=pods, first=left, other=right)
            )
    return tuple(sorted(workloads, key=lambda moved: (-moved.pods, moved.workload)))


def first_difference(
    first: Sequence[Decision], other: Sequence[Decision]
) -> Divergence | None:
    """Return the first decision that differs, or None if all are the same."""
    for number, (ours, theirs) in enumerate(zip(first, other, strict=False), 1):
        if (ours.pod, ours.node) != (theirs.pod, theirs.node):
            return Divergence(number=number, first=ours, other=theirs)
    shared = min(len(first), len(other))
    if len(first) == len(other):
        return None
    return Divergence(
        number=shared + 1,
        first=first[shared] if shared < len(first) else None,
        other=other[shared] if shared < len(other) else None,
    )
