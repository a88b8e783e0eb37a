"""Checks for other schedulers of the same pods, by the lease and by events."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from quaymaster._api.objects import Lease, Time
from quaymaster._api.objects.core import LeaseSpec
from quaymaster._api.objects.wire import from_wire
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.resources import resource_of
from quaymaster._core.config.settings import LeaderElection
from quaymaster._surfaces.deploy.documents import UPSTREAM_LEASE, UPSTREAM_SCHEDULER
from quaymaster._surfaces.deploy.findings import Finding, fine, worrying
from quaymaster._surfaces.deploy.patient import Patient

__all__ = ["lease_held", "nobody_else_schedules"]

_NOT_FOUND: Final = 404
_LATELY: Final = 300.0  # seconds
_EVENTS: Final = "/apis/events.k8s.io/v1/events"


def lease_held(patient: Patient) -> Iterator[Finding]:
    """Report the holder of the configuration's lease."""
    election = patient.config.leader_election
    if not election.leader_elect:
        yield worrying("lease", "no election: two replicas would both schedule")
        return
    where = f"{election.resource_namespace}/{election.resource_name}"
    try:
        spec = _spec_of(patient, election.resource_namespace, election.resource_name)
    except QuaymasterError as error:
        yield worrying("lease", f"{where} cannot be read: {error}")
        return
    if spec is None:
        yield fine("lease", f"{where} does not exist yet; the first leader creates it")
    else:
        yield fine("lease", f"{where} {_holder_text(spec, patient.now())}")


def nobody_else_schedules(patient: Patient) -> Iterator[Finding]:
    """Check that no other scheduler schedules the pods of the profiles."""
    findings = [*_kube_scheduler(patient), *_writers_of_events(patient)]
    names = ", ".join(patient.scheduler_names)
    yield from findings or [fine("rivals", f"no other scheduler of {names} was seen")]


def _kube_scheduler(patient: Patient) -> Iterator[Finding]:
    election = patient.config.leader_election
    own = (election.resource_namespace, election.resource_name)
    is_shared = election.leader_elect and own == UPSTREAM_LEASE
    if UPSTREAM_SCHEDULER not in patient.scheduler_names or is_shared:
        return
    try:
        spec = _spec_of(patient, *UPSTREAM_LEASE)
    except QuaymasterError:
        return  # the minimal rights do not include this
    if spec is not None and _is_held(spec, patient.now()):
        text = f"kube-scheduler ({spec.holder_identity}) schedules the same pods"
        yield worrying("rivals", f"{text}: stop it, or take turns by its lease")


def _writers_of_events(patient: Patient) -> Iterator[Finding]:
    """Report the writers of recent Scheduled events, except the leader."""
    leader = _leader(patient)
    for name in patient.scheduler_names:
        selector = f"reason=Scheduled,reportingController={name}"
        query: dict[str, str | int] = {"fieldSelector": selector, "limit": 500}
        try:
            items = patient.read(_EVENTS, query).get("items") or ()
        except ApiError:
            return  # the minimal rights do not include this
        since = patient.now() - _LATELY
        writers = {_writer(item, name) for item in items if _time_of(item) > since}
        for writer in sorted(writers - {leader, ""} if leader else writers):
            who = writer or "an unnamed scheduler"
            yield worrying("rivals", f"{who} has recently scheduled pods of {name!r}")


def _leader(patient: Patient) -> str:
    """Return the host of the lease's holder, or an empty text."""
    election: LeaderElection = patient.config.leader_election
    try:
        spec = _spec_of(patient, election.resource_namespace, election.resource_name)
    except QuaymasterError:
        return ""
    if spec is None or not _is_held(spec, patient.now()):
        return ""
    # Identities have the form HOST_UUID; writers of events are named by their host.
    return (spec.holder_identity or "").rpartition("_")[0]


def _writer(item: Mapping[str, Any], name: str) -> str:
    """Return the host of an event's writer, or an empty text."""
    instance = str(item.get("reportingInstance", ""))
    return instance.removeprefix(name).removeprefix("-")


def _time_of(item: Mapping[str, Any]) -> float:
    series = item.get("series") or {}
    text = series.get("lastObservedTime") or item.get("eventTime") or ""
    try:
        return float(Time.parse(text))
    except ValueError:
        return 0.0


def _spec_of(patient: Patient, namespace: str, name: str) -> LeaseSpec | None:
    """Return the spec of a lease; None if the lease does not exist.

    Raises:
        ApiError: It may not be read.
        ObjectError: It is not a lease.
    """
    path = f"{resource_of(Lease).path(namespace)}/{name}"
    try:
        return from_wire(patient.read(path), Lease).spec
    except ApiError as error:
        if error.code == _NOT_FOUND:
            return None
        raise


def _is_held(spec: LeaseSpec, now: float) -> bool:
    if not spec.holder_identity or spec.renew_time is None:
        return False
    return now < float(spec.renew_time) + (spec.lease_duration_seconds or 0)


def _holder_text(spec: LeaseSpec, now: float) -> str:
    if not spec.holder_identity or spec.renew_time is None:
        return "has no holder"
    seconds = max(0.0, now - float(spec.renew_time))
    who = f"{spec.holder_identity}, renewed {seconds:.0f} s ago"
    return f"is held by {who}" if _is_held(spec, now) else f"was held by {who}"
