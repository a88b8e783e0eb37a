"""Follows what the engine asks for, each resource on a thread of its own."""

import contextlib
import threading
from collections.abc import Callable

from quaymaster._clusters.driver.bell import Bell
from quaymaster._clusters.driver.frames import Follow, Message, Spec, Trouble
from quaymaster._clusters.driver.packing import PodPacker
from quaymaster._clusters.driver.reflector import SECONDS_OF_SILENCE, Reflector
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

    def follow(self, follow: Follow) -> None:
        """Begin to follow a resource; what is listed is as of now or later."""
        threading.Thread(
            target=self._run, args=(follow,), name=follow.path, daemon=True
        ).start()

    def _run(self, follow: Follow) -> None:
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
        with contextlib.suppress(_NobodyError):
            Reflector(
                client,
                number,
                follow.path,
                packed,
                tell,
                wait_for_server=self._bell.wait,
            ).run()


class _NobodyError(Exception):
    """The engine is gone."""
