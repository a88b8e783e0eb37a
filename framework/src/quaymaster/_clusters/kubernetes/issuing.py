"""Runs a credential program once for all connections of a process."""

import threading
import time
from collections.abc import Callable

from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.exec_program import Issued, ask_program
from quaymaster._clusters.kubernetes.kubeconfig_model import ExecConfig

__all__ = ["Issuer"]


class Issuer:
    """Caches a program's credentials until they expire or are refused.

    Any thread may call it. Threads that call it while the program runs wait for its
    result.

    Args:
        now: Returns the seconds since the epoch, for credentials that expire.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._program: object = None
        self._issued: Issued | None = None

    def issued(
        self, access: Access, config: ExecConfig, refused: Issued | None = None
    ) -> Issued:
        """Return the credentials of the program.

        Args:
            access: The access that names the program.
            config: The program.
            refused: The credentials that the server has refused, if any.

        Raises:
            CredentialsError: It cannot be run, fails, or prints something else.
        """
        with self._lock:
            issued = self._issued
            # Identity: newer credentials may have the same content.
            program = config, access.exec_cluster
            is_of_use = issued is not refused and program == self._program
            if issued is None or not is_of_use or self._has_expired(issued):
                issued = self._issued = ask_program(access, config)
                self._program = program
            return issued

    def _has_expired(self, issued: Issued) -> bool:
        return issued.expires is not None and self._now() >= issued.expires
