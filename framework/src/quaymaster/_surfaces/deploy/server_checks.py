"""Checks of the API server: the user, the version, the clock, the kinds."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.kinds import group_of, plural_of
from quaymaster._base.versions.kubernetes import KUBERNETES_VERSIONS, Kubernetes
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._surfaces.deploy.findings import Finding, fine, missing, worrying
from quaymaster._surfaces.deploy.group_checks import why_unserved
from quaymaster._surfaces.deploy.patient import Patient
from quaymaster._surfaces.deploy.served import served_plurals

__all__ = ["kinds_served", "server_answers", "version_skew"]

_MOST_SKEW: Final = 5.0  # seconds; the header counts whole ones
_VERSION: Final = re.compile(r"v1\.(\d+)\.")
_WHOAMI: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def server_answers(patient: Patient) -> Iterator[Finding]:
    """Check that the server responds, and its user, version and clock.

    Raises:
        ApiError: The server does not respond.
    """
    before = patient.now()
    answer = patient.client.request("GET", "/version")
    moment = (before + patient.now()) / 2
    yield from _who(patient)
    yield version_skew(answer.body, patient.config.kubernetes)
    yield _clock(answer.headers.get("Date", ""), moment)


def _who(patient: Patient) -> Iterator[Finding]:
    review = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "SelfSubjectReview",
    }
    try:
        match = patient.post(_WHOAMI, review)
    except ApiError as error:
        yield worrying("server", f"answers, but does not report the user: {error}")
        return
    user = match.get("status", {}).get("userInfo", {}).get("username", "?")
    yield fine("server", f"answers as {user}")


def version_skew(body: bytes, kubernetes: Kubernetes) -> Finding:
    """Check that the server's version supports the emulated scheduler.

    Mirrors Kubernetes' version skew policy: a kube-scheduler has the server's minor
    version, or the one before.

    Args:
        body: The server's response at ``/version``.
        kubernetes: The emulated version of Kubernetes.
    """
    minor = int(kubernetes.version.partition(".")[2])
    text = ""
    with suppress(msgspec.DecodeError):
        text = msgspec.json.decode(body, type=dict[str, Any]).get("gitVersion", "")
    match = _VERSION.match(text)
    if match is None:
        return worrying("version", f"expected one such as v1.{minor}.0, got {text!r}")
    server = f"1.{match[1]}"
    if server == kubernetes.version:
        return fine("version", text)
    text_of_skew = f"{text}, and decisions are those of {kubernetes.version}"
    if server in KUBERNETES_VERSIONS:
        text_of_skew += f"; --kubernetes {server} makes those of the server's own"
    if int(match[1]) == minor + 1:
        return fine("version", text_of_skew)
    supported = f"v1.{minor} or v1.{minor + 1}"
    return worrying(
        "version", f"expected {supported}, as kube-scheduler has it: {text_of_skew}"
    )


def _clock(header: str, moment: float) -> Finding:
    try:
        skew = moment - parsedate_to_datetime(header).timestamp()
    except ValueError:
        return worrying("clock", "the server sends no valid Date header")
    if abs(skew) <= _MOST_SKEW:
        return fine("clock", f"within {_MOST_SKEW:.0f} s of the server's")
    side = "ahead of" if skew > 0 else "behind"
    return worrying("clock", f"{abs(skew):.0f} s {side} the server's: set the time")


def kinds_served(patient: Patient) -> Iterator[Finding]:
    """Check that the server has all kinds that plugins read."""
    versions = dict.fromkeys(kind.api_version for kind in patient.kinds)
    served = {version: served_plurals(patient.client, version) for version in versions}
    absent = [
        kind
        for kind in patient.kinds
        if plural_of(kind) not in served[kind.api_version]
    ]
    for kind in absent:
        where = f"{kind.kind} ({kind.api_version}) is not served"
        hint = _hint(kind)
        yield missing("kinds", f"{where}: {hint}" if hint else where)
    if not absent:
        yield fine("kinds", f"all {len(patient.kinds)} are served")


def _hint(kind: type[ApiObject]) -> str:
    """Return how a missing kind can be served; empty if that is unknown."""
    # Groups of Kubernetes have no dot, or end in k8s.io.
    group = group_of(kind.api_version)
    if "." in group and not group.endswith(".k8s.io"):
        return "is its CustomResourceDefinition there?"
    return why_unserved(kind)
