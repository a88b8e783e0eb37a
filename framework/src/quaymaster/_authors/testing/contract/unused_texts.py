"""Finds texts among arguments that a plugin only compares with texts of its own.

Such an argument has few valid values. A typing error would be accepted, and the plugin
would do what it does for one of the other values.
"""

import inspect
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any, Final, SupportsIndex

import attrs

from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.own_frames import module_of, packages_of
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.config.records import record_fields

__all__ = ["ask_texts"]

_TYPING_ERROR: Final = "no-such-value"
_FEWEST_TEXTS: Final = 2
"""So many fixed texts are a list of valid values, and not one special value."""

_NODES: Final = tuple(make_node(name=f"n{at}") for at in range(2))
_PODS: Final = (make_pod(name="w0"),)


class _TracedText(str):
    """A text that notes what it is compared with, and whether it is used otherwise.

    Attributes:
        packages: The plugin's packages; empty to note nothing.
        fixed: The texts of the plugin's code that it was compared with.
        is_looked_up: Whether it was the key of a look-up.
        is_used: Whether it was used in any other way.
    """

    packages: frozenset[str] = frozenset()
    is_looked_up = False
    is_used = False

    def __init__(self, _text: str) -> None:
        self.fixed: list[str] = []

    def is_only_compared(self) -> bool:
        """Return whether it was used for comparisons with fixed texts only."""
        return not self.is_used and not self.is_looked_up

    def _use(self) -> None:
        self.is_used = True

    def _compare(self, other: object, frame: FrameType) -> None:
        if isinstance(other, str) and _is_own(frame, self.packages):
            if _is_fixed(frame, other):
                self.fixed.append(str.__str__(other))
            else:
                self._use()  # it is the name of a node, or the like

    def __eq__(self, other: object) -> bool:
        self._compare(other, sys._getframe(1))
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        self._compare(other, sys._getframe(1))
        return str.__ne__(self, other) is True

    def __hash__(self) -> int:
        if _is_own(sys._getframe(1), self.packages):
            self.is_looked_up = True
        return str.__hash__(self)

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - of any method
        if hasattr(str, name) and not name.startswith("__"):
            self._use()
        return super().__getattribute__(name)

    def __format__(self, spec: str) -> str:
        self._use()
        return super().__format__(spec)

    def __str__(self) -> str:
        self._use()
        return super().__str__()

    def __add__(self, other: str) -> str:
        self._use()
        return super().__add__(other)

    def __radd__(self, other: str) -> str:
        self._use()
        return other.__add__(str.__str__(self))

    def __mod__(self, values: object) -> str:
        self._use()
        return super().__mod__(values)

    def __contains__(self, part: object) -> bool:
        self._use()
        return isinstance(part, str) and super().__contains__(part)

    def __getitem__(self, at: SupportsIndex | slice) -> str:
        self._use()
        return super().__getitem__(at)


def ask_texts(subject: Subject, args: object) -> None:
    """Check that texts with few valid values are validated.

    Args:
        subject: The plugin.
        args: Its arguments.
    """
    for field in record_fields(type(args)):
        if field.type is str:  # Identity: a type is one object.
            text = _TracedText(_TYPING_ERROR)
            given = attrs.evolve(
                subject, args={**(subject.args or {}), field.key: text}
            )
            try:
                _ = given.config
            except QuaymasterError:
                continue  # it is validated
            if _is_checked_only(given, field.name, text):
                texts = ", ".join(map(repr, dict.fromkeys(text.fixed)))
                compares = (
                    f"only compares it with {texts}" if texts else "only looks it up"
                )
                problem = (
                    f"accepts any text for the argument {field.key}, such as "
                    f"'{_TYPING_ERROR}', but only {compares}: a typing error stays "
                    "unnoticed; use one_of of quaymaster.config as its validator"
                )
                fail("", problem)


def _is_checked_only(subject: Subject, name: str, text: _TracedText) -> bool:
    """Build and run a plugin; return whether it only compares a text."""
    text.is_used, text.fixed[:] = False, []
    text.packages = packages_of(subject.plugin)
    references = sys.getrefcount(text)
    try:
        plugin, handle = subject.make(subject.make_services())
        is_kept = sys.getrefcount(text) > references
        handle.retire()
        if text.is_used:
            return False
        if (text.fixed or text.is_looked_up) and not is_kept:
            # What the constructor reads is all, unless other code reads it, too.
            codes = [code for code in _codes(subject.plugin) if name in code.co_names]
            if len(codes) == 1:
                return True
        del plugin
        _run(subject)
    except Exception:
        return False  # another check reports failures
    finally:
        subject.close()
        text.packages = frozenset()
    return text.is_only_compared() and len({*text.fixed}) >= _FEWEST_TEXTS


def _run(subject: Subject) -> None:
    cluster = SmallCluster(nodes=_NODES, pending=_PODS, objects=subject.objects)
    bench = Bench(subject, cluster, services=subject.make_services())
    for pod in cluster.pending:
        walk(bench, pod)


def _codes(plugin: type) -> Iterator[CodeType]:
    """Yield the code of all functions of a plugin's packages."""
    packages = packages_of(plugin)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in packages:
            for value in list(vars(module).values()):
                if getattr(value, "__module__", "") == name:
                    yield from _codes_of(value)


def _codes_of(value: object) -> Iterator[CodeType]:
    if isinstance(value, type):
        for member in vars(value).values():
            yield from _codes_of(member)
        return
    for function in (value, getattr(value, "fget", None), getattr(value, "func", None)):
        code = (
            getattr(inspect.unwrap(function), "__code__", None)
            if callable(function)
            else None
        )
        # Generated code, such as the comparison of arguments, has no file.
        if isinstance(code, CodeType) and not code.co_filename.startswith("<"):
            yield from _with_inner(code)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)


def _is_own(frame: FrameType, packages: frozenset[str]) -> bool:
    return module_of(frame).partition(".")[0] in packages


def _is_fixed(frame: FrameType, text: str) -> bool:
    """Return whether a text is a constant of the code that compares it."""
    for constant in frame.f_code.co_consts:
        if constant == text or (
            isinstance(constant, tuple | frozenset) and text in constant
        ):
            return True
    return any(
        value == text for value in frame.f_globals.values() if isinstance(value, str)
    )
