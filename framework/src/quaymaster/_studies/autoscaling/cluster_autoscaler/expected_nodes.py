"""The nodes that are expected, which stand in the trial from loop to loop.

Mirrors ``addUpcomingNodesToClusterSnapshot`` (``core/static_autoscaler.go``).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Final

from quaymaster._studies.autoscaling.cluster_autoscaler.standing_trial import (
    StandingTrial,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template

__all__ = ["ExpectedNodes"]

_PLACES: Final = 1 << 20
"""More than a group ever has nodes."""


class ExpectedNodes:
    """Replaces nodes that are expected by ready ones.

    Args:
        trial: The cluster.
        groups: The names of all groups; their expected nodes stand in this order.
    """

    def __init__(self, trial: StandingTrial, groups: Iterable[str]) -> None:
        self._trial = trial
        # Fixed: a group may get its first expected node while others stand.
        self._places = {group: _PLACES * number for number, group in enumerate(groups)}
        self._templates: dict[str, Template] = {}

    def stand(
        self,
        upcoming: Mapping[str, tuple[int, Sequence[str]]],
        templates: Mapping[str, Template],
    ) -> Set[str]:
        """Let the expected nodes stand; those that stand already are not changed.

        Args:
            upcoming: Group -> how many nodes, and the names of those that start.
            templates: What new nodes look like, by group.

        Returns:
            The names of the nodes that start.
        """
        trial = self._trial
        expected = {
            template.node.name: (template, self._places[group] + number)
            for group, (count, _) in upcoming.items()
            for number in range(count)
            for template in [templates[group].named(f"upcoming-{number}")]
        }
        starting = set(chain.from_iterable(names for _, names in upcoming.values()))
        for name, template in [*self._templates.items()]:
            # Identity: a template is the same object until its example changes.
            if not trial.stands(name):
                del self._templates[name]
            elif name not in expected or expected[name][0] is not template:
                del self._templates[name]
                trial.fall(name)
        for name in trial.hidden - starting:
            trial.show(name)
        for name, (template, place) in expected.items():
            if name not in self._templates:
                self._templates[name] = template
                trial.stand(template.node, template.pods, place)
        for name in starting - trial.hidden:
            trial.hide(name)
        return starting
