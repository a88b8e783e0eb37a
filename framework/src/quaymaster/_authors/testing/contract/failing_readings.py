"""Lets the readings of a plugin fail for a while, as if a server did not answer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Final

import attrs

from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.derived import base_of_package
from quaymaster._authors.testing.contract.offline import offline
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.faults import Fault

__all__ = ["FailingReadings"]

_ALL_CALLS: Final = {Fault.ERROR: 1.0}


@attrs.define(eq=False)
class FailingReadings:
    """A plugin whose readings fail in some blocks.

    If a test has derived the class so that it reads no server, the methods of the
    package run in these blocks, without a network: what they do after a failure is that
    of the package.

    Attributes:
        is_failing: Whether readings fail now.
        count: How often readings have failed.
    """

    is_failing: bool = False
    count: int = 0

    def of(self, subject: Subject) -> Subject:
        """Return a plugin whose readings this can let fail."""
        base = base_of_package(subject.plugin)
        if base is None:
            return subject
        plugin = subject.plugin
        members: dict[str, object] = {
            name: self._switched(own, inherited)
            for name, own, inherited in _overridden(plugin, base)
        }
        members |= {"__module__": plugin.__module__, "__doc__": plugin.__doc__}
        return attrs.evolve(subject, plugin=type(plugin.__name__, (plugin,), members))

    def _switched(
        self, own: Callable[..., object], inherited: Callable[..., object]
    ) -> Callable[..., object]:
        @wraps(own)
        def call(*args: object, **options: object) -> object:
            return (inherited if self.is_failing else own)(*args, **options)

        return call

    @contextmanager
    def failing(self, bench: Bench) -> Iterator[None]:
        """Let readings fail in the block."""
        self.is_failing, self.count = True, self.count + 1
        bench.cluster.set_rates(_ALL_CALLS)
        try:
            with offline():
                yield
        finally:
            bench.cluster.set_rates({})
            self.is_failing = False


def _overridden(
    plugin: type, base: type
) -> Iterator[tuple[str, Callable[..., object], Callable[..., object]]]:
    """Yield the methods of a class of a test that another one has in its package."""
    names = {
        name
        for each in plugin.__mro__[: plugin.__mro__.index(base)]
        for name in vars(each)
    }
    for name in sorted(names):
        own, inherited = getattr(plugin, name), getattr(base, name, None)
        if hasattr(own, "quaymaster_impl") or name.startswith("__"):
            continue
        if isinstance(own, FunctionType) and isinstance(inherited, FunctionType):
            yield name, own, inherited
