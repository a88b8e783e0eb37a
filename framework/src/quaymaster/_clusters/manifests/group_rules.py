"""How mappings of custom kinds describe the PodGroups of their pods.

A rule is a part of a mapping, see `quaymaster._clusters.manifests.custom_kinds`::

    podGroups:
      - name: "{name}-{index}"
        scheduling: spec.scheduling.replica
        topology: [metadata.annotations["example.com/exclusive-topology"]]
"""

from typing import Final

import attrs

from quaymaster._core.config.fields import each as each_item
from quaymaster._core.config.fields import matching, non_empty

__all__ = ["PATH", "Condition", "GroupRule", "Members"]

PATH: Final = matching(
    r"[^.\[\]]+(\.[^.\[\]]+|\[\"[^\"\[\]]+\"\])*",
    'names of fields with dots in between, or ["NAME"] for names with dots',
)
"""The path of a field."""


@attrs.frozen(kw_only=True)
class Condition:
    """A field that an item or its object has.

    Attributes:
        path: The path of the field.
        equals: Its value; None: any but an empty one.
    """

    path: str = attrs.field(validator=PATH)
    equals: str | None = None


@attrs.frozen(kw_only=True)
class GroupRule:
    """Which pods of an object form a PodGroup.

    Paths are looked up in the item of the pods first, and then in the object.

    Attributes:
        name: The name of the group: pods with the same name are one group. ``{name}``,
            ``{part}``, ``{lowerPart}`` and ``{index}`` are as in labels of pods.
        when: The rule holds if one of these is true; without any, it always holds. The
            first rule that holds counts.
        scheduling: The path of a structure like ``spec.scheduling`` of a Job, with the
            policy, constraints, disruption mode and claims of the group.
        gang: Whether the pods are a gang unless the object has another policy.
        min_count: The possible paths of the gang's minimum; by default, all its pods.
        min_count_of_part: The possible paths of a minimum for the pods of one item,
            which are added up.
        topology: The possible paths of the label of nodes whose value all pods share.
    """

    name: str = attrs.field(validator=non_empty())
    when: tuple[Condition, ...] = ()
    scheduling: str | None = attrs.field(default=None, validator=PATH)
    gang: bool = True
    min_count: tuple[str, ...] = attrs.field(default=(), validator=each_item(PATH))
    min_count_of_part: tuple[str, ...] = attrs.field(
        default=(), validator=each_item(PATH)
    )
    topology: tuple[str, ...] = attrs.field(default=(), validator=each_item(PATH))


@attrs.frozen(kw_only=True)
class Members:
    """How the pods of other objects name the object that is their group.

    Attributes:
        label: A label of pods.
        annotation: An annotation of pods, instead of a label.
    """

    label: str | None = None
    annotation: str | None = None
