"""A scheduler on a faulty cluster with devices."""

from collections import Counter

from quaymaster import ApiObject, Pod
from quaymaster.objects import ResourceClaim, ResourceSlice
from quaymaster.scheduler import Scheduler
from quaymaster_dynamic_resources.tracker import ClaimTracker
from tests.chaos.cluster_steps import ClusterSteps
from tests.chaos.devices.device_ledger import DeviceLedger
from tests.chaos.devices.device_steps import DeviceSteps
from tests.chaos.devices.drivers import DeviceCluster, Drivers
from tests.chaos.devices.rules import EXTENDED
from tests.chaos.fault_plan import HistoryCluster
from tests.chaos.invariants import ViolationError
from tests.chaos.machine import Machine

__all__ = ["DeviceMachine"]

_PLUGIN = "DynamicResources"


class DeviceMachine(Machine):
    """The state of a history of devices, and its steps.

    Args:
        seed: As for any history.
    """

    def check(self) -> None:
        """Check the invariants that hold at any time; see `Machine.check`."""
        super().check()
        self._device_ledger.check()

    @property
    def counts(self) -> Counter[str]:
        """Return how often each kind of event has happened; see `Machine.counts`."""
        counts = super().counts
        counts["promises of devices"] = self._device_ledger.promises
        counts["promises taken back"] = self._device_ledger.released
        counts["answers of drivers"] = self._drivers.answers
        counts["claims left without a consumer"] = len(self._device_cluster.kept)
        counts["deallocations"] = self._device_cluster.deallocations
        return counts

    def finish(self) -> None:
        """Check as for any history, and that claims end with their pods.

        Raises:
            ViolationError: An invariant does not hold.
        """
        self._drivers.work_well()
        super().finish()
        self._steps.remove_pods()
        self.pass_time(150)
        self.check_rest()
        for claim in self._device_ledger.world().claims.values():
            if claim.metadata.owner_references:
                raise ViolationError(f"{claim.key} has outlived its pod")
            # As in upstream, a claim keeps its devices if a binding fails after
            # they were written.
            is_kept = claim.key in self._device_cluster.kept
            if claim.status.allocation is not None and not is_kept:
                raise ViolationError(f"{claim.key} keeps devices for nobody")
        self._steps.remove_claims()
        self.pass_time(30)
        self.check_rest()
        for key in self._device_ledger.world().claims:
            raise ViolationError(f"{key} does not end")

    def check_rest(self) -> None:
        """Check the allocations of devices, too; see `Machine.check_rest`."""
        super().check_rest()
        self._device_ledger.check_at_rest(self._tracker)

    def _make_faults(self) -> HistoryCluster:
        self._drivers = Drivers(self.cluster)
        self._device_ledger = DeviceLedger(self.cluster)
        self._device_cluster = DeviceCluster(
            self.cluster, self.clock, self.plan, self._drivers
        )
        return self._device_cluster

    def _make_steps(self) -> ClusterSteps:
        self._steps = DeviceSteps(
            self.cluster, self.plan.ledger, len(self._sorts), self._drivers
        )
        return self._steps

    def _why_not(self, pod: Pod, node_name: str) -> str:
        return self._device_ledger.world().why_not(pod, node_name)

    def start_scheduler(self) -> Scheduler:
        """Start a scheduler, and record its allocations."""
        scheduler = super().start_scheduler()
        handle = self.plan.handle
        assert handle is not None
        informers = handle.informers
        self._tracker = handle.shared(
            ClaimTracker, lambda: ClaimTracker(informers, handle.kubernetes)
        )
        self._device_ledger.watch(self._tracker, informers, self._excuse)
        return scheduler

    def _excuse(self) -> None:
        """Excuse pods: allocated devices became free without an event."""
        self._excuses.ended_without_event(self.scheduler, _PLUGIN)

    def _changing(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Excuse pods if a change makes devices available without an event.

        No plugin registers for deletions. An update may combine several changes, and
        the first of them has freed the devices.
        """
        if isinstance(old, ResourceSlice) and new is None:
            self._excuse()
        if not isinstance(old, ResourceClaim):
            return
        had, is_extended = old.status.allocation, EXTENDED in old.annotations
        if isinstance(new, ResourceClaim):
            has = new.status.allocation
            if had is not None and has is not None and had.devices != has.devices:
                self._excuse()
        elif had is not None or is_extended:
            self._excuse()
