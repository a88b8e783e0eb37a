"""Follows the resources that the engine requests, each on its own thread."""

import contextlib
import threading
import time
from collections.abc import Callable

from quaymaster._clusters.driver.frames import Follow, Message, Spec, Trouble
from quaymaster._clusters.driver.packing import PodPacker
from quaymaster._clusters.driver.reflector import SECONDS_OF_SILENCE, Reflector
from quaymaster._clusters.driver.sent_versions import as_text
from quaymaster._clusters.driver.stalls import SECONDS_BETWEEN_CHECKS
from quaymaster._clusters.driver.wakeup import Wakeup
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient, Count
from quaymaster._clusters.kubernetes.issuing import Issuer

__all__ = ["Inbound"]


class Inbound:
    """Follows resources of a server.

    Args:
        access: The server and the credentials.
        send: Sends a message to the engine; any thread may call it. It raises an
            OSError if the engine's process has ended.
        count: Counts each request by its method, status and seconds.
        issuer: Runs the credential program, if any.
    """

    def __init__(
        self,
        access: Access,
        send: Callable[[Message], None],
        count: Count,
        issuer: Issuer | None = None,
    ) -> None:
        self._count = count
        self._issuer = issuer or Issuer()
        self._access = access
        self._send = send
        self._wakeup = Wakeup()
        self._reflectors: list[Reflector] = []

    def follow(self, follow: Follow) -> None:
        """Begin to follow a resource; its list is current or newer."""
        if not self._reflectors:
            threading.Thread(target=self._check, name="stalls", daemon=True).start()
        self._reflectors.append(self._reflector(follow))
        threading.Thread(
            target=self._run,
            args=(self._reflectors[-1],),
            name=follow.path,
            daemon=True,
        ).start()

    def _run(self, reflector: Reflector) -> None:
        with contextlib.suppress(_EngineGoneError):
            reflector.run()

    def _check(self) -> None:
        """Report stalled streams, until the engine's process ends."""
        with contextlib.suppress(_EngineGoneError):
            while True:
                time.sleep(SECONDS_BETWEEN_CHECKS)
                for reflector in list(self._reflectors):
                    reflector.check()

    def _reflector(self, follow: Follow) -> Reflector:
        number = follow.resource

        def send(message: Message) -> None:
            try:
                self._send(message)
            except OSError as error:
                raise _EngineGoneError from error
            if isinstance(message, Trouble) and not message.why:
                # The server works again. Without this, each of the other resources
                # would wait for its own delay to end, which takes up to a minute.
                self._wakeup.wake_all()

        def send_spec(spec: int, text: bytes) -> None:
            send(Spec(number, spec, text))

        packed = PodPacker(send_spec).packed if follow.are_pods else as_text
        client = ApiClient(
            self._access,
            timeout=SECONDS_OF_SILENCE,
            count=self._count,
            issuer=self._issuer,
        )
        return Reflector(
            client,
            number,
            follow.path,
            packed,
            send,
            wait_for_server=self._wakeup.wait,
        )


class _EngineGoneError(Exception):
    """The engine's process has ended."""
