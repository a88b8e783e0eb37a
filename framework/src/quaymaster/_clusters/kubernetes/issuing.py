"""Asks a program for credentials once, for all connections of a process."""

import threading
import time
from collections.abc import Callable

from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.exec_program import Issued, ask_program
from quaymaster._clusters.kubernetes.kubeconfig_model import ExecConfig

__all__ = ["Issuer"]


class Issuer:
    """Keeps what a program gave, until that expires or is refused; from any thread.

    Whoever asks meanwhile waits for the program, and gets what it gives.

    Args:
        now: Seconds since the epoch, for what expires.
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._asked: object = None
        self._issued: Issued | None = None

    def issued(
        self, access: Access, config: ExecConfig, refused: Issued | None = None
    ) -> Issued:
        """What the program gives.

        Args:
            access: The access that it belongs to.
            config: The program.
            refused: What the server has refused, if anything.

        Raises:
            CredentialsError: It cannot be run, fails, or answers with something else.
        """
        with self._lock:
            known = self._issued
            # Identity: another one may look the same, and was given later.
            asked = config, access.exec_cluster
            is_of_use = known is not refused and asked == self._asked
            if known is None or not is_of_use or self._has_expired(known):
                known = self._issued = ask_program(access, config)
                self._asked = asked
            return known

    def _has_expired(self, issued: Issued) -> bool:
        return issued.expires is not None and self._now() >= issued.expires
