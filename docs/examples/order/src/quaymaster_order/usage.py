"""What each account has used: the service of its pods, with or without decay."""

import math
from collections.abc import Callable

import attrs
from quaymaster import Handle, Pod
from quaymaster.objects import pod_requests

__all__ = ["AccountOf", "Usage", "account_by"]

AccountOf = Callable[[Pod], str]
"""Returns the account of a pod."""


@attrs.define
class _Account:
    """The usage of one account.

    Attributes:
        amount: What it had used at a time.
        at: That time.
        rate: What its running pods use each second.
    """

    amount: float = 0.0
    at: float = 0.0
    rate: float = 0.0


class Usage:
    """Adds up what the pods on nodes use: amount of a resource times seconds.

    Args:
        account_of: Returns the account of a pod.
        resource: The resource; CPU counts in millicores.
        half_life: After this many seconds, usage counts half; infinite for no decay.
    """

    def __init__(
        self,
        account_of: AccountOf,
        resource: str = "cpu",
        half_life: float = math.inf,
    ) -> None:
        self._account_of = account_of
        self._resource = resource
        self._decay = math.log(2) / half_life
        self._accounts: dict[str, _Account] = {}
        self._running: dict[str, tuple[str, int]] = {}

    def follow(self, handle: Handle) -> None:
        """Follow the pods of a cluster."""

        def changed(old: Pod | None, new: Pod | None) -> None:
            pod = new or old
            assert pod is not None, "a change has an object"
            if new is None or not new.node_name or new.is_finished:
                self.stop(pod, handle.clock.now())
            else:
                self.start(new, handle.clock.now())

        handle.informers.on_change(Pod, changed)

    def start(self, pod: Pod, now: float) -> None:
        """Note that a pod runs, from its start time on if it has one."""
        if pod.uid in self._running:
            return
        account, rate = self._account_of(pod), pod_requests(pod).get(self._resource)
        self._running[pod.uid] = account, rate
        began = now if pod.status.start_time is None else float(pod.status.start_time)
        entry = self._at(account, now)
        entry.amount += self._used(rate, max(0.0, now - began))
        entry.rate += rate

    def stop(self, pod: Pod, now: float) -> None:
        """Note that a pod no longer runs."""
        running = self._running.pop(pod.uid, None)
        if running is not None:
            account, rate = running
            self._at(account, now).rate -= rate

    def of(self, pod: Pod, now: float) -> float:
        """Return what the account of a pod has used up to now."""
        return self._at(self._account_of(pod), now).amount

    def _at(self, account: str, now: float) -> _Account:
        """Return an account with its amount at a time."""
        entry = self._accounts.get(account)
        if entry is None:
            entry = self._accounts[account] = _Account(at=now)
        seconds = now - entry.at
        if seconds > 0:
            entry.amount *= math.exp(-self._decay * seconds)
            entry.amount += self._used(entry.rate, seconds)
            entry.at = now
        return entry

    def _used(self, rate: float, seconds: float) -> float:
        if not self._decay:
            return rate * seconds
        return rate * -math.expm1(-self._decay * seconds) / self._decay


def account_by(kind: str, label: str) -> AccountOf:
    """Return the function from pods to accounts.

    Args:
        kind: ``namespace``, or ``pod`` for a pod and those of the same owner.
        label: If set, the label whose value is the account of pods that have it.
    """

    def account(pod: Pod) -> str:
        value = pod.labels.get(label) if label else None
        if value is not None:
            return f"label/{value}"
        if kind == "namespace":
            return f"namespace/{pod.namespace}"
        owner = pod.metadata.controller
        return f"pod/{pod.uid if owner is None else owner.uid}"

    return account
