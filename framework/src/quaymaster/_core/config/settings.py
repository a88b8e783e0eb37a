"""The settings of a configuration besides plugins.

Mirrors ``types.go`` (k8s.io/kube-scheduler v0.36, ``config/v1``) and ``types.go``
(k8s.io/component-base v0.36, ``config/v1alpha1``), with the defaults and rules of
Kubernetes v1.36 (``pkg/scheduler/apis/config``).
"""

from collections.abc import Iterator
from datetime import timedelta

import attrs

from quaymaster._api.objects.resource_names import is_extended_resource
from quaymaster._core.config.duration import format_duration
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import ZERO_MEANS_DEFAULT, integer, qualified_name
from quaymaster._core.config.naming import show

__all__ = [
    "ClientConnection",
    "Extender",
    "ExtenderTLS",
    "LeaderElection",
    "ManagedResource",
]

_NO_TIME = timedelta(0)
_LEASE = timedelta(seconds=15)
_RENEW = timedelta(seconds=10)
_RETRY = timedelta(seconds=2)
_RETRY_JITTER = 1.2  # the largest factor of a pause, as in client-go
_LOCK = "leases"
_LOCK_NAME = "kube-scheduler"
_LOCK_NAMESPACE = "kube-system"
_CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_QPS = 50.0
_BURST = 100
_TIMEOUT = timedelta(seconds=5)


@attrs.frozen(kw_only=True)
class LeaderElection:
    """How several replicas of a scheduler elect a leader.

    Attributes:
        leader_elect: Whether they elect a leader; otherwise every replica schedules.
        lease_duration: How long the others wait before they take over.
        renew_deadline: How long the leader tries to renew before it gives up.
        retry_period: The pause between two tries.
        resource_lock: The kind of object that is the lock; only ``leases`` exists.
        resource_name: The lock's name.
        resource_namespace: The lock's namespace.
    """

    leader_elect: bool = True
    lease_duration: timedelta = attrs.field(default=_LEASE, metadata=ZERO_MEANS_DEFAULT)
    renew_deadline: timedelta = attrs.field(default=_RENEW, metadata=ZERO_MEANS_DEFAULT)
    retry_period: timedelta = attrs.field(default=_RETRY, metadata=ZERO_MEANS_DEFAULT)
    resource_lock: str = attrs.field(default=_LOCK, metadata=ZERO_MEANS_DEFAULT)
    resource_name: str = attrs.field(default=_LOCK_NAME, metadata=ZERO_MEANS_DEFAULT)
    resource_namespace: str = attrs.field(
        default=_LOCK_NAMESPACE, metadata=ZERO_MEANS_DEFAULT
    )

    def validate(self) -> Iterator[ArgsError]:
        """Check the times and the lock, if there is an election."""
        if not self.leader_elect:
            return
        for path, length in (
            ("leaseDuration", self.lease_duration),
            ("renewDeadline", self.renew_deadline),
            ("retryPeriod", self.retry_period),
        ):
            if length <= _NO_TIME:
                got = format_duration(length)
                yield ArgsError(path, f"expected more than 0s, got {got}")
        if self.lease_duration <= self.renew_deadline:
            least = f"renewDeadline ({format_duration(self.renew_deadline)})"
            got = format_duration(self.lease_duration)
            yield ArgsError("leaseDuration", f"expected more than {least}, got {got}")
        if self.renew_deadline <= self.retry_period * _RETRY_JITTER:
            least = f"{_RETRY_JITTER} times retryPeriod"
            least = f"{least} ({format_duration(self.retry_period)})"
            got = format_duration(self.renew_deadline)
            yield ArgsError("renewDeadline", f"expected more than {least}, got {got}")
        if self.resource_lock != _LOCK:
            got = show(self.resource_lock)
            yield ArgsError("resourceLock", f"expected {_LOCK!r}, got {got}")


@attrs.frozen(kw_only=True)
class ClientConnection:
    """The connection to the API server.

    Attributes:
        kubeconfig: The path of a kubeconfig file.
        accept_content_types: The accepted content types; empty for the default.
        content_type: The content type of requests.
        qps: Calls per second, on average.
        burst: Calls at once.
    """

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = attrs.field(
        default=_CONTENT_TYPE,
        metadata=ZERO_MEANS_DEFAULT,
    )
    qps: float = attrs.field(default=_QPS, metadata=ZERO_MEANS_DEFAULT)
    burst: int = attrs.field(
        default=_BURST,
        metadata=ZERO_MEANS_DEFAULT,
        validator=integer(0, 2**31 - 1),
    )


@attrs.frozen(kw_only=True)
class ManagedResource:
    """An extended resource that an extender manages.

    Attributes:
        name: Its name, such as ``example.com/gpu``.
        ignored_by_scheduler: Whether the filters leave it to the extender.
    """

    name: str = attrs.field(validator=qualified_name())
    ignored_by_scheduler: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that the resource is not one of Kubernetes itself."""
        if not is_extended_resource(self.name):
            expected = "an extended resource such as example.com/gpu"
            yield ArgsError("name", f"expected {expected}, got {self.name!r}")


@attrs.frozen(kw_only=True)
class ExtenderTLS:
    """How the connection to an extender is secured.

    Attributes:
        insecure: Whether to skip the check of the server's certificate; for tests only.
        server_name: The name to check the certificate for, if not the host's.
        cert_file: The path of the client certificate.
        key_file: The path of its key.
        ca_file: The path of the trusted root certificates.
        cert_data: The client certificate itself, in PEM; overrides the file.
        key_data: Its key, in PEM; overrides the file.
        ca_data: The root certificates, in PEM; override the file.
    """

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""

    def validate(self) -> Iterator[ArgsError]:
        """Check that root certificates are not set and ignored at once."""
        if self.insecure and (self.ca_file or self.ca_data):
            yield ArgsError(
                "insecure", "expected false, since root certificates are given"
            )


@attrs.frozen(kw_only=True)
class Extender:
    """A webhook that takes part in the decisions of every profile.

    Attributes:
        url_prefix: Its URL, up to the verb.
        filter_verb: Appended to the prefix to filter nodes; empty if it filters none.
        preempt_verb: Appended for preemption; empty if it takes no part in it.
        prioritize_verb: Appended to score nodes; empty if it scores none.
        weight: The factor of its scores; positive if it scores.
        bind_verb: Appended to bind pods; at most one extender may bind.
        enable_https: Whether to use HTTPS.
        tls_config: The TLS settings.
        http_timeout: How long a call may take.
        node_cache_capable: Whether it caches nodes itself and needs only their names.
        managed_resources: It is called only for pods that request one of these; if
            empty, for every pod.
        ignorable: Whether scheduling continues when it fails.
    """

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = attrs.field(default=False, metadata={"key": "enableHTTPS"})
    tls_config: ExtenderTLS | None = None
    http_timeout: timedelta = attrs.field(default=_TIMEOUT, metadata=ZERO_MEANS_DEFAULT)
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False

    def validate(self) -> Iterator[ArgsError]:
        """Check that an extender which scores has a weight."""
        if self.prioritize_verb and self.weight <= 0:
            got = show(self.weight)
            expected = "1 or more, since prioritizeVerb is set"
            yield ArgsError("weight", f"expected {expected}, got {got}")
