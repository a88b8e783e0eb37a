"""Changes of slices as plugins see them: with the taints that rules add.

A change of a rule is reported as a change of the slices whose devices it taints.
Mirrors ``syncSlice`` (k8s.io/dynamic-resource-allocation v0.37,
``resourceslice/tracker/tracker.go``).
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar

from quaymaster._api.objects import ApiObject, DeviceTaintRule, ResourceSlice
from quaymaster._api.objects.owned_taints import (
    as_read_by,
    taints_devices_of,
    with_rule_taints,
)
from quaymaster._base.versions.kubernetes import Kubernetes

__all__ = ["EffectiveSlices"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class _Lister(Protocol):
    def list(self, kind: type[ObjT]) -> Sequence[ObjT]:
        """Return all objects of a kind."""


class EffectiveSlices:
    """Adds the taints of rules to the slices of a cluster.

    Args:
        informers: The engine's copy of the cluster.
        kubernetes: The version of Kubernetes whose decisions are made.
    """

    def __init__(self, informers: _Lister, kubernetes: Kubernetes) -> None:
        self._informers = informers
        self._kubernetes = kubernetes
        self._has_rules = False

    def changes(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
    ) -> Iterator[tuple[type[ApiObject], ApiObject | None, ApiObject | None]]:
        """Yield the changes that plugins see for a change of a slice or of a rule.

        Args:
            kind: `ResourceSlice` or `DeviceTaintRule`.
            old: The object before; None if it was added.
            new: The object after; None if it was deleted.
        """
        if kind is ResourceSlice:
            yield kind, self._effective(old), self._effective(new)
            return
        self._has_rules = True
        changed = [
            as_read_by(rule, self._kubernetes)
            for rule in (old, new)
            if isinstance(rule, DeviceTaintRule)
        ]
        for before, after in self._changed_by(changed, was_there=old is not None):
            yield ResourceSlice, before, after
        yield kind, old, new

    def _changed_by(
        self, changed: Sequence[DeviceTaintRule], *, was_there: bool
    ) -> Iterator[tuple[ResourceSlice, ResourceSlice]]:
        """Yield the slices whose devices get other taints, before and after."""
        if changed[0].spec == changed[-1].spec and len(changed) > 1:
            return
        rules = self._rules()
        others = [rule for rule in rules if rule.name != changed[0].name]
        rules_before = [*others, changed[0]] if was_there else others
        for resource_slice in self._informers.list(ResourceSlice):
            if any(taints_devices_of(rule, resource_slice) for rule in changed):
                before = with_rule_taints(resource_slice, rules_before)
                after = with_rule_taints(resource_slice, rules)
                if before.spec.devices != after.spec.devices:
                    yield before, after

    def _effective(self, resource_slice: ApiObject | None) -> ApiObject | None:
        if not self._has_rules or not isinstance(resource_slice, ResourceSlice):
            return resource_slice
        return with_rule_taints(resource_slice, self._rules())

    def _rules(self) -> Sequence[DeviceTaintRule]:
        listed = self._informers.list(DeviceTaintRule)
        return [as_read_by(rule, self._kubernetes) for rule in listed]
