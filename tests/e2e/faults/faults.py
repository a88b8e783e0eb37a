"""The faults: each begins when its function is called, and is over when it returns."""

import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from tests.e2e.faults.proxy import Act, Proxy
from tests.e2e.faults.stage import Stage
from tests.e2e.processes import eventually
from tests.e2e.replicas import LEASE_SECONDS, Replica

__all__ = ["FAULTS", "Fault"]

_REPLACED: Final = 30
_REACHED: Final = 10.0  # seconds until a request that a fault waits for


@attrs.frozen
class Fault:
    """A fault.

    Attributes:
        play: Causes the fault.
        replicas: The number of schedulers.
        via_proxy: Whether the schedulers are behind a proxy.
        kills: Whether it kills a scheduler. As upstream, a scheduler writes the
            condition of a group once, after its cycle. If it is killed before, the
            condition is missing: the next one has no cycle for pods that are bound.
    """

    play: Callable[[Stage], None]
    replicas: int = 1
    via_proxy: bool = False
    kills: bool = False


def kill_scheduler(stage: Stage) -> None:
    """Kill the engine's process; sometimes both processes."""
    (replica,) = stage.replicas
    if stage.random.random() < 0.5:
        replica.kill("engine")
    else:
        replica.program.kill()


def kill_between_bindings(stage: Stage) -> None:
    """Kill the scheduler after some bindings; the requests for others are lost."""
    (replica,) = stage.replicas
    proxy, left = _proxy(stage), stage.random.randint(1, 8)
    has_failed = threading.Event()

    def choose(_method: str, target: str) -> Act:
        nonlocal left
        if not target.endswith("/binding"):
            return Act.PASS
        left -= 1
        if left >= 0:
            return Act.PASS
        has_failed.set()
        return Act.FAIL

    proxy.choose = choose
    has_failed.wait(_REACHED)
    replica.program.kill()
    proxy.heal()


def end_scheduler(stage: Stage) -> None:
    """Send SIGTERM to the scheduler; sometimes twice, which ends it at once."""
    (replica,) = stage.replicas
    replica.kill("engine", signal.SIGTERM)
    if stage.random.random() < 0.3:
        stage.sleep(0.0, 0.5)
        replica.kill("engine", signal.SIGTERM)


def end_leader(stage: Stage) -> None:
    """Send SIGTERM to the leader, which releases its lease to a standby."""
    stage.leader().kill("engine", signal.SIGTERM)


def kill_io(stage: Stage) -> None:
    """Kill the I/O process only."""
    (replica,) = stage.replicas
    replica.kill("io")


def kill_leader(stage: Stage) -> None:
    """Kill the leader while a standby runs."""
    stage.leader().kill("engine")


def pause_leader(stage: Stage) -> None:
    """Stop the leader until another replica leads, and then continue it."""
    leader = stage.leader()
    leader.program.pause()
    _until_another_leads(stage, leader)


def pause_engine(stage: Stage) -> None:
    """Stop only the leader's engine until another replica leads, then continue it."""
    leader = stage.leader()
    leader.kill("engine", signal.SIGSTOP)
    _until_another_leads(stage, leader)


def _until_another_leads(stage: Stage, leader: Replica) -> None:
    try:
        eventually(
            lambda: stage.leader() is not leader,
            within=LEASE_SECONDS * 5,
            what="another leader",
        )
        stage.sleep(0.0, 1.0)
    finally:
        leader.program.resume()


def restart_api_server(stage: Stage) -> None:
    """Stop the API server for some seconds."""
    server = stage.plane.apiserver
    if stage.random.random() < 0.5:
        server.kill()
    else:
        server.stop()
    stage.sleep(0.0, 5.0)
    server.start()


def stall_etcd(stage: Stage) -> None:
    """Stop the store for 20 seconds."""
    stage.plane.etcd.pause()
    time.sleep(20.0)
    stage.plane.etcd.resume()


def cut_watches(stage: Stage) -> None:
    """Break all watches, again and again."""
    proxy = _proxy(stage)
    for _ in range(stage.random.randint(3, 8)):
        proxy.cut_watches()
        stage.sleep(0.0, 1.0)


def compact(stage: Stage) -> None:
    """Let watches resume too late, after pods changed and etcd was compacted."""
    proxy = _proxy(stage)
    proxy.choose = lambda _, target: Act.FAIL if "watch=" in target else Act.PASS
    proxy.cut_watches()
    stage.replace(_REPLACED)
    stage.plane.compact()
    stage.plane.apiserver.kill()  # it keeps its own history
    stage.plane.apiserver.start()
    proxy.heal()


def rotate_credentials(stage: Stage) -> None:
    """Replace the token; write its file a little later."""
    proxy = _proxy(stage)
    for _ in range(stage.random.randint(1, 3)):
        token = f"{stage.random.getrandbits(64):x}"
        if stage.random.random() < 0.5:
            proxy.token = token
            proxy.cut_watches()
            stage.sleep(0.0, 2.0)
        stage.show_token(token)
        stage.sleep(0.0, 0.5)
        proxy.token = token
        stage.sleep(0.5, 1.0)


def lose_answers(stage: Stage) -> None:
    """Execute requests, but lose some of the responses."""
    _meddle(stage, Act.LOSE)


def delay_requests(stage: Stage) -> None:
    """Delay some requests."""
    _meddle(stage, Act.DELAY)


def repeat_requests(stage: Stage) -> None:
    """Send some requests twice, and return the second response."""
    _meddle(stage, Act.REPEAT)


def refuse_requests(stage: Stage) -> None:
    """Refuse some requests with 429."""
    _meddle(stage, Act.REFUSE)


def fail_requests(stage: Stage) -> None:
    """Answer some requests with 500, whether they are executed or not."""
    _meddle(stage, Act.FAIL, Act.BREAK)


def mix(stage: Stage) -> None:
    """Do all that a proxy can do."""
    _meddle(stage, *(act for act in Act if act is not Act.PASS))


FAULTS: Final[Mapping[str, Fault]] = {
    "kill_scheduler": Fault(kill_scheduler, kills=True),
    "kill_between_bindings": Fault(kill_between_bindings, via_proxy=True, kills=True),
    "end_scheduler": Fault(end_scheduler),
    "end_leader": Fault(end_leader, replicas=2),
    "kill_io": Fault(kill_io),
    "kill_leader": Fault(kill_leader, replicas=2, kills=True),
    "pause_engine": Fault(pause_engine, replicas=2),
    "pause_leader": Fault(pause_leader, replicas=2),
    "restart_api_server": Fault(restart_api_server),
    "stall_etcd": Fault(stall_etcd),
    "stall_election": Fault(stall_etcd, replicas=2),
    "cut_watches": Fault(cut_watches, via_proxy=True),
    "compact": Fault(compact, via_proxy=True),
    "rotate_credentials": Fault(rotate_credentials, via_proxy=True),
    "lose_answers": Fault(lose_answers, via_proxy=True),
    "delay_requests": Fault(delay_requests, via_proxy=True),
    "repeat_requests": Fault(repeat_requests, via_proxy=True),
    "refuse_requests": Fault(refuse_requests, via_proxy=True),
    "fail_requests": Fault(fail_requests, via_proxy=True),
    "mix": Fault(mix, via_proxy=True, kills=True),
}
"""All faults by name."""


def _proxy(stage: Stage) -> Proxy:
    assert stage.proxy is not None, "the fault is behind a proxy"
    return stage.proxy


def _meddle(stage: Stage, *acts: Act) -> None:
    """Disturb a third of all requests for some seconds."""
    proxy, chance = _proxy(stage), stage.random

    def choose(_method: str, _target: str) -> Act:
        return chance.choice(acts) if chance.random() < 0.3 else Act.PASS

    proxy.choose = choose
    proxy.cut_watches()
    stage.sleep(2.0, 8.0)
    proxy.heal()
