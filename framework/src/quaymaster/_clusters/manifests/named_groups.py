"""Pods that name the custom object which is their group, by a label or an annotation.

The object gets a PodGroup of its name, and the pods become members of it. So do pods
whose label names a group without an object, as in Kueue.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    ObjectMeta,
    Pod,
    PodSchedulingGroup,
    PodSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._base.errors import Problem
from quaymaster._clusters.manifests.custom_groups import pod_group, share_of
from quaymaster._clusters.manifests.custom_jobs import metadata_of_part
from quaymaster._clusters.manifests.custom_kinds import CustomKind
from quaymaster._clusters.manifests.group_rules import Members
from quaymaster._clusters.manifests.paths import Tree, first_field

__all__ = ["NamedGroups"]

_Workload: TypeAlias = (
    DaemonSet | Deployment | Job | ReplicaSet | ReplicationController | StatefulSet
)


class _Key(NamedTuple):
    """A group that pods name."""

    namespace: str
    name: str


class NamedGroups:
    """The groups that pods of the input name.

    Args:
        objects: All objects of the input.

    Attributes:
        changed: The index of each object whose pods are members of a group now, and
            that object.
    """

    def __init__(self, objects: Iterable[ApiObject]) -> None:
        self._objects = tuple(objects)
        self._specs: dict[tuple[int, str], PodSpec] = {}
        self.changed: dict[int, ApiObject] = {}

    def of_object(
        self, owner: Tree, kind: CustomKind, problems: list[Problem]
    ) -> Tree | None:
        """Return the PodGroup of an object in wire form, and collect its members.

        Args:
            owner: The object.
            kind: Its mapping.
            problems: Receives the problems of the object.
        """
        metadata = owner.get("metadata")
        own = metadata if isinstance(metadata, Mapping) else {}
        key = _Key(str(own.get("namespace") or "default"), str(own.get("name") or ""))
        members = self._members(kind.members).get(key, [])
        references = metadata_of_part(owner)
        return self._group(owner, references, kind, key, members, problems)

    def of_pods(
        self, kind: CustomKind, problems: list[Problem]
    ) -> Iterator[tuple[Tree, int, Tree]]:
        """Yield a PodGroup for each group that pods name.

        With it come the index of the first object that names it, and the annotations of
        that object's pods as a tree.

        Args:
            kind: The mapping.
            problems: Receives the problems of the pods.
        """
        for key, members in self._members(kind.members).items():
            first = self._objects[members[0]]
            metadata = _metadata_of_pods(first)
            tree = {"metadata": {"annotations": metadata.annotations}}
            mistakes: list[Problem] = []
            group = self._group(tree, {}, kind, key, members, mistakes)
            where = f"{first.kind} {first.key}"
            problems += (attrs.evolve(problem, where=where) for problem in mistakes)
            if group is not None:
                yield group, members[0], tree

    def without_group(self, kind: CustomKind) -> Iterator[tuple[ApiObject, str]]:
        """Yield the objects whose pods have a topology but name no group.

        With each comes the path of the topology.

        Args:
            kind: The mapping of the groups that pods name.
        """
        paths = [path for rule in kind.pod_groups for path in rule.topology]
        for obj in self._objects:
            if not _has_pods(obj) or kind.members is None:
                continue
            metadata = _metadata_of_pods(obj)
            if _name_in(metadata, kind.members) or _spec_of(obj).scheduling_group:
                continue
            tree = {"metadata": {"annotations": metadata.annotations}}
            entry = first_field([tree], paths)
            if entry is not None:
                yield obj, entry[0]

    def _group(
        self,
        tree: Tree,
        metadata: Mapping[str, object],
        kind: CustomKind,
        key: _Key,
        members: Sequence[int],
        problems: list[Problem],
    ) -> Tree | None:
        values = {"{name}": key.name, "{namespace}": key.namespace}
        pods = sum(isinstance(self._objects[index], Pod) for index in members)
        share = share_of(kind.pod_groups, [tree], values, max(pods, 1), problems)
        if share is None:
            return None
        for index in members:
            self.changed[index] = self._member(self._objects[index], share.name)
        specs = [_spec_of(self._objects[index]) for index in members]
        classes = (spec.priority_class_name for spec in specs)
        named = {**metadata, "namespace": key.namespace}
        return pod_group(share, named, next(classes, ""))

    def _members(self, members: Members | None) -> dict[_Key, list[int]]:
        """Return the indexes of the objects whose pods name a group."""
        indexes: defaultdict[_Key, list[int]] = defaultdict(list)
        for index, obj in enumerate(self._objects):
            if members is None or not _has_pods(obj):
                continue
            name = _name_in(_metadata_of_pods(obj), members)
            # Pods that already name a PodGroup stay in it.
            if name and _spec_of(obj).scheduling_group is None:
                indexes[_Key(obj.namespace, name)].append(index)
        return dict(indexes)

    def _member(self, obj: ApiObject, group: str) -> ApiObject:
        """Return an object whose pods are members of a group."""
        old = _spec_of(obj)
        # By identity: pods that share a spec also share the new one.
        spec = self._specs.get((id(old), group))
        if spec is None:
            member = PodSchedulingGroup(pod_group_name=group)
            spec = self._specs[id(old), group] = replace(old, scheduling_group=member)
        if isinstance(obj, Pod):
            return replace(obj, spec=spec)
        assert isinstance(obj, _Workload)
        assert obj.spec.template is not None
        template = replace(obj.spec.template, spec=spec)
        return replace(obj, spec=replace(obj.spec, template=template))


def _name_in(metadata: ObjectMeta, members: Members) -> str:
    if members.label is not None and members.label in metadata.labels:
        return metadata.labels[members.label]
    return metadata.annotations.get(members.annotation or "", "")


def _has_pods(obj: ApiObject) -> bool:
    """Return whether an object is a pod or has a template of pods."""
    if isinstance(obj, _Workload):
        return obj.spec.template is not None
    return isinstance(obj, Pod)


def _metadata_of_pods(obj: ApiObject) -> ObjectMeta:
    if isinstance(obj, Pod):
        return obj.metadata
    assert isinstance(obj, _Workload)
    assert obj.spec.template is not None
    return obj.spec.template.metadata


def _spec_of(obj: ApiObject) -> PodSpec:
    if isinstance(obj, Pod):
        return obj.spec
    assert isinstance(obj, _Workload)
    assert obj.spec.template is not None
    return obj.spec.template.spec
