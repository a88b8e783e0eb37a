"""Checks that instances with other arguments decide for themselves."""

from typing import Final

import attrs

from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.argument_sharing import other_values
from quaymaster._authors.testing.contract.attempts import copies_of, place
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.errors import QuaymasterError

__all__ = ["ask_shared_arguments"]

_COPIES: Final = 3
"""The pods that are tried one after the other; some limits are reached."""


def ask_shared_arguments(subject: Subject, cluster: SmallCluster) -> None:
    """Check that what profiles share does not keep the arguments of the first one.

    Args:
        subject: The plugin.
        cluster: A cluster, which has a waiting pod.
    """
    args = subject.config.plugin_args.get(subject.name)
    if args is None or not Bench(subject, cluster).services.shared:
        return
    for key, value in other_values(args):
        given = attrs.evolve(subject, args={**(subject.args or {}), key: value})
        try:
            first = Bench(given, cluster)
        except (QuaymasterError, HookFailedError):
            continue  # the value is not valid, or another check reports the failure
        # It sees no waiting pods of the other profile, so that it does not allow them.
        beside = Bench(subject, SmallCluster(), services=first.services)
        _compare(beside, Bench(subject, cluster), cluster, key)
        given.close()


def _compare(beside: Bench, alone: Bench, cluster: SmallCluster, key: str) -> None:
    """Compare an instance beside one with another argument, and one alone."""
    text = f"in a profile whose other profiles have another argument {key}, as without"
    remedy = (
        "what handle.shared returns keeps the arguments of the first profile: give "
        "arguments to its methods instead"
    )
    copies = copies_of(cluster.pending[0], _COPIES)
    for bench in (beside, alone):
        for copy in copies:
            bench.add(copy)
    for copy in copies:
        changed = difference(answers(beside, copy), answers(alone, copy))
        if changed is not None:
            fail(changed.hook, f"{changed} {text} them: {remedy}", copy)
        actual, expected = place(beside, copy), place(alone, copy)
        if actual != expected:
            hook = "permit" if beside.subject.has("permit") else "reserve"
            said = f"{shown(actual)}, expected {shown(expected)}"
            fail(hook, f"{said} {text} them: {remedy}", copy)
