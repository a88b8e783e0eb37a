"""Checks that a scheduler and its API server agree about groups of pods.

An API server serves the kinds of groups only with their feature gates, and only if its
flag ``--runtime-config`` enables their version. It drops fields whose gates are off.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from quaymaster._api.objects import ApiObject, CompositePodGroup, PodGroup
from quaymaster._api.objects.kinds import plural_of
from quaymaster._base.versions.kubernetes import KIND_GATES, Kubernetes
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._core.config.kinds import groups_read
from quaymaster._surfaces.deploy.findings import Finding, worrying
from quaymaster._surfaces.deploy.patient import Asks, Patient
from quaymaster._surfaces.deploy.served import served_plurals

__all__ = ["groups_agree", "unserved_groups", "why_unserved"]

_KINDS: Final = (PodGroup, CompositePodGroup)
_FIELD_GATES: Final = (
    "TopologyAwareWorkloadScheduling",
    "PodGroupPreemptionPolicy",
    "DRAWorkloadResourceClaims",
)
"""The gates of fields of groups, which an API server without the gate drops."""

_GATE: Final = re.compile(
    rb'^kubernetes_feature_enabled\{name="(\w+)",[^}]*\} ([01])$', re.MULTILINE
)


def unserved_groups(client: Asks, kubernetes: Kubernetes) -> list[str]:
    """Return a message for each kind of groups that the API server must serve.

    Args:
        client: The client of the API server.
        kubernetes: The version and feature gates of the scheduler.

    Raises:
        ApiError: The server cannot be reached, or refuses.
    """
    return [
        f"{kind.kind} ({kind.api_version}) is not served: {why_unserved(kind)}"
        for kind in groups_read(kubernetes)
        if not _is_served(client, kind)
    ]


def why_unserved(kind: type[ApiObject]) -> str:
    """Return how a missing kind of groups can be served; empty for other kinds."""
    if kind not in _KINDS:
        return ""
    gate = KIND_GATES[kind.kind]
    return (
        f"start kube-apiserver with --feature-gates={gate}=true "
        f"--runtime-config={kind.api_version}=true, or switch off the feature gate "
        f"{gate} here"
    )


def groups_agree(patient: Patient) -> Iterator[Finding]:
    """Check that no feature gate of groups is on at one side only.

    The gates of fields are compared if the user may read the metrics of the server.

    Raises:
        ApiError: The server cannot be reached, or refuses.
    """
    client, kubernetes = patient.client, patient.config.kubernetes
    read = groups_read(kubernetes)
    for kind in _KINDS:
        if kind not in read and _is_served(client, kind):
            gate = KIND_GATES[kind.kind]
            yield worrying(
                "gates",
                f"the API server serves {kind.kind}, but the feature gate {gate} is "
                f"off here: pods are scheduled as if they had no {kind.kind}",
            )
    if PodGroup not in read:
        return
    gates = _server_gates(client)
    for gate in _FIELD_GATES:
        is_on = kubernetes.enabled(gate)
        if gates.get(gate, is_on) != is_on:
            yield worrying("gates", _difference(gate, is_on=is_on))


def _difference(gate: str, *, is_on: bool) -> str:
    if is_on:
        return (
            f"the feature gate {gate} is on here, but off for the API server, which "
            "drops its fields"
        )
    return (
        f"the feature gate {gate} is on for the API server, but off here, where its "
        "fields have no effect"
    )


def _is_served(client: Asks, kind: type[ApiObject]) -> bool:
    return plural_of(kind) in served_plurals(client, kind.api_version)


def _server_gates(client: Asks) -> Mapping[str, bool]:
    """Return the feature gates of the API server; none if they cannot be read."""
    try:
        answer = client.request("GET", "/metrics")
    except ApiError:
        return {}
    return {name.decode(): value == b"1" for name, value in _GATE.findall(answer.body)}
