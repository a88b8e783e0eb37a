"""Runs a check on clusters that hypothesis draws."""

import math
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis.errors import Flaky, HypothesisWarning
from hypothesis.strategies import SearchStrategy, just

from quaymaster._authors.testing.contract.bench import HookFailedError
from quaymaster._authors.testing.contract.bench_cluster import EndlessCallsError
from quaymaster._authors.testing.contract.check import Check, Finding
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.strategies import (
    draw_clusters,
    draw_nodes,
    draw_pods,
)
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract_error import ClustersError

__all__ = ["default_clusters", "find"]

# A check enumerates further cases from its two clusters, so few examples are enough.
_EXAMPLES_PER_CHECK = 4

_NOTHING = SmallCluster()

# Enough for an example of a few objects (measured); hypothesis would spend seconds to
# shrink it further.
_MOST_CALLS_TO_SHRINK = 80

# For a check that needs more clusters than usual: how many times as many it may get.
_MOST_FURTHER = 16

# A check may need a second for a cluster, and its author waits for the finding.
_MOST_SECONDS_TO_SHRINK = 15


class _EnoughError(BaseException):
    """Ends hypothesis, as Ctrl-C does, once the example or the run is good enough."""


def default_clusters() -> SearchStrategy[SmallCluster]:
    """Return the default clusters for trying a plugin."""
    return draw_clusters(draw_nodes(), draw_pods(), None)


def find(
    check: Check,
    subject: Subject,
    clusters: SearchStrategy[SmallCluster],
    *,
    stable: bool = False,
) -> Finding | None:
    """Return a small example that breaks the promise of a check, or None.

    Args:
        check: The check.
        subject: The plugin.
        clusters: Draws the clusters to try.
        stable: Whether to draw the same clusters each time, and to store nothing.

    Raises:
        ClustersError: The clusters cannot be drawn.
    """
    chosen = _settings(stable)
    finding = _found(check, subject, clusters, chosen)
    if finding is None and check.tries_fixed and not chosen.derandomize:
        finding = _found(check, subject, clusters, _settings(stable=True))
    if finding is None and check.needs_more(subject):
        finding = _found(check, subject, clusters, _settings(stable), is_further=True)
    return _concluded(check, subject) if finding is None else finding


def _concluded(check: Check, subject: Subject) -> Finding | None:
    """Return what all clusters of a run together show, or None."""
    try:
        check.conclude(subject)
    except Finding as finding:
        return finding
    return None


def _found(
    check: Check,
    subject: Subject,
    clusters: SearchStrategy[SmallCluster],
    chosen: settings,
    *,
    is_further: bool = False,
) -> Finding | None:
    findings: list[Finding] = []
    errors: list[Exception] = []
    calls, deadline = 0, math.inf

    def ask(cluster: SmallCluster, other: SmallCluster) -> None:
        nonlocal calls, deadline
        if is_further and not check.needs_more(subject):
            raise _EnoughError
        calls += bool(findings)
        if calls > _MOST_CALLS_TO_SHRINK or perf_counter() > deadline:
            raise _EnoughError
        try:
            with _noting(errors):
                check.ask(subject, _with(subject, cluster), _with(subject, other))
        except HookFailedError:
            return  # another check reports failures
        except Finding as finding:
            if not findings:
                deadline = perf_counter() + _MOST_SECONDS_TO_SHRINK
            findings.append(finding)
            raise
        finally:
            _close(subject)

    # hypothesis stores failing examples by this name, and replays them.
    ask.__name__ = f"{check.name} {subject.name}".replace(" ", "_")
    if is_further:
        ask.__name__ += "_further"
        examples = chosen.max_examples * _MOST_FURTHER
        chosen = settings(chosen, max_examples=examples)
    with suppress(Finding, Flaky, _EnoughError), warnings.catch_warnings():
        # Examples are long to print, and the finding already shows them.
        warnings.simplefilter("ignore", HypothesisWarning)
        others = clusters if check.needs_other else just(_NOTHING)
        test = given(clusters, others)(ask)
        if chosen.derandomize:
            # hypothesis would make the seed from the source of `ask`. Then a new name
            # in this module would draw other clusters in the tests of every plugin.
            test = seed(_seed_of(ask.__name__))(test)
        _run(chosen(test), errors)
    return min(findings, key=_size, default=None)


@contextmanager
def _noting(errors: list[Exception]) -> Iterator[None]:
    """Note the errors of a check in the block.

    Args:
        errors: Gets them.
    """
    try:
        yield
    except EndlessCallsError as error:
        raise Finding("", str(error)) from error
    except Exception as error:
        errors.append(error)
        raise


def _run(test: Callable[[], None], errors: Sequence[Exception]) -> None:
    """Run a test of hypothesis.

    Args:
        test: The test.
        errors: The errors of its function.

    Raises:
        ClustersError: Another error was raised, so it is that of a strategy.
    """
    try:
        test()
    except (Finding, Flaky):
        raise
    except Exception as error:
        # Identity: errors need not compare.
        if any(error is each for each in errors):
            raise
        raise ClustersError(error) from error


def _seed_of(name: str) -> int:
    """Return a number that is the same in every process."""
    return zlib.crc32(name.encode())


def _close(subject: Subject) -> None:
    with suppress(HookFailedError):
        subject.close()


def _with(subject: Subject, cluster: SmallCluster) -> SmallCluster:
    """Return the cluster with the objects that the plugin always needs."""
    keys = {(type(obj), obj.key) for obj in cluster.objects}
    usual = (obj for obj in subject.objects if (type(obj), obj.key) not in keys)
    return attrs.evolve(cluster, objects=(*usual, *cluster.objects))


def _size(finding: Finding) -> int:
    return sum(map(len, finding.example)) + len(finding.problem)


def _settings(stable: bool) -> settings:
    current = settings(derandomize=True) if stable else settings()
    return settings(
        current,
        max_examples=max(1, current.max_examples // _EXAMPLES_PER_CHECK),
        verbosity=Verbosity.quiet,
        deadline=None,
        report_multiple_bugs=False,
        phases=[phase for phase in current.phases if phase is not Phase.explain],
        suppress_health_check=list(HealthCheck),
    )
