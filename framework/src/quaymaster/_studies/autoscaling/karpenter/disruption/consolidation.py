"""Whether nodes can go, and what would replace them.

Mirrors ``computeConsolidation`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/disruption/consolidation.go``).
"""

import operator
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import (
    Command,
    source_price,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    CANDIDATE,
    DisruptionEvents,
    Report,
    node_events,
    sentence,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import (
    Survey,
    Trial,
)
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    launch_prices,
    order_by_price,
    satisfies_min_values,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    ON_DEMAND,
    SPOT,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.autoscaling.karpenter.state_node import StateNode

__all__ = ["Consolidation", "cheaper_types"]

_SPOT_TYPES: Final = 15
"""How many cheaper types a spot node needs to be replaced by spot."""
_SPOT_OFF: Final = (
    "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"
)
_NODE: Final = operator.attrgetter("node")
_NOT_CHEAPER: Final = "Can't replace with a cheaper node"


class Consolidation:
    """Tries to do without some nodes.

    Args:
        survey: The cluster.
        report: Gets events.
    """

    def __init__(self, survey: Survey, report: Report) -> None:
        self._survey = survey
        self._report = report
        self._well_known = survey.options.well_known_labels

    def command(self, candidates: Sequence[Candidate]) -> Command | None:
        """Return how several nodes can go together, or None."""
        self._survey.report_pools(self._report)
        survey = self._survey
        fails = survey.surely_fails if survey.follows_trials else survey.surely_stay
        if fails(candidates):
            return None
        return self.tried(candidates)

    def refuse_all(self, candidates: Sequence[Candidate]) -> None:
        """Report nodes that surely stay."""
        self._report.refuse_all([*map(_NODE, candidates)], self._why_not)

    def _why_not(self, node: StateNode) -> str:
        """Return why a node that surely stays cannot go."""
        candidate = self._survey.finder.candidate(node)
        assert isinstance(candidate, Candidate)  # as the look found it
        events = DisruptionEvents()
        trial = self._survey.trial([candidate], consolidates=True)
        command = Consolidation(self._survey, events)._after([candidate], trial)
        assert command is None  # otherwise it might go
        return events.events[0].message

    def tried(self, candidates: Sequence[Candidate]) -> Command | None:
        """Return how nodes can go together, by a trial, or None.

        Args:
            candidates: The nodes; why a single one cannot go is reported.
        """
        trial = self._survey.successful_trial(candidates)
        if trial is not None:
            return self._after(candidates, trial)
        if len(candidates) == 1:
            self.refuse_all(candidates)
        return None

    def _after(self, candidates: Sequence[Candidate], trial: Trial) -> Command | None:
        """Return how nodes can go together after a trial, or None."""
        if trial.problems:
            self._refuse(candidates, sentence(trial.problem))
            return None
        if not trial.claims:
            return Command(candidates=candidates, moves=trial.moves)
        count = len(trial.claims)
        # Two smaller nodes in place of a large one are not considered, even if they
        # would be cheaper (``computeConsolidation``).
        if count > 1:
            text = f"Can't remove without creating {count} candidates"
            self._refuse(candidates, text)
            return None
        [claim] = trial.claims
        # Before types are removed by their price: ``minValues`` is counted from the
        # cheapest type on.
        types = order_by_price(
            claim.instance_types, claim.requirements, self._well_known
        )
        replacement = self._replacement(
            candidates, attrs.evolve(claim, instance_types=types)
        )
        if replacement is None:
            return None
        return self._with_replacement(candidates, trial, replacement)

    def _with_replacement(
        self, candidates: Sequence[Candidate], trial: Trial, replacement: ProposedClaim
    ) -> Command:
        command = Command(
            candidates=candidates,
            replacements=(replacement,),
            moves=trial.moves,
            well_known=self._well_known,
        )
        for candidate in candidates:
            text = (
                f"Consolidation candidate: {command.text_for(candidate)} "
                f"(savings: ${command.savings:.2f})"
            )
            for event in node_events(candidate.node, CANDIDATE, text):
                self._report(event)
        return command

    def _replacement(
        self, candidates: Sequence[Candidate], claim: ProposedClaim
    ) -> ProposedClaim | None:
        """Return the claim with the types that are cheaper than nodes, or None."""
        capacity = claim.requirements.get(CAPACITY_TYPE)
        are_spot = all(each.capacity_type == SPOT for each in candidates)
        if are_spot and capacity.has(SPOT):
            return self._spot_replacement(candidates, claim)
        cheaper = self._cheaper(candidates, claim)
        if cheaper is None:
            return None
        # The types are cheaper as spot. If there is none, the launch must fail rather
        # than take a dearer on-demand node.
        if capacity.has(SPOT) and capacity.has(ON_DEMAND):
            return _as_spot(cheaper)
        return cheaper

    def _spot_replacement(
        self, candidates: Sequence[Candidate], claim: ProposedClaim
    ) -> ProposedClaim | None:
        if not self._survey.options.spot_to_spot_consolidation:
            self._refuse(candidates, _SPOT_OFF)
            return None
        claim = _as_spot(claim)
        types = [
            each for each in claim.instance_types if self._is_available(each, claim)
        ]
        cheaper = self._cheaper(candidates, attrs.evolve(claim, instance_types=types))
        if cheaper is None or len(candidates) > 1:
            return cheaper
        count = len(cheaper.instance_types)
        if count < _SPOT_TYPES:
            text = (
                f"SpotToSpotConsolidation requires {_SPOT_TYPES} cheaper instance type "
                f"options than the current candidate to consolidate, got {count}"
            )
            self._refuse(candidates, text)
            return None
        # A launch takes one of the list. With more types in it, the next round could
        # replace the node again.
        check = satisfies_min_values(cheaper.instance_types, cheaper.requirements)
        most = max(_SPOT_TYPES, check.needed_types)
        return attrs.evolve(cheaper, instance_types=cheaper.instance_types[:most])

    def _is_available(self, instance_type: InstanceType, claim: ProposedClaim) -> bool:
        return any(
            offering.available
            and claim.requirements.compatible(offering.requirements, self._well_known)
            for offering in instance_type.offerings
        )

    def _cheaper(
        self, candidates: Sequence[Candidate], claim: ProposedClaim
    ) -> ProposedClaim | None:
        price = source_price(candidates)
        cheaper, problem = cheaper_types(claim, price, self._well_known)
        if problem:
            self._refuse(candidates, f"Filtering by price: {problem}")
            return None
        if not cheaper.instance_types:
            self._refuse(candidates, _NOT_CHEAPER)
            return None
        return cheaper

    def _refuse(self, candidates: Sequence[Candidate], text: str) -> None:
        """Report why a node cannot go; nothing if there are several."""
        if len(candidates) == 1:
            self._report.refuse(candidates[0].node, text)


def cheaper_types(
    claim: ProposedClaim, price: float, well_known: frozenset[str]
) -> tuple[ProposedClaim, str]:
    """Return a claim with the types whose launch surely costs less than a price.

    Returns:
        The claim, and why these types are too few, or empty.
    """
    requirements = claim.requirements
    types = [
        each
        for each in claim.instance_types
        # The dearest offering of a type, as the cloud may launch any of them.
        if launch_prices(each, requirements, well_known)[1] < price
    ]
    check = satisfies_min_values(types, claim.requirements)
    return attrs.evolve(claim, instance_types=types), check.problem


def _as_spot(claim: ProposedClaim) -> ProposedClaim:
    requirements: Requirements = claim.requirements.copy()
    requirements.add([Requirement.of(CAPACITY_TYPE, "In", (SPOT,))])
    return attrs.evolve(claim, requirements=requirements)
