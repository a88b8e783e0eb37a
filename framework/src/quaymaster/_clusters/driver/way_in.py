"""Follows what the engine asks for, each resource on a thread of its own."""

import contextlib
import threading
import time
from collections.abc import Callable

from quaymaster._clusters.driver.bell import Bell
from quaymaster._clusters.driver.frames import Follow, Message, Spec, Trouble
from quaymaster._clusters.driver.packing import PodPacker
from quaymaster._clusters.driver.reflector import SECONDS_OF_SILENCE, Reflector
from quaymaster._clusters.driver.stalls import SECONDS_BETWEEN_CHECKS
from quaymaster._clusters.driver.told import as_text
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient, Count
from quaymaster._clusters.kubernetes.issuing import Issuer

__all__ = ["WayIn"]


class WayIn:
    """Follows resources of a server.

    Args:
        access: Where the server is.
        tell: Takes what there is to tell, on any thread; an OSError says that there is
            nobody any more to be told.
        count: Takes the method, the status and the seconds of each request.
        issuer: Asks the program that gives credentials, if there is one.
    """

    def __init__(
        self,
        access: Access,
        tell: Callable[[Message], None],
        count: Count,
        issuer: Issuer | None = None,
    ) -> None:
        self._count = count
        self._issuer = issuer or Issuer()
        self._access = access
        self._tell = tell
        self._bell = Bell()
        self._reflectors: list[Reflector] = []

    def follow(self, follow: Follow) -> None:
        """Begin to follow a resource; what is listed is as of now or later."""
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
        with contextlib.suppress(_NobodyError):
            reflector.run()

    def _check(self) -> None:
        """Report streams that do not go on, until the engine is gone."""
        with contextlib.suppress(_NobodyError):
            while True:
                time.sleep(SECONDS_BETWEEN_CHECKS)
                for reflector in list(self._reflectors):
                    reflector.check()

    def _reflector(self, follow: Follow) -> Reflector:
        number = follow.resource

        def tell(message: Message) -> None:
            try:
                self._tell(message)
            except OSError as error:
                raise _NobodyError from error
            if isinstance(message, Trouble) and not message.why:
                self._bell.ring()  # the server is back: for the others, too

        def tell_spec(spec: int, text: bytes) -> None:
            tell(Spec(number, spec, text))

        packed = PodPacker(tell_spec).packed if follow.are_pods else as_text
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
            tell,
            wait_for_server=self._bell.wait,
        )


class _NobodyError(Exception):
    """The engine is gone."""
