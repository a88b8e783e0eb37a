"""Files of node groups.

A file is like this one::

    apiVersion: simulation.quaymaster.io/v1alpha1
    kind: NodeGroups
    groups:
      - name: big
        price: 0.40
        min: 0
        max: 20
        zones: 3
        region: eu
        instanceType: large
        resources:
          cpu: 16
          memory: 64Gi
        labels:
          disk: ssd
        taints:
          - key: dedicated
            value: ml
            effect: NoSchedule
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from quaymaster._api.objects import Taint
from quaymaster._api.objects.quantity import Quantity
from quaymaster._core.config.converter import structure
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.fields import integer, non_empty, number, one_of
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._studies.planning.groups import (
    NodeGroup,
    NodeGroupError,
    parse_node_group,
)

__all__ = ["read_node_groups"]


@attrs.frozen(kw_only=True)
class _Group:
    """One group of a file."""

    name: str = attrs.field(validator=non_empty())
    price: float | None = attrs.field(default=None, validator=number(0))
    min: int = attrs.field(default=0, validator=integer(0))
    max: int | None = attrs.field(default=None, validator=integer(0))
    zones: int | None = attrs.field(default=None, validator=integer(1))
    region: str | None = attrs.field(default=None, validator=non_empty())
    instance_type: str | None = attrs.field(default=None, validator=non_empty())
    resources: Mapping[str, Quantity] = attrs.field(validator=non_empty())
    labels: Mapping[str, str] = attrs.field(factory=dict)
    taints: tuple[Taint, ...] = ()


@attrs.frozen(kw_only=True)
class _Document:
    """A file of groups."""

    api_version: str = attrs.field(
        validator=one_of("simulation.quaymaster.io/v1alpha1")
    )
    kind: str = attrs.field(validator=one_of("NodeGroups"))
    groups: tuple[_Group, ...] = attrs.field(validator=non_empty())


def read_node_groups(source: str) -> Sequence[NodeGroup]:
    """Read a file of node groups, in YAML or JSON.

    Args:
        source: The file.

    Raises:
        ConfigErrors: The file is unreadable or invalid; the error lists all mistakes of
            form.
        NodeGroupError: A group describes no nodes.
    """
    content = read_content(Path(source), source)
    made, mistakes = structure(read_yaml(content, source), _Document)
    findings = Findings(source)
    findings.extend("", mistakes)
    if findings.problems or not isinstance(made, _Document):
        raise ConfigErrors(findings.problems)
    return [
        _node_group(group, f"{source}: groups[{index}] ({group.name})")
        for index, group in enumerate(made.groups)
    ]


def _node_group(group: _Group, where: str) -> NodeGroup:
    settings = {
        "name": group.name,
        "price": None if group.price is None else f"{group.price:.9f}",
        "min": group.min,
        "max": group.max,
        "zones": group.zones,
        "region": group.region,
        "instance-type": group.instance_type,
        **group.resources,
        **{f"label:{key}": value for key, value in group.labels.items()},
    }
    parts = [f"{key}={value}" for key, value in settings.items() if value is not None]
    parts += map(_taint, group.taints)
    for part in parts:
        if "," in part:
            raise NodeGroupError(where, f"expected no comma, got {part!r}")
    return parse_node_group(",".join(parts), where)


def _taint(taint: Taint) -> str:
    value = f"={taint.value}" if taint.value else ""
    return f"taint:{taint.key}{value}:{taint.effect}"
