"""Why an expander prefers one group to another, in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._base.errors import counted
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import (
    Expander,
    Expansion,
    waste_of,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.price_expander import (
    PriceExpander,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template

__all__ = ["ExpanderReasons"]


class ExpanderReasons:
    """Says which expander has dropped an option, and why.

    Args:
        expanders: The expanders by name, in order.
    """

    def __init__(self, expanders: Mapping[str, Expander]) -> None:
        self._expanders = expanders

    def losses(
        self,
        options: Sequence[Expansion],
        chosen: str,
        templates: Mapping[str, Template],
    ) -> Mapping[str, str]:
        """Return why each option was not chosen, by its group.

        Args:
            options: All options.
            chosen: The group of the best one; empty if the expanders kept none.
            templates: What new nodes look like, by group.
        """
        losses: dict[str, str] = {}
        best = next((each for each in options if each.group == chosen), None)
        left = options
        for name, expander in self._expanders.items():
            kept = expander(left, templates)
            for option in left:
                # Identity: expanders return some of the options themselves.
                if all(option is not other for other in kept):
                    why = self._why(name, option, best, templates)
                    losses[option.group] = why
            left = kept
            if len(left) == 1:
                return losses
        for option in left:
            if option.group != chosen:
                losses[option.group] = f"random: chance has chosen {chosen}"
        return losses

    def _why(
        self,
        name: str,
        option: Expansion,
        best: Expansion | None,
        templates: Mapping[str, Template],
    ) -> str:
        if best is None:
            return f"{name}: it keeps no group"
        measure = self._measure(name)
        if measure is None:
            return f"{name}: it prefers {best.group}"
        own, other = (measure(each, templates[each.group]) for each in (option, best))
        return f"{name}: {own}; {best.group}: {other}"

    def _measure(self, name: str) -> "_Measure | None":
        expander = self._expanders[name]
        if not isinstance(expander, PriceExpander):
            return _MEASURES.get(name)

        def measure(option: Expansion, template: Template) -> str:
            score = expander.score(option, template.node)
            return "the price is unknown" if score is None else f"score {score:.4g}"

        return measure


_Measure: TypeAlias = Callable[[Expansion, Template], str]


def _waste(option: Expansion, template: Template) -> str:
    return f"{waste_of(option, template) / 2:.0%} of its new nodes unused"


def _pods(option: Expansion, _template: Template) -> str:
    return f"places {counted(len(option.pods), 'pod')}"


def _nodes(option: Expansion, _template: Template) -> str:
    return f"needs {counted(option.nodes, 'node')}"


_MEASURES: Final[Mapping[str, _Measure]] = {
    "least-waste": _waste,
    "most-pods": _pods,
    "least-nodes": _nodes,
}
