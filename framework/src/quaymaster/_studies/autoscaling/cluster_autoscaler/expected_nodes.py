"""The nodes that are expected, which stand in the trial from loop to loop.

Mirrors ``addUpcomingNodesToClusterSnapshot`` (``core/static_autoscaler.go``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
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
        self._wanted: Mapping[str, tuple[int, Template]] = {}

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
        wanted = {
            group: (count, templates[group]) for group, (count, _) in upcoming.items()
        }
        # In most loops the same nodes are expected as in the last one. Elsewhere nodes
        # fall only all together.
        is_same = (
            wanted == self._wanted and trial.standing_names == self._templates.keys()
        )
        starting = set(chain.from_iterable(names for _, names in upcoming.values()))
        if not is_same:
            self._let_fall(wanted)
        for name in trial.hidden - starting:
            trial.show(name)
        if not is_same:
            self._let_stand(wanted)
            self._wanted = wanted
        for name in starting - trial.hidden:
            trial.hide(name)
        return starting

    def _let_fall(self, wanted: Mapping[str, tuple[int, Template]]) -> None:
        """Let the nodes fall that are no longer expected."""
        expected = {template.node.name: template for template, _ in self._all(wanted)}
        for name, template in [*self._templates.items()]:
            if not self._trial.stands(name):
                del self._templates[name]
            # Identity: a template is the same object until its example changes.
            elif expected.get(name) is not template:
                del self._templates[name]
                self._trial.fall(name)

    def _let_stand(self, wanted: Mapping[str, tuple[int, Template]]) -> None:
        """Let the nodes stand that do not stand yet."""
        for template, place in self._all(wanted):
            name = template.node.name
            if name not in self._templates:
                self._templates[name] = template
                self._trial.stand(template.node, template.pods, place)

    def _all(
        self, wanted: Mapping[str, tuple[int, Template]]
    ) -> Iterator[tuple[Template, int]]:
        """Yield the expected nodes with their places."""
        for group, (count, template) in wanted.items():
            for number in range(count):
                yield template.named(f"upcoming-{number}"), self._places[group] + number
