"""The authorities of a cluster's client certificates, from its ConfigMap.

Mirrors ``DynamicCAFromConfigMapController`` (k8s.io/apiserver v0.36,
``pkg/server/dynamiccertificates``), with two differences. The ConfigMap is read every
minute and not watched. The user headers of an aggregator are ignored, because no
aggregator forwards requests to schedulers.
"""

import logging
import threading
from collections.abc import Callable
from typing import Final

import msgspec

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["AUTHORITIES", "ClusterAuthorities"]

AUTHORITIES: Final = ("kube-system", "extension-apiserver-authentication")
"""The namespace and the name of the ConfigMap."""

_TARGET: Final = "/api/v1/namespaces/{}/configmaps/{}".format(*AUTHORITIES)
_SECONDS: Final = 60.0

_log = logging.getLogger(__name__)


class _Data(msgspec.Struct):
    authorities: str = msgspec.field(default="", name="client-ca-file")


class _ConfigMap(msgspec.Struct):
    data: _Data = msgspec.field(default_factory=_Data)


class ClusterAuthorities:
    """Keeps the authorities of client certificates.

    Args:
        read: Reads a path of the API server; it may block.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._text = ""
        self._trouble = ""
        self._stopped = threading.Event()

    def text(self) -> str:
        """Return the certificates of the authorities in PEM form, or an empty text."""
        return self._text

    def start(self) -> None:
        """Read them every minute, on a daemon thread."""
        threading.Thread(target=self._keep, name="authorities", daemon=True).start()

    def stop(self) -> None:
        """Stop reading them."""
        self._stopped.set()

    def refresh(self) -> None:
        """Read them now; after a failure, which is logged once, keep the last ones."""
        trouble = ""
        try:
            answer = self._read(_TARGET)
            self._text = msgspec.json.decode(answer, type=_ConfigMap).data.authorities
        except NotFoundError:
            # Without the ConfigMap, the old authorities are no longer trusted.
            self._text = ""
        except (QuaymasterError, msgspec.DecodeError) as error:
            trouble = str(error)
        if trouble and trouble != self._trouble and not self._stopped.is_set():
            _log.warning(
                "%s: the ConfigMap %s: %s",
                "the authorities of client certificates are not updated"
                if self._text
                else "clients can authenticate only with tokens",
                "/".join(AUTHORITIES),
                trouble,
            )
        self._trouble = trouble

    def _keep(self) -> None:
        while not self._stopped.is_set():
            self.refresh()
            self._stopped.wait(_SECONDS)
