"""The actions that a step of a scenario file may have."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import (
    duration,
    integer,
    matching,
    non_empty,
)
from quaymaster._studies.changes.node_changes import FailureMode
from quaymaster._studies.scenarios.run_times import RunTime

__all__ = [
    "AddNodes",
    "Create",
    "Delete",
    "Drain",
    "FailNodes",
    "FailZone",
    "Manifests",
    "NodeChoice",
    "Patch",
    "Repack",
    "RotateNodes",
    "Scale",
    "SetImage",
    "UseConfig",
]

_time: Final = duration(timedelta())
_target: Final = matching(
    "[^/]+/[^/]+(?:/[^/]+)?", "KIND/NAME or NAMESPACE/KIND/NAME, such as deploy/web"
)
_a_name: Final = non_empty()


@attrs.frozen(kw_only=True)
class Manifests:
    """Kubernetes objects, from files or written here.

    Attributes:
        files: Manifests: files or directories, relative to the scenario.
        objects: Objects, written as in manifests.
        namespace: The namespace of objects without one, instead of default.
    """

    files: tuple[str, ...] = ()
    objects: tuple[Mapping[str, object], ...] = ()
    namespace: str | None = attrs.field(default=None, validator=_a_name)

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is something."""
        if not self.files and not self.objects:
            yield ArgsError("", "expected files, objects, or both")


@attrs.frozen(kw_only=True)
class Create:
    """Creates objects, once or several times.

    With count or repeat, an object that has a name gets a number behind it, from 0 on
    and counted through the whole step; ``$(number)`` is replaced by the number in any
    text.

    Attributes:
        files: Manifests: files or directories, relative to the scenario.
        objects: Objects, written as in manifests.
        namespace: The namespace of objects without one, instead of default.
        count: How many copies of each object are created each time.
        run_time: How long the pods run until they succeed, drawn for each object, a Pod
            or a Job. By default their annotation counts.
    """

    files: tuple[str, ...] = ()
    objects: tuple[Mapping[str, object], ...] = ()
    namespace: str | None = attrs.field(default=None, validator=_a_name)
    count: int = attrs.field(default=1, validator=integer(1, 1_000_000))
    run_time: RunTime | None = None

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is something to create."""
        if not self.files and not self.objects:
            yield ArgsError("", "expected files, objects, or both")


@attrs.frozen(kw_only=True)
class Patch:
    """Changes fields of an object.

    Attributes:
        target: The object, as KIND/NAME or NAMESPACE/KIND/NAME.
        patch: A JSON merge patch with fields as in manifests; null removes a field, and
            a list replaces the whole list.
    """

    target: str = attrs.field(validator=_target)
    patch: Mapping[str, object]


@attrs.frozen(kw_only=True)
class Scale:
    """Changes the number of pods of a workload.

    Attributes:
        target: The workload, as KIND/NAME or NAMESPACE/KIND/NAME.
        replicas: The new number of pods.
    """

    target: str = attrs.field(validator=_target)
    replicas: int = attrs.field(validator=integer(0, 1_000_000))


@attrs.frozen(kw_only=True)
class SetImage:
    """Changes the image of a workload's containers, which rolls out new pods.

    Attributes:
        target: The workload, as KIND/NAME or NAMESPACE/KIND/NAME.
        image: The image.
        container: The container; by default the only one; ``*`` for all.
    """

    target: str = attrs.field(validator=_target)
    image: str = attrs.field(validator=_a_name)
    container: str = ""


@attrs.frozen(kw_only=True)
class Delete:
    """Deletes an object and its dependents.

    Attributes:
        target: The object, as KIND/NAME or NAMESPACE/KIND/NAME.
    """

    target: str = attrs.field(validator=_target)


@attrs.frozen(kw_only=True)
class NodeChoice:
    """Nodes.

    Attributes:
        nodes: A name, or a label selector as in kubectl: pool=old,zone in (a, b).
        count: How many of these nodes, drawn at random; by default all.
    """

    nodes: str = attrs.field(validator=_a_name)
    count: int | None = attrs.field(default=None, validator=integer(1))


@attrs.frozen(kw_only=True)
class Drain:
    """Cordons nodes and evicts their pods, as far as disruption budgets allow it.

    Attributes:
        nodes: A name, or a label selector as in kubectl: pool=old,zone in (a, b).
        count: How many of these nodes, drawn at random; by default all.
        timeout: How long refused evictions are retried, for each node.
        grace_period: Overrides the grace periods of the pods.
    """

    nodes: str = attrs.field(validator=_a_name)
    count: int | None = attrs.field(default=None, validator=integer(1))
    timeout: timedelta = attrs.field(default=timedelta(minutes=10), validator=_time)
    grace_period: timedelta | None = attrs.field(default=None, validator=_time)


@attrs.frozen(kw_only=True)
class RotateNodes:
    """Replaces nodes by new ones of the same kind, some at a time.

    Attributes:
        nodes: A name, or a label selector as in kubectl: pool=old,zone in (a, b).
        surge: How many new nodes there are before old ones are deleted.
        boot: How long a new node needs until it takes pods.
        timeout: How long refused evictions are retried, for each node.
    """

    nodes: str = attrs.field(validator=_a_name)
    surge: int = attrs.field(default=1, validator=integer(1))
    boot: timedelta = attrs.field(default=timedelta(seconds=60), validator=_time)
    timeout: timedelta = attrs.field(default=timedelta(minutes=10), validator=_time)


@attrs.frozen(kw_only=True)
class FailNodes:
    """Makes nodes fail, with their pods.

    Attributes:
        nodes: A name, or a label selector as in kubectl: pool=old,zone in (a, b).
        count: How many of these nodes, drawn at random; by default all.
        mode: ``AtOnce``: nodes and pods are deleted together; ``Unreachable``: the
            nodes stop reporting, the cluster notices after 50 seconds, and deletes pods
            when their tolerations end, by default after five minutes.
        back_after: When the nodes return; by default only by ``returnNodes``.
    """

    nodes: str = attrs.field(validator=_a_name)
    count: int | None = attrs.field(default=None, validator=integer(1))
    mode: FailureMode = FailureMode.AT_ONCE
    back_after: timedelta | None = attrs.field(default=None, validator=_time)


@attrs.frozen(kw_only=True)
class FailZone:
    """Makes all nodes of a zone fail, with their pods.

    Attributes:
        zone: The zone: a value of the nodes' label topology.kubernetes.io/zone.
        mode: ``AtOnce``: nodes and pods are deleted together; ``Unreachable``: the
            nodes stop reporting, the cluster notices after 50 seconds, and deletes pods
            when their tolerations end, by default after five minutes.
        back_after: When the nodes return; by default only by ``returnNodes``.
    """

    zone: str = attrs.field(validator=_a_name)
    mode: FailureMode = FailureMode.AT_ONCE
    back_after: timedelta | None = attrs.field(default=None, validator=_time)


@attrs.frozen(kw_only=True)
class AddNodes:
    """Adds nodes.

    Attributes:
        nodes: One line for each group: 3:cpu=4,memory=16Gi,name=extra.
    """

    nodes: tuple[str, ...] = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class UseConfig:
    """Continues with another scheduler configuration.

    Attributes:
        file: The configuration, relative to the scenario, or the name of a shipped
            profile.
    """

    file: str = attrs.field(validator=_a_name)


@attrs.frozen(kw_only=True)
class Repack:
    """Removes all pods from their nodes, and schedules them again together.

    Pods of DaemonSets and static pods stay; volumes stay where they are. It has no
    fields: ``repack: {}``.
    """
