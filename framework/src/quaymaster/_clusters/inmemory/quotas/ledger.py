"""Counts the usage of namespaces, and rejects objects that exceed their quotas.

Mirrors ``CheckRequest`` (k8s.io/apiserver v0.36,
``pkg/admission/plugin/resourcequota/controller.go``). The usage is counted from the
objects. The quota's status is used only for resources that are not counted here.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from quaymaster._api.objects import KINDS, ApiObject, Pod, PodSpec, ResourceQuota
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.quotas.scopes import is_in_scope
from quaymaster._clusters.inmemory.quotas.usage import (
    compute_usage,
    is_counted,
    resource_of,
    usage_of,
)
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import ForbiddenError

__all__ = ["QuotaLedger"]

_ZERO: Final = Quantity(0)
_ASKED_OF_CONTAINERS: Final = frozenset(
    f"{prefix}{name}"
    for prefix in ("", "requests.", "limits.")
    for name in ("cpu", "memory")
)
_NEVER_COUNTED: Final = ("Event", "Binding")


class QuotaLedger:
    """The accounts of all quotas.

    Args:
        clock: The cluster's time.
        kubernetes: The Kubernetes version whose API server is simulated.

    Attributes:
        is_empty: Whether there are no quotas at all.
    """

    def __init__(self, clock: Clock, kubernetes: Kubernetes) -> None:
        self.is_empty = True
        self._kubernetes = kubernetes
        self._clock = clock
        self._accounts: dict[str, dict[str, _Account]] = {}

    def quotas_of(self, namespace: str) -> list[str]:
        """Return the keys of the quotas of a namespace."""
        return list(self._accounts.get(namespace, ()))

    def put(self, quota: ResourceQuota, objects: Iterable[ApiObject]) -> None:
        """Add a quota, and count its usage.

        Args:
            quota: A new or changed quota.
            objects: All objects in its namespace.
        """
        account = _Account(quota, self._kubernetes)
        now = self._clock.now()
        for obj in objects:
            account.add(account.share_of(obj, now), 1)
        self._accounts.setdefault(quota.namespace, {})[quota.key] = account
        self.is_empty = False

    def drop(self, quota: ResourceQuota) -> None:
        """Remove a quota."""
        accounts = self._accounts.get(quota.namespace, {})
        accounts.pop(quota.key, None)
        if not accounts:
            self._accounts.pop(quota.namespace, None)
        self.is_empty = not self._accounts

    def used(self, quota: ResourceQuota) -> ResourceList:
        """Return how much is used of what a quota limits."""
        return dict(self._accounts[quota.namespace][quota.key].used)

    def check(self, obj: ApiObject, name: str) -> None:
        """Reject a new object that exceeds a quota.

        Args:
            obj: The object, otherwise admitted.
            name: The name that it will get.

        Raises:
            ForbiddenError: It requests too little or too much.
        """
        accounts = self._accounts.get(obj.namespace, {}).values()
        concerned = [account for account in accounts if account.matches(obj)]
        # ``CheckRequest`` reports missing requests of any quota before excesses.
        reason = _first(account.why_incomplete(obj) for account in concerned)
        if not reason:
            now = self._clock.now()
            reason = _first(account.why_too_much(obj, now) for account in concerned)
        if reason:
            raise ForbiddenError(resource_of(type(obj)), name, reason)

    def update(self, old: ApiObject | None, new: ApiObject | None) -> tuple[bool, bool]:
        """Apply the change of an object of any kind.

        Returns:
            Whether the usage has changed, and whether it has fallen for some resource.
        """
        obj = old if new is None else new
        if obj is None or obj.kind in _NEVER_COUNTED or _is_same(old, new):
            return False, False
        has_changed = has_shrunk = False
        now = self._clock.now()
        for account in self._accounts.get(obj.namespace, {}).values():
            before = {} if old is None else account.share_of(old, now)
            after = {} if new is None else account.share_of(new, now)
            if before != after:
                has_changed = True
                has_shrunk |= any(
                    amount > after.get(name, _ZERO) for name, amount in before.items()
                )
                account.add(before, -1)
                account.add(after, 1)
        return has_changed, has_shrunk


class _Account:
    """One quota, and its usage.

    Args:
        quota: The quota.
        kubernetes: The Kubernetes version whose API server is simulated.

    Attributes:
        used: The usage of each resource that it limits.
    """

    __slots__ = ("_hard", "_kubernetes", "_name", "_names", "_spec", "used")

    def __init__(self, quota: ResourceQuota, kubernetes: Kubernetes) -> None:
        self._kubernetes = kubernetes
        self._name = quota.name
        self._spec = quota.spec
        self._hard = quota.spec.hard
        self._names: dict[type[ApiObject], frozenset[str]] = {}
        reported = quota.status.used
        self.used: ResourceList = {}
        for name in self._hard:
            if any(is_counted(name, kind) for kind in _COUNTED_KINDS):
                self.used[name] = _ZERO
            elif name in reported:
                self.used[name] = reported[name]

    def matches(self, obj: ApiObject) -> bool:
        """Return whether an object is in the scope of the quota."""
        return bool(self._names_of(type(obj))) and is_in_scope(
            obj, self._spec, self._kubernetes
        )

    def share_of(self, obj: ApiObject, now: float) -> ResourceList:
        """Return what an object uses of the limited resources."""
        if not self.matches(obj):
            return {}
        usage, names = usage_of(obj, now, self._kubernetes), self._names_of(type(obj))
        return {name: usage[name] for name in usage if name in names}

    def _names_of(self, kind: type[ApiObject]) -> frozenset[str]:
        """Return the limited resources that objects of a kind may use."""
        names = self._names.get(kind)
        if names is None:
            names = frozenset(name for name in self._hard if is_counted(name, kind))
            self._names[kind] = names
        return names

    def add(self, amounts: Mapping[str, Quantity], sign: int) -> None:
        """Add the amounts to the usage, or subtract them with ``sign=-1``."""
        for name, amount in amounts.items():
            used = self.used.get(name, _ZERO)
            self.used[name] = used + amount if sign > 0 else used - amount

    def why_incomplete(self, obj: ApiObject) -> str:
        """Return the resources that some containers must set, as text; or empty."""
        if not isinstance(obj, Pod) or _has_own_resources(obj.spec):
            return ""
        required = sorted(_ASKED_OF_CONTAINERS & self._hard.keys())
        missing: dict[str, set[str]] = {}
        for container in (*obj.spec.containers, *obj.spec.init_containers):
            resources = container.resources
            usage = compute_usage(resources.requests, resources.limits)
            for name in required:
                if name not in usage:
                    missing.setdefault(name, set()).add(container.name)
        if not missing:
            return ""
        parts = (f"{name} for: {_joined(missing[name])}" for name in sorted(missing))
        return f"failed quota: {self._name}: must specify {'; '.join(parts)}"

    def why_too_much(self, obj: ApiObject, now: float) -> str:
        """Return the limits that one more object would exceed, as text; or empty."""
        share = self.share_of(obj, now)
        requested = {name: amount for name, amount in share.items() if amount}
        used = {name: self.used.get(name, _ZERO) for name in requested}
        beyond = [
            name
            for name, amount in requested.items()
            if used[name] + amount > self._hard[name]
        ]
        if not beyond:
            return ""
        return (
            f"exceeded quota: {self._name}, "
            f"requested: {_amounts(requested, beyond)}, "
            f"used: {_amounts(used, beyond)}, limited: {_amounts(self._hard, beyond)}"
        )


_COUNTED_KINDS: Final = tuple(
    kind
    for kind in KINDS.values()
    if kind.namespaced and kind.kind not in _NEVER_COUNTED
)


def _is_same(old: ApiObject | None, new: ApiObject | None) -> bool:
    """Return whether a cheap check shows that a change does not affect quotas."""
    if isinstance(old, Pod) and isinstance(new, Pod):
        # Identity: most updates share these objects; otherwise usage is counted again.
        return (
            old.spec is new.spec
            and old.is_finished is new.is_finished
            and old.status.container_statuses is new.status.container_statuses
            and old.metadata.deletion_timestamp == new.metadata.deletion_timestamp
        )
    return False


def _has_own_resources(spec: PodSpec) -> bool:
    """Return whether the pod as a whole requests CPU, memory or huge pages."""
    own = spec.resources
    return own is not None and any(
        name in ("cpu", "memory") or name.startswith("hugepages-")
        for amounts in (own.requests, own.limits)
        for name in amounts
    )


def _first(reasons: Iterable[str]) -> str:
    return next(filter(None, reasons), "")


def _joined(names: Iterable[str]) -> str:
    return ",".join(sorted(names))


def _amounts(amounts: Mapping[str, Quantity], names: Iterable[str]) -> str:
    return _joined(f"{name}={amounts[name]}" for name in names)
