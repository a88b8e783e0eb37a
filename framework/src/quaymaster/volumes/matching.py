"""Which volume a claim gets, and from where volumes can be reached.

Mirrors ``FindMatchingVolume`` and ``CheckNodeAffinity`` (k8s.io/component-helpers
v0.36, ``storage/volume``).
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster.objects import (
    PersistentVolume,
    PersistentVolumeClaim,
    TopologySelectorTerm,
    VolumeResourceRequirements,
)
from quaymaster.quantity import Quantity
from quaymaster.selectors import (
    NodeMatcher,
    Operator,
    Requirement,
    compile_label_selector,
    compile_node_selector,
)
from quaymaster.volumes.claims import class_of_claim, class_of_volume, is_bound_to

__all__ = [
    "Candidate",
    "Candidates",
    "Reach",
    "allows_topology",
    "find_candidates",
    "storage_of",
]

_ZERO: Final = Quantity(0)
_NOTHING: Final[frozenset[str]] = frozenset()


class Reach:
    """From which nodes a volume can be reached, compiled.

    Attributes:
        matcher: What the volume says of nodes; None if it can be reached from all.
    """

    __slots__ = ("matcher",)

    def __init__(self, volume: PersistentVolume) -> None:
        affinity = volume.spec.node_affinity
        required = None if affinity is None else affinity.required
        self.matcher: NodeMatcher | None = (
            None if required is None else compile_node_selector(required)
        )

    @property
    def label_keys(self) -> frozenset[str]:
        """The node labels that it depends on."""
        if self.matcher is None:
            return _NOTHING
        return frozenset(
            requirement.key
            for term in self.matcher.terms
            for requirement in term.labels.requirements
        )

    @property
    def anchor(self) -> Requirement | None:
        """A label that a node must have with one of some values, or None."""
        if self.matcher is None or len(self.matcher.terms) != 1:
            return None
        for requirement in self.matcher.terms[0].labels.requirements:
            if requirement.operator is Operator.IN:
                return requirement
        return None

    def includes(self, labels: Mapping[str, str]) -> bool:
        """Whether the volume can be reached from a node with these labels.

        Only labels are asked: conditions on fields of the node always hold, and terms
        that cannot be evaluated match nothing.
        """
        if self.matcher is None:
            return True
        return any(term.matches("", labels) for term in self.matcher.terms)


@attrs.frozen(eq=False)
class Candidate:
    """A volume that a claim could get, if the node is right.

    Attributes:
        volume: The volume.
        reach: From where it can be reached.
    """

    volume: PersistentVolume
    reach: Reach


@attrs.frozen(eq=False)
class Candidates:
    """The volumes that one claim could get, best first, before any node is looked at.

    Attributes:
        kept: Those that are bound to the claim, or kept for it, in the given order.
        free: The others: the smallest first, then in the given order.
    """

    kept: Sequence[Candidate]
    free: Sequence[Candidate]
    # Positions in ``free``: by label and value, where a volume is only to be reached
    # from nodes with such a label, as local disks are; and those of the others.
    _by_label: Mapping[str, Mapping[str, Sequence[int]]] = attrs.field(init=False)
    _others: Sequence[int] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        by_label: dict[str, dict[str, list[int]]] = {}
        others: list[int] = []
        for position, candidate in enumerate(self.free):
            anchor = candidate.reach.anchor
            if anchor is None:
                others.append(position)
                continue
            for value in anchor.values:
                listed = by_label.setdefault(anchor.key, {}).setdefault(value, [])
                listed.append(position)
        object.__setattr__(self, "_by_label", by_label)
        object.__setattr__(self, "_others", others)

    def best(
        self, labels: Mapping[str, str], taken: Container[str] = ()
    ) -> PersistentVolume | None:
        """The volume to take for a pod on a node with these labels, or None.

        A volume that is kept for the claim is the only choice, on whatever node.

        Args:
            labels: The node's labels.
            taken: The names of volumes that other claims of the pod get.
        """
        for candidate in self.kept:
            if candidate.volume.metadata.name not in taken:
                reachable = candidate.reach.includes(labels)
                return candidate.volume if reachable else None
        found = [
            position
            for listed in self._listed_for(labels)
            if (position := self._first(listed, labels, taken)) is not None
        ]
        return self.free[min(found)].volume if found else None

    def _listed_for(self, labels: Mapping[str, str]) -> Iterator[Sequence[int]]:
        yield self._others
        for key, by_value in self._by_label.items():
            if key in labels:
                yield by_value.get(labels[key], ())

    def _first(
        self, listed: Sequence[int], labels: Mapping[str, str], taken: Container[str]
    ) -> int | None:
        for position in listed:
            candidate = self.free[position]
            if candidate.volume.metadata.name not in taken and candidate.reach.includes(
                labels
            ):
                return position
        return None

    @property
    def label_keys(self) -> frozenset[str]:
        """The node labels that the choice depends on."""
        both = (*self.kept, *self.free)
        return _NOTHING.union(*(candidate.reach.label_keys for candidate in both))


def find_candidates(
    claim: PersistentVolumeClaim, volumes: Iterable[PersistentVolume]
) -> Candidates:
    """Find the volumes that a claim could get.

    Args:
        claim: A claim that is not bound.
        volumes: The volumes there are; those of other classes may be among them.

    Raises:
        SelectorError: The claim's selector cannot be evaluated.
    """
    spec = claim.spec
    selector = None if spec.selector is None else compile_label_selector(spec.selector)
    wanted_class, wanted_size = class_of_claim(claim), storage_of(spec.resources)
    kept: list[Candidate] = []
    free: list[tuple[Quantity, Candidate]] = []
    for volume in volumes:
        is_kept = is_bound_to(volume, claim)
        if volume.spec.claim_ref is not None and not is_kept:
            continue
        size = volume.spec.capacity.get("storage", _ZERO)
        if size < wanted_size or not _is_usable(volume, claim):
            continue
        if is_kept:
            kept.append(Candidate(volume, Reach(volume)))
        elif (
            volume.status.phase == "Available"
            and (selector is None or selector.matches(volume.metadata.labels))
            and class_of_volume(volume) == wanted_class
            and set(spec.access_modes) <= set(volume.spec.access_modes)
        ):
            free.append((size, Candidate(volume, Reach(volume))))
    free.sort(key=lambda one: one[0].nanos)
    return Candidates(kept, [candidate for _, candidate in free])


def storage_of(resources: VolumeResourceRequirements) -> Quantity:
    """How much storage is requested; 0 if that is not said."""
    return resources.requests.get("storage", _ZERO)


def allows_topology(
    terms: Sequence[TopologySelectorTerm], labels: Mapping[str, str]
) -> bool:
    """Whether volumes can be made for a node with these labels.

    Mirrors ``MatchTopologySelectorTerms`` (Kubernetes v1.36,
    ``pkg/apis/core/v1/helper/helpers.go``): without terms they can be made everywhere,
    an empty term allows nothing.
    """
    if not terms:
        return True
    return any(
        term.match_label_expressions
        and all(
            expression.key in labels and labels[expression.key] in expression.values
            for expression in term.match_label_expressions
        )
        for term in terms
    )


def _is_usable(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether mode and attributes are those that the claim wants."""
    want, have = claim.spec, volume.spec
    return (
        _mode(want.volume_mode) == _mode(have.volume_mode)
        and (want.volume_attributes_class_name or "")
        == (have.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
    )


def _mode(mode: str | None) -> str:
    return "Filesystem" if mode is None else mode
