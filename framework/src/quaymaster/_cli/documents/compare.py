"""The result of ``compare``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.parts import (
    DecidedPart,
    DocumentPart,
    NodeScoresPart,
    RejectionPart,
    WarningPart,
)

__all__ = [
    "ChangedDecisionPart",
    "CompareDocument",
    "ComparedDecisionPart",
    "DifferencePart",
    "DivergencePart",
    "EstimatePart",
    "MovedWorkloadPart",
    "SeedRunPart",
    "VariantPart",
    "VersionCausePart",
    "VersionChangesPart",
]


class EstimatePart(DocumentPart, frozen=True):
    """A mean over seeds.

    Attributes:
        mean: The mean.
        half_width: Half of the width of its 95 % confidence interval; missing with a
            single seed.
    """

    mean: float
    half_width: float | UnsetType = UNSET


class SeedRunPart(DocumentPart, frozen=True):
    """The simulation of a variant with one seed.

    Attributes:
        seed: The seed.
        figures: Figure -> its value.
    """

    seed: int
    figures: dict[str, float]


class VariantPart(DocumentPart, frozen=True):
    """A variant that is compared.

    Attributes:
        name: Its name.
        figures: Figure -> its mean.
        runs: The simulation with each seed.
    """

    name: str
    figures: dict[str, EstimatePart]
    runs: list[SeedRunPart]


class MovedWorkloadPart(DocumentPart, frozen=True):
    """A workload whose pods are on other nodes.

    Attributes:
        workload: The workload.
        pods: How many of its pods are on other nodes.
        first: Node -> number of pods in the first variant; empty name for pending.
        other: Node -> number of pods in the other variant.
    """

    workload: str
    pods: int
    first: dict[str, int]
    other: dict[str, int]


class ComparedDecisionPart(DocumentPart, frozen=True):
    """The decision of a variant.

    Attributes:
        pod: The namespace and name of the pod.
        node: The node; empty if it got none.
        rejections: The rejections of the nodes of both decisions, if explained.
        scores: The scores of the nodes of both decisions, if explained.
        tie_breaker: What chooses among nodes with the same total, if explained.
    """

    pod: str
    node: str
    rejections: list[RejectionPart] | UnsetType = UNSET
    scores: list[NodeScoresPart] | UnsetType = UNSET
    tie_breaker: str | UnsetType = UNSET


class DivergencePart(DocumentPart, frozen=True):
    """The first decision that differs.

    Attributes:
        number: Its number, from 1.
        first: The decision of the first variant; null if it has no more.
        other: The decision of the other variant; null if it has no more.
    """

    number: int
    first: ComparedDecisionPart | None
    other: ComparedDecisionPart | None


class DifferencePart(DocumentPart, frozen=True):
    """The difference between a variant and the first one.

    Attributes:
        variant: The name of the variant.
        figures: Figure -> the mean of its differences.
        moved: The workloads whose pods are on other nodes.
        first_difference: The first decision that differs; null if none does.
    """

    variant: str
    figures: dict[str, EstimatePart]
    moved: list[MovedWorkloadPart]
    first_difference: DivergencePart | None


class VersionCausePart(DocumentPart, frozen=True):
    """A change of Kubernetes that explains a difference.

    Attributes:
        change: Its name.
        page: The page that documents it.
    """

    change: str
    page: str


class ChangedDecisionPart(DocumentPart, frozen=True):
    """A decision that two versions of Kubernetes make differently.

    Attributes:
        pod: The namespace and name of the pod.
        at: The time, in seconds since the beginning.
        older: The decision of the older version.
        newer: The decision of the newer version.
        only_message: Whether only the message differs.
        causes: The changes that explain it; empty if unknown.
    """

    pod: str
    at: float
    older: DecidedPart
    newer: DecidedPart
    only_message: bool
    causes: list[VersionCausePart]


class VersionChangesPart(DocumentPart, frozen=True):
    """What two versions of Kubernetes decide differently with one configuration.

    Attributes:
        configuration: The configuration.
        older: The older version.
        newer: The newer version.
        decisions: How many decisions were compared.
        changed: The decisions and messages that differ.
    """

    configuration: str
    older: str
    newer: str
    decisions: int
    changed: list[ChangedDecisionPart]


class CompareDocument(DocumentPart, frozen=True):
    """How configurations, versions or inputs differ: ``compare -o json``.

    Attributes:
        seeds: The seeds of the simulations.
        variants: The variants.
        differences: The difference between each other variant and the first one.
        warnings: What was left out or assumed.
        changes: The decisions that differ between versions of Kubernetes; only if
            versions are compared.
    """

    seeds: list[int]
    variants: list[VariantPart]
    differences: list[DifferencePart]
    warnings: list[WarningPart]
    changes: list[VersionChangesPart] | UnsetType = UNSET
