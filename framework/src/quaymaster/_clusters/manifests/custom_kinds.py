"""Where custom kinds keep their pod templates, and how many pods they request.

A mapping is a file like this one::

    apiVersion: simulation.quaymaster.io/v1alpha1
    kind: CustomKinds
    kinds:
      - group: jobset.x-k8s.io
        kind: JobSet
        suspend: spec.suspend
        pods:
          - each: spec.replicatedJobs
            nameFrom: name
            template: [template.spec.template]
            count:
              - paths: [replicas]
              - paths: [template.spec.parallelism]

Mappings of some common kinds are shipped and can be named, such as ``jobset``.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from quaymaster._clusters.manifests.group_rules import PATH, GroupRule, Members
from quaymaster._clusters.manifests.shipped_mappings import shipped_mappings
from quaymaster._core.config.converter import structure
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.fields import each as each_item
from quaymaster._core.config.fields import matching, non_empty, one_of
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.shipped import file_or_shipped
from quaymaster._core.config.yaml_file import read_content, read_yaml

__all__ = [
    "Copy",
    "Count",
    "CustomKind",
    "PodSource",
    "UnfollowedField",
    "mapping_for",
    "read_custom_kinds",
]

_LABEL: Final = matching(
    r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", "lower-case letters, digits and '-'"
)


@attrs.frozen(kw_only=True)
class Count:
    """One factor of a number of pods.

    Attributes:
        paths: The possible paths of the number; the first one that exists counts.
        default: The number if no path exists.
        plus: A constant to add.
        least: The possible paths of the smallest number.
        most: The possible paths of the largest number.
    """

    paths: tuple[str, ...] = attrs.field(validator=[non_empty(), each_item(PATH)])
    default: int = 1
    plus: int = 0
    least: tuple[str, ...] = attrs.field(default=(), validator=each_item(PATH))
    most: tuple[str, ...] = attrs.field(default=(), validator=each_item(PATH))


@attrs.frozen(kw_only=True)
class Copy:
    """A field of the object that its pods have, too, if their template lacks it.

    Attributes:
        path: The path of the field in the object.
        field: The name of the field in the spec of the pods.
        default: The value if the object lacks the field; without it, nothing is set.
    """

    path: str = attrs.field(validator=PATH)
    field: str = attrs.field(validator=non_empty())
    default: str | None = None


@attrs.frozen(kw_only=True)
class UnfollowedField:
    """A field that changes the pods or their number, and that nothing here follows.

    Attributes:
        path: The path of the field in the object or item.
        effect: What the field does in a cluster.
        default: The value that changes nothing.
    """

    path: str = attrs.field(validator=PATH)
    effect: str = attrs.field(validator=non_empty())
    default: str | None = None


@attrs.frozen(kw_only=True)
class PodSource:
    """One template of a custom kind, or one in each item of a list or mapping.

    Attributes:
        each: The path of the list or mapping; without it, the object itself is the
        item.
        name: The suffix of the pods' names, after the object's name.
        name_from: The path of the suffix in the item, instead. Without both, the suffix
            is the key of a mapping or the index in a list.
        template: The possible paths of the template in the item; the first one counts.
        count: The factors of the number of pods, in the item; without any, it is 1.
        jobs: The factors of the number of groups of so many pods; without any, there is
            one group, whose name has no number.
        job: The path of a JobSpec, which each group has instead of a number of pods.
        indexed: Whether such a JobSpec is indexed unless it says otherwise.
        labels: Labels of the pods. In them ``{name}`` and ``{namespace}`` are those of
            the object, ``{part}`` is the name of the source, ``{lowerPart}`` the same
            in lower case, and ``{index}`` the number of the group.
        elsewhere: The path of a field of the item that refers to another object with
            the template. An item with this field instead of a template runs no pods.
        suspend: The path of a field of the item that is true if it runs no pods.
        unfollowed: Fields of the item that get a warning.
    """

    each: str | None = attrs.field(default=None, validator=PATH)
    name: str | None = attrs.field(default=None, validator=_LABEL)
    name_from: str | None = attrs.field(default=None, validator=PATH)
    template: tuple[str, ...] = attrs.field(validator=[non_empty(), each_item(PATH)])
    count: tuple[Count, ...] = ()
    jobs: tuple[Count, ...] = ()
    job: str | None = attrs.field(default=None, validator=PATH)
    indexed: bool = False
    labels: Mapping[str, str] = attrs.field(factory=dict)
    elsewhere: str | None = attrs.field(default=None, validator=PATH)
    suspend: str | None = attrs.field(default=None, validator=PATH)
    unfollowed: tuple[UnfollowedField, ...] = ()


@attrs.frozen(kw_only=True)
class CustomKind:
    """Where the objects of a kind describe their pods.

    Attributes:
        group: The group of the kind, without version: all versions are read.
        kind: Its name.
        suspend: The path of a field that is true if the object runs no pods.
        pods: Its templates.
        copies: Its fields that its pods have, too.
        unfollowed: Its fields that get a warning.
        pod_groups: The groups of its pods, with the feature gate GenericWorkload.
        members: How the pods of other objects name it. It is their group then, and has
            no pods of its own.
        runs_for_owner: Whether an object with a controller has no pods here: these are
            the pods of its controller.
    """

    group: str = attrs.field(validator=non_empty())
    kind: str = attrs.field(validator=non_empty())
    suspend: str | None = attrs.field(default=None, validator=PATH)
    pods: tuple[PodSource, ...] = ()
    copies: tuple[Copy, ...] = ()
    unfollowed: tuple[UnfollowedField, ...] = ()
    pod_groups: tuple[GroupRule, ...] = ()
    members: Members | None = None
    runs_for_owner: bool = False


@attrs.frozen(kw_only=True)
class _Document:
    """A file of mappings."""

    api_version: str = attrs.field(
        validator=one_of("simulation.quaymaster.io/v1alpha1")
    )
    kind: str = attrs.field(validator=one_of("CustomKinds"))
    kinds: tuple[CustomKind, ...] = attrs.field(validator=non_empty())


def read_custom_kinds(
    sources: Iterable[str],
) -> Mapping[tuple[str, str], CustomKind]:
    """Read mappings.

    Args:
        sources: Files, or names of shipped mappings; of two mappings for one kind, the
            later one counts.

    Returns:
        The kinds by group and kind.

    Raises:
        ConfigErrors: A file cannot be read, or has a mistake.
    """
    kinds: dict[tuple[str, str], CustomKind] = {}
    for source in sources:
        for kind in _read(source):
            kinds[kind.group, kind.kind] = kind
    return kinds


def mapping_for(group: str, kind: str) -> str | None:
    """Return the name of the shipped mapping of a kind; empty if there is none."""
    for name in shipped_mappings():
        if (group, kind) in read_custom_kinds([name]):
            return name
    return None


def _read(source: str) -> tuple[CustomKind, ...]:
    content = read_content(
        file_or_shipped(source, shipped_mappings(), "mapping"), source
    )
    made, mistakes = structure(read_yaml(content, source), _Document)
    findings = Findings(source)
    findings.extend("", mistakes)
    if findings.problems or not isinstance(made, _Document):
        raise ConfigErrors(findings.problems)
    for index, kind in enumerate(made.kinds):
        if not kind.pods and kind.members is None:
            message = "expected at least one entry, or members of other objects"
            findings.add(f"kinds[{index}].pods", message)
    if findings.problems:
        raise ConfigErrors(findings.problems)
    return made.kinds
