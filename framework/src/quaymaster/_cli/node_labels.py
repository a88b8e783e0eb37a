"""Checks the node labels that options name."""

from collections.abc import Iterable, Sequence
from typing import Final

import click
from click.core import ParameterSource

from quaymaster._api.objects import ApiObject, Node
from quaymaster._base.errors import listed
from quaymaster._base.suggestions import did_you_mean
from quaymaster._studies.capacity.grouping import GROUP_LABELS, label_called

__all__ = ["check_node_labels", "check_topology_keys"]

_SHOWN: Final = 8
"""How many labels of nodes a message lists."""


def check_node_labels(
    option: str, names: Iterable[str], objects: Iterable[ApiObject]
) -> None:
    """Check that some node of an input has each label that an option names.

    Args:
        option: The option, such as ``--by``.
        names: Its values: labels, or their short names.
        objects: The input. If it has no nodes, nothing is checked.

    Raises:
        click.UsageError: No node has a label.
    """
    nodes = [obj for obj in objects if isinstance(obj, Node)]
    labels = sorted({key for node in nodes for key in node.labels})
    for name in names:
        if nodes and label_called(name) not in labels:
            raise click.UsageError(f"{option}: {_problem(name, labels)}")


def check_topology_keys(keys: Iterable[str], objects: Iterable[ApiObject]) -> None:
    """Check the labels of ``--topology-key``; the default is harmless.

    Args:
        keys: The labels.
        objects: The input.

    Raises:
        click.UsageError: No node has a label.
    """
    source = click.get_current_context().get_parameter_source("topology_keys")
    if source is not ParameterSource.DEFAULT:
        check_node_labels("--topology-key", keys, objects)


def _problem(name: str, labels: Sequence[str]) -> str:
    label = label_called(name)
    near = did_you_mean(name, [*labels, *GROUP_LABELS]) or _near_ending(name, labels)
    if near or not labels:
        return f"no node has the label {label!r}{near}"
    return f"no node has the label {label!r} (known: {listed(labels, _SHOWN)})"


def _near_ending(name: str, labels: Iterable[str]) -> str:
    """Return the label whose name without its domain is similar, as a question."""
    ending = name.rpartition("/")[2]
    by_ending = {label.rpartition("/")[2]: label for label in labels}
    if ending in by_ending:
        return f"; did you mean {by_ending[ending]!r}?"
    return did_you_mean(ending, by_ending)
