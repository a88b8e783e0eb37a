"""Takes part in a leader election, on a separate thread."""

import random
import socket
import threading
import uuid
from typing import Final, NoReturn

from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.election.candidate import Candidate
from quaymaster._clusters.election.fence import Fence
from quaymaster._clusters.election.rules import Answer, Ask, Clocks, Pause, Rules
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import ApiClient, Count
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._core.config.settings import LeaderElection

__all__ = ["LeaderElector", "election_client", "new_identity"]

_TOO_MANY: Final = 429


class LeaderElector:
    """Acquires a lease, and renews it as long as possible.

    It needs the rights ``create`` for leases in the lease's namespace, and ``get`` and
    ``update`` for the lease of its name.

    Args:
        client: The client of the API server, which only the elector uses; see
            `election_client`.
        settings: The lease, and the durations.
        candidate: The candidate, whose callbacks run on the thread of `run`.
        clocks: The clocks; by default the machine's.
    """

    def __init__(
        self,
        client: ApiClient,
        settings: LeaderElection,
        candidate: Candidate,
        *,
        clocks: Clocks | None = None,
    ) -> None:
        self._client = client
        self._rules = Rules(settings, candidate, clocks or Clocks(jitter=random.random))
        self._stopped = threading.Event()

    @property
    def fence(self) -> Fence:
        """The fence, which decides whether a write may be sent."""
        return self._rules.fence

    def run(self) -> None:
        """Take part until the lease is lost, or until `stop`."""
        steps = self._rules.run()
        answer: Answer | None = None
        try:
            while True:
                step = next(steps) if answer is None else steps.send(answer)
                answer = self._done(step)
        except StopIteration:
            return
        finally:
            self.fence.shut()
            self._client.close()

    def stop(self) -> None:
        """Make `run` release the lease and return; the fence is shut at once.

        Any thread may call it, once all writes have been answered.
        """
        self._rules.stop()
        self._stopped.set()

    def _done(self, step: Ask | Pause) -> Answer:
        if isinstance(step, Pause):
            self._stopped.wait(step.seconds)
            return b""
        try:
            return self._client.request(step.method, step.path, body=step.body).body
        except QuaymasterError as error:
            return error


def election_client(
    access: Access,
    settings: LeaderElection,
    count: Count | None = None,
    issuer: Issuer | None = None,
) -> ApiClient:
    """Create a client for a leader election, with a timeout below the renew deadline.

    Mirrors ``NewFromKubeconfig`` (k8s.io/client-go v0.36,
    ``tools/leaderelection/resourcelock``): one hanging request does not lose the lease.
    """

    # A client that waits as the server requests could miss the deadline; the election
    # has a period of its own.
    def refuse_to_wait(seconds: float) -> NoReturn:
        message = f"the server requests a delay of {seconds:g} seconds"
        raise ApiError(access.name, message, code=_TOO_MANY)

    timeout = max(1.0, settings.renew_deadline.total_seconds() / 2)
    return ApiClient(
        access, timeout=timeout, sleep=refuse_to_wait, count=count, issuer=issuer
    )


def new_identity() -> str:
    """Create a name that is unique among all processes of all machines."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"
