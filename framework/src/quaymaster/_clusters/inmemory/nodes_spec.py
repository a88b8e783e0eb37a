"""Makes nodes from a line of text, such as ``100:cpu=4,memory=16Gi,zones=3``."""

import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import count
from typing import Final

import attrs

from quaymaster._api.objects import Node, NodeSpec, NodeStatus, ObjectMeta, Taint
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.resource_names import is_scalar_resource
from quaymaster._base.errors import QuantityError, QuaymasterError
from quaymaster._clusters.inmemory.admission.metadata_checks import MetadataChecks
from quaymaster._clusters.inmemory.admission.node_checks import check_node
from quaymaster._clusters.inmemory.simulated_devices import (
    DEVICES_ANNOTATION,
    read_devices,
)

__all__ = ["MAX_NODES", "NodesSpecError", "make_nodes"]

_FORM: Final = "expected COUNT:KEY=VALUE,..., such as 100:cpu=4,memory=16Gi,zones=3"
_KEYS: Final = (
    "expected cpu, memory, pods, ephemeral-storage, an extended resource such as "
    "nvidia.com/gpu, devices, zones, region, instance-type, name, label:KEY or "
    "taint:KEY"
)
_RESOURCES: Final = ("cpu", "memory", "pods", "ephemeral-storage")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", re.ASCII)
_LEAST_DIGITS: Final = 3
_MOST_DIGITS: Final = 18
_NEEDED: Final = {"cpu": "4", "memory": "16Gi"}
_DEFAULTS: Final = {
    "pods": Quantity(110),
    "ephemeral-storage": Quantity("100Gi"),
}
_LABELS: Final = {
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
}
_ZONE: Final = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_REGION: Final = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)
_INSTANCE_TYPE: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
_DEFAULT_REGION: Final = "region"


MAX_NODES: Final = 100_000
"""Twenty times what Kubernetes supports in one cluster."""


class NodesSpecError(QuaymasterError, ValueError):
    """A line does not describe nodes.

    Attributes:
        spec: The line.
        problem: What is wrong with the line.
    """

    def __init__(self, spec: str, message: str) -> None:
        super().__init__(f"nodes {spec!r}: {message}")
        self.spec = spec
        self.problem = message


@attrs.define
class _Group:
    """Nodes that are equal except for names and zones."""

    spec: str
    count: int
    name: str = "node"
    zones: int = 0
    region: str = ""
    instance_type: str = ""
    resources: ResourceList = attrs.Factory(lambda: dict(_DEFAULTS))
    labels: dict[str, str] = attrs.Factory(dict)
    taints: list[Taint] = attrs.Factory(list)
    devices: list[str] = attrs.Factory(list)


def make_nodes(
    specs: Sequence[str], *, taken: Collection[str] = (), max_nodes: int = MAX_NODES
) -> list[Node]:
    """Make the nodes that lines describe.

    A line has a count, a colon, and the properties of each node, in any order:

    - ``cpu=4`` and ``memory=16Gi``, both always; ``pods=250`` (110 if not given),
      ``ephemeral-storage=1Ti`` (100Gi if not given), or an extended resource such as
      ``nvidia.com/gpu=8``;
    - ``devices=gpu.example.com:8``: the number of devices of this driver, which pods
      claim; a class of the driver's name is made, too, unless there is one;
    - ``zones=3``: they are in ``zone-a``, ``zone-b`` and ``zone-c`` by turns;
    - ``region=eu`` (``region`` if there are zones and it is not given);
    - ``instance-type=large`` (such as ``4cpu-16Gi`` if not given);
    - ``name=gpu``: they are named ``gpu-000``, ``gpu-001``, ... instead of
      ``node-000``, ...; several lines with one name count on;
    - ``label:disk=ssd``, and ``taint:dedicated=ml:NoSchedule`` or
      ``taint:dedicated:NoSchedule``, as often as needed.

    Args:
        specs: One line per group of nodes.
        taken: Names that other nodes already have; they are skipped.
        max_nodes: How many nodes all lines together may describe.

    Raises:
        NodesSpecError: A line cannot be read, or there are too many nodes.
    """
    groups = [_parse(spec) for spec in specs]
    totals = _totals(groups, max_nodes)
    used = frozenset(taken)
    # One counter for each name, so that two lines of one name go on counting.
    numbers = {name: count() for name in totals}
    nodes = []
    for group in groups:
        # Fixed width, so that names sort in the order of their numbers.
        digits = max(_LEAST_DIGITS, len(str(totals[group.name] - 1)))
        names = (f"{group.name}-{n:0{digits}}" for n in numbers[group.name])
        free = (name for name in names if name not in used)
        nodes += [_node(group, next(free), index) for index in range(group.count)]
    return nodes


def _totals(groups: Iterable[_Group], max_nodes: int) -> Counter[str]:
    """Count the nodes by the names of their groups."""
    totals: Counter[str] = Counter()
    for group in groups:
        totals[group.name] += group.count
        if totals.total() > max_nodes:
            message = (
                f"{totals.total()} nodes, more than the limit of {max_nodes} "
                "(--max-nodes raises it)"
            )
            raise NodesSpecError(group.spec, message)
    return totals


def _node(group: _Group, name: str, index: int) -> Node:
    labels = {"kubernetes.io/hostname": name, **_LABELS}
    labels |= dict.fromkeys(_INSTANCE_TYPE, group.instance_type)
    if group.zones:
        labels |= dict.fromkeys(_ZONE, f"zone-{_letters(index % group.zones)}")
    if group.region:
        labels |= dict.fromkeys(_REGION, group.region)
    annotations = {DEVICES_ANNOTATION: ",".join(group.devices)} if group.devices else {}
    return Node(
        metadata=ObjectMeta(
            name=name, labels=labels | group.labels, annotations=annotations
        ),
        spec=NodeSpec(taints=tuple(group.taints)),
        status=NodeStatus(capacity=group.resources, allocatable=group.resources),
    )


def _letters(number: int) -> str:
    """``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = string.ascii_lowercase[digit] + text
    return text


def _parse(spec: str) -> _Group:
    number, colon, settings = spec.strip().partition(":")
    number = number.strip()
    if not number.isdecimal() or not colon or not settings.strip():
        raise NodesSpecError(spec, _FORM)
    if not _is_count(number):
        expected = f"expected at most {_MOST_DIGITS} digits"
        raise NodesSpecError(spec, f"{expected} before the colon, got {len(number)}")
    group = _Group(spec=spec, count=int(number))
    seen: set[str] = set()
    for setting in settings.split(","):
        key, equals, value = (part.strip() for part in setting.partition("="))
        # Before the general form: a taint has ``=`` inside, and may come several times.
        if key.startswith("taint:"):
            _add_taint(group, setting.strip()[len("taint:") :])
            continue
        # A label may be empty, as those of roles are.
        if not equals or not key or not (value or key.startswith("label:")):
            got = repr(setting.strip()) if setting.strip() else "nothing"
            message = f"expected KEY=VALUE between commas, got {got}"
            raise NodesSpecError(spec, message)
        if key == "devices":
            _add_devices(group, value)
            continue
        if key in seen:
            raise NodesSpecError(spec, f"{key}: expected once, came twice")
        seen.add(key)
        _set(group, key, value)
    _complete(group)
    return group


def _complete(group: _Group) -> None:
    """Fill in the other resources of real nodes; cpu and memory are required."""
    for key, example in _NEEDED.items():
        if key not in group.resources:
            message = f"expected {key}, too, such as {key}={example}; got none"
            raise NodesSpecError(group.spec, message)
    if not group.instance_type:
        cpu, memory = (group.resources[key] for key in _NEEDED)
        group.instance_type = f"{cpu}cpu-{memory}"
    if group.zones and not group.region:
        group.region = _DEFAULT_REGION
    report = Report()
    # All nodes of a line differ only in numbers, so one is checked: the checks of an
    # API server give their messages here, at the line of text.
    first = _node(group, f"{group.name}-000", 0)
    MetadataChecks().check(first, report)
    check_node(first, report)
    for path, message in report:
        raise NodesSpecError(group.spec, f"{path}: {message}")


def _set(group: _Group, key: str, value: str) -> None:
    if key.startswith("label:"):
        group.labels[key[len("label:") :]] = value
    elif key == "zones":
        if not _is_count(value) or not int(value):
            raise _unexpected(group, key, "a number of at least 1", value)
        group.zones = int(value)
    elif key == "region":
        group.region = value
    elif key == "instance-type":
        group.instance_type = value
    elif key == "name":
        if not _NAME.fullmatch(value):
            expected = "lower-case letters, digits, '-' and '.'"
            raise _unexpected(group, key, expected, value)
        group.name = value
    elif key in _RESOURCES or is_scalar_resource(key):
        group.resources[key] = _amount(group, key, value)
    else:
        raise NodesSpecError(group.spec, f"{key}: {_KEYS}")


def _amount(group: _Group, key: str, value: str) -> Quantity:
    try:
        amount = Quantity(value)
    except QuantityError as error:
        raise NodesSpecError(group.spec, f"{key}: {error}") from error
    if amount < Quantity(0):
        raise _unexpected(group, key, "an amount of at least 0", value)
    return amount


def _is_count(text: str) -> bool:
    """Return whether a text is a number from 0 on with not too many digits."""
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def _add_taint(group: _Group, text: str) -> None:
    taint, _, effect = text.rpartition(":")
    key, _, value = taint.partition("=")
    if not key or effect not in _EFFECTS:
        expected = f"KEY=VALUE:EFFECT or KEY:EFFECT with {' or '.join(_EFFECTS)}"
        raise _unexpected(group, "taint", expected, text)
    group.taints.append(Taint(key=key, value=value, effect=effect))


def _add_devices(group: _Group, text: str) -> None:
    group.devices.append(text)
    try:
        read_devices(",".join(group.devices))
    except ValueError as error:
        raise NodesSpecError(group.spec, f"devices: {error}") from error


def _unexpected(group: _Group, key: str, expected: str, got: str) -> NodesSpecError:
    return NodesSpecError(group.spec, f"{key}: expected {expected}, got {got!r}")
