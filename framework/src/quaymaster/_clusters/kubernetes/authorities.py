"""The authorities by which a cluster knows its clients, from its ConfigMap.

Mirrors ``DynamicCAFromConfigMapController`` (k8s.io/apiserver v0.36,
``pkg/server/dynamiccertificates``), but for two things: the ConfigMap is read now and
then, not followed, and requests that an aggregator passes on are not known by the names
in their headers, since schedulers are behind none.
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
    """Keeps what the cluster says of the certificates of clients.

    Args:
        read: Reads a path of the API server; it may block.
    """

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._text = ""
        self._trouble = ""
        self._stopped = threading.Event()

    def text(self) -> str:
        """The certificates of the authorities, in PEM form; empty for none."""
        return self._text

    def start(self) -> None:
        """Read them every minute, on a thread that does not keep the process alive."""
        threading.Thread(target=self._keep, name="authorities", daemon=True).start()

    def stop(self) -> None:
        """Read them no more."""
        self._stopped.set()

    def refresh(self) -> None:
        """Read them now; what was known stays if that fails, which is logged once."""
        trouble = ""
        try:
            answer = self._read(_TARGET)
            self._text = msgspec.json.decode(answer, type=_ConfigMap).data.authorities
        except NotFoundError:
            self._text = ""
        except (QuaymasterError, msgspec.DecodeError) as error:
            trouble = str(error)
        if trouble and trouble != self._trouble and not self._stopped.is_set():
            _log.warning(
                "%s: the ConfigMap %s: %s",
                "authorities of clients stay as they were"
                if self._text
                else "clients are known by tokens alone",
                "/".join(AUTHORITIES),
                trouble,
            )
        self._trouble = trouble

    def _keep(self) -> None:
        while not self._stopped.is_set():
            self.refresh()
            self._stopped.wait(_SECONDS)
