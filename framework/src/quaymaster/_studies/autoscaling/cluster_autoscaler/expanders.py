"""Expanders: which group grows, of those that would help.

Mirrors ``expander``: each expander keeps its best options, the first that leaves one
option decides, and the rest is left to chance.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resources import pod_requests
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template

__all__ = [
    "EXPANDERS",
    "Expander",
    "Expansion",
    "best_option",
    "by_priority",
    "expanders_of",
    "waste_of",
]


@attrs.frozen(kw_only=True, eq=False)
class Expansion:
    """A possible scale-up.

    Attributes:
        group: The group that would grow.
        nodes: The number of its new nodes.
        pods: The pods that they would hold.
        similar: The groups that it would share them with.
    """

    group: str
    nodes: int
    pods: Sequence[Pod]
    similar: Sequence[str] = ()


Expander: TypeAlias = Callable[
    [Sequence[Expansion], Mapping[str, Template]], Sequence[Expansion]
]


def best_option(
    options: Sequence[Expansion],
    templates: Mapping[str, Template],
    expanders: Sequence[Expander],
    chance: Random,
) -> Expansion | None:
    """Return the best option, or None if an expander keeps none.

    Args:
        options: The options.
        templates: What new nodes look like, by group.
        expanders: The expanders in order.
        chance: Decides among equally good options.
    """
    for expander in expanders:
        options = expander(options, templates)
        if len(options) == 1:
            return options[0]
    return chance.choice(options) if options else None


def _least_waste(
    options: Sequence[Expansion], templates: Mapping[str, Template]
) -> Sequence[Expansion]:
    """Keep the options that waste least of the new nodes' capacity.

    Mirrors ``expander/waste/waste.go``, with its floating point numbers.
    """
    return _lowest(options, [waste_of(each, templates[each.group]) for each in options])


def waste_of(option: Expansion, template: Template) -> float:
    """Return the unused part of the new nodes' CPU, plus that of their memory."""
    capacity = template.node.status.capacity
    cpu = capacity["cpu"].milli_value * option.nodes if "cpu" in capacity else 0
    memory = capacity["memory"].value * option.nodes if "memory" in capacity else 0
    requests = [pod_requests(pod) for pod in option.pods]
    wasted_cpu = cpu - sum(each.milli_cpu for each in requests)
    wasted_memory = memory - sum(each.memory for each in requests)
    return _part(wasted_cpu, cpu) + _part(wasted_memory, memory)


def _part(amount: int, total: int) -> float:
    if total:
        return amount / total
    return float("nan") if not amount else float("inf") if amount > 0 else float("-inf")


def _most_pods(
    options: Sequence[Expansion], _templates: Mapping[str, Template]
) -> Sequence[Expansion]:
    """Keep the options that place most pods."""
    return _lowest(options, [-len(each.pods) for each in options])


def _least_nodes(
    options: Sequence[Expansion], _templates: Mapping[str, Template]
) -> Sequence[Expansion]:
    """Keep the options with the fewest nodes, at least one."""
    options = [each for each in options if each.nodes]
    return _lowest(options, [each.nodes for each in options])


def _random(
    options: Sequence[Expansion], _templates: Mapping[str, Template]
) -> Sequence[Expansion]:
    """Keep all options."""
    return options


def _lowest(
    options: Sequence[Expansion], values: Sequence[float]
) -> Sequence[Expansion]:
    least = min(values, default=0)
    return [each for each, value in zip(options, values, strict=True) if value == least]


EXPANDERS: Final[Mapping[str, Expander]] = {
    "least-waste": _least_waste,
    "most-pods": _most_pods,
    "least-nodes": _least_nodes,
    "random": _random,
}
"""The expanders that need nothing but the options, by name."""


Warn: TypeAlias = Callable[[str, str], None]
"""Reports what the priorities lack: the reason and the message of an event."""


def by_priority(priorities: Mapping[int, Sequence[str]], warn: Warn) -> Expander:
    """Return the expander that keeps the groups with the highest priority.

    Mirrors ``expander/priority/priority.go``.

    Args:
        priorities: Priority -> regular expressions that are searched in group names.
        warn: Reports groups without a priority.
    """

    def expander(
        options: Sequence[Expansion], _templates: Mapping[str, Template]
    ) -> Sequence[Expansion]:
        highest = -1
        best: list[Expansion] = []
        for option in options:
            matching = _matching(option.group)
            if not matching:
                warn("PriorityConfigMapNotMatchedGroup", _not_matched(option.group))
            for priority in matching:
                if priority > highest:
                    highest, best = priority, []
                if priority == highest:
                    best.append(option)
        if options and not best:
            warn("PriorityConfigMapNoGroupMatched", _NONE_MATCHED)
        return best or options

    def _matching(group: str) -> list[int]:
        return [
            priority
            for priority, patterns in priorities.items()
            if any(re.search(pattern, group) for pattern in patterns)
        ]

    return expander


_NONE_MATCHED: Final = (
    "Priority expander: no priorities info found for any of the expansion options. "
    "No options filtered."
)


def _not_matched(group: str) -> str:
    return (
        f"Priority expander: node group {group} not found in priority expander "
        "configuration. The group won't be used."
    )


def expanders_of(
    names: Iterable[str],
    priorities: Mapping[int, Sequence[str]] | None,
    price: Expander,
    warn: Warn = lambda _reason, _message: None,
) -> Mapping[str, Expander]:
    """Return expanders by name, in order.

    Args:
        names: The names.
        priorities: As for `by_priority`; None without that ConfigMap, so that
            ``priority`` keeps all options.
        price: The expander ``price``.
        warn: Reports groups without a priority.
    """
    priority = EXPANDERS["random"]
    if priorities is not None:
        priority = by_priority(priorities, warn)
    by_name = {"priority": priority, "price": price}
    expanders = {**EXPANDERS, **by_name}
    return {name: expanders[name] for name in names}
