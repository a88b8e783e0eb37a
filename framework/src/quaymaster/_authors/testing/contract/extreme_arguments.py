"""Tries extreme values of a plugin's arguments: zero, negative, empty."""

import math
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._base.errors import EndlessLoopError, QuaymasterError
from quaymaster._core.config.records import RecordField, record_fields
from quaymaster._core.contract.scores import MAX_NODE_SCORE

__all__ = ["EXTREMES", "REMEDY", "ask_extremes", "problem_of"]

EXTREMES: Final[Sequence[tuple[object, Sequence[object]]]] = (
    (int, (0, -1)),
    (float, (0.0, -1.0, math.nan, math.inf)),
    (str, ("",)),
    (tuple[str, ...], ([],)),
    (Sequence[str], ([],)),
    (frozenset[str], ([],)),
    (Mapping[str, str], ({},)),
)
"""Types of arguments, and extreme values in a file."""

_SECONDS: Final = 61
"""Enough for timers that run each minute."""

_MOST_CPU_SECONDS: Final = 2.0
REMEDY: Final = (
    "check the value when it is loaded, with a validator of quaymaster.config such as "
    "integer(1), or accept it"
)
_CLUSTER: Final = SmallCluster(
    nodes=tuple(make_node(name=f"n{at}") for at in range(3)),
    pending=tuple(make_pod(name=f"w{at}") for at in range(2)),
)


class _LongRunError(BaseException):
    """A hook has taken too much CPU time."""


def ask_extremes(subject: Subject, args: object) -> None:
    """Check that a plugin rejects extreme arguments at load, or works with them.

    Args:
        subject: The plugin.
        args: Its arguments.
    """
    fields = [
        (field, value)
        for field in record_fields(type(args))
        for kind, values in EXTREMES
        if field.type == kind
        for value in values
    ]
    if not fields or problem_of(subject, _CLUSTER):
        return  # another check reports failures with usual arguments
    for field, value in fields:
        _ask(subject, field, value)


def _ask(subject: Subject, field: RecordField, value: object) -> None:
    given = attrs.evolve(subject, args={**(subject.args or {}), field.key: value})
    shown = f"{field.key}: {value!r}"
    try:
        _ = given.config
    except QuaymasterError as error:
        text = str(error)
        if field.key not in text and field.name not in text:
            problem = f"with the argument {shown}, it does not load, and the error"
            fail("", f"{problem} does not name the argument: {text}; {REMEDY}")
        return
    problem = problem_of(given, _CLUSTER)
    if problem:
        fail("", f"the argument {shown} is accepted, but then {problem}; {REMEDY}")


def problem_of(subject: Subject, cluster: SmallCluster) -> str:
    """Run a plugin on a cluster; return what goes wrong, or empty."""
    services = subject.make_services(subject.empty_cluster)
    cluster = attrs.evolve(cluster, objects=(*subject.objects, *cluster.objects))
    try:
        with _limited():
            bench = Bench(subject, cluster, services=services)
            for pod in cluster.pending:
                walk(bench, pod)
            bench.advance(_SECONDS)
            return _wrong_score(bench, cluster.pending) or ""
    except HookFailedError as failure:
        return f"{failure.hook} {failure.problem}"
    except EndlessLoopError as error:
        return str(error)
    except _LongRunError:
        return f"a hook runs for more than {_MOST_CPU_SECONDS:g} s"
    finally:
        subject.benches.clear()


def _wrong_score(bench: Bench, pods: Iterable[Pod]) -> str:
    for pod in pods:
        for name, score in answers(bench, pod).normalized.items():
            if isinstance(score, int) and not 0 <= score <= MAX_NODE_SCORE:
                return f"node '{name}' has score {score}, expected 0 to 100"
    return ""


@contextmanager
def _limited() -> Iterator[None]:
    """Interrupt a block that takes too much CPU time, if the system can."""
    number = getattr(signal, "SIGVTALRM", None)
    is_main = threading.get_ident() == threading.main_thread().ident
    if number is None or not is_main or signal.getsignal(number) != signal.SIG_DFL:
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise _LongRunError

    signal.signal(number, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(number, signal.SIG_DFL)
