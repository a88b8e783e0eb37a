"""Selects the pods and nodes of a check."""

import fnmatch
import re
from collections.abc import Callable
from typing import TypeAlias

from quaymaster._api.objects import Node
from quaymaster._studies.changes.selector_text import read_selector
from quaymaster._studies.scenarios.checks import PodChoice
from quaymaster._studies.simulation.history import PodLife
from quaymaster._studies.simulation.kinds import kind_fits

__all__ = ["NodeTest", "PodTest", "node_test", "pod_test"]

PodTest: TypeAlias = Callable[[PodLife], bool]
NodeTest: TypeAlias = Callable[[Node], bool]


def pod_test(choice: PodChoice) -> PodTest:
    """Return a test of whether a pod is selected, by its labels at creation.

    Raises:
        SelectorError: The selector is invalid.
    """
    tests: list[PodTest] = []
    if choice.selector is not None:
        matches = read_selector(choice.selector).matches
        tests.append(lambda life: matches(life.pod.labels))
    if choice.namespace is not None:
        tests.append(lambda life: life.pod.namespace == choice.namespace)
    if choice.of is not None:
        tests.append(_owner_test(choice.of))
    if choice.name is not None:
        name = re.compile(fnmatch.translate(choice.name))
        tests.append(lambda life: name.match(life.pod.name) is not None)
    low, high = choice.priority_at_least, choice.priority_at_most
    if low is not None:
        tests.append(lambda life: life.pod.priority >= low)
    if high is not None:
        tests.append(lambda life: life.pod.priority <= high)
    return lambda life: all(test(life) for test in tests)


def node_test(selector: str | None) -> NodeTest:
    """Return a test of whether a node is selected.

    Raises:
        SelectorError: The selector is invalid.
    """
    if selector is None:
        return lambda _node: True
    matches = read_selector(selector).matches
    return lambda node: matches(node.labels)


def _owner_test(text: str) -> PodTest:
    *namespaces, word, name = text.split("/")

    def is_of(life: PodLife) -> bool:
        return life.pod.namespace in (namespaces or [life.pod.namespace]) and any(
            owner.name == name and kind_fits(word, owner.kind, owner.api_version)
            for owner in life.owners
        )

    return is_of
