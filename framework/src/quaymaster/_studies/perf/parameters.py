"""The parameters of a workload, and the fields of operations that name them.

Mirrors ``patchParams`` of the operations and ``resolveTemplateParams`` (Kubernetes
v1.37, ``test/integration/scheduler_perf/operations.go``).
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import Final, TypeVar, cast

import attrs

from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import documents
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.duration import parse_duration
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.naming import camel_case, join_path, show

__all__ = ["Parameters"]

OpT = TypeVar("OpT", bound=attrs.AttrsInstance)

_SUFFIX: Final = "_param"
_MULTIPLIER: Final = "count_multiplier_param"
_TEMPLATE: Final = "template_params"


class Parameters:
    """The parameters of one workload; records which of them were used.

    Args:
        values: The parameters.
        where: The workload, for messages.
        names: The parameters of all workloads of the test case.
        findings: Receives mistakes.
    """

    def __init__(
        self,
        values: Mapping[str, object],
        where: str,
        names: Collection[str],
        findings: Findings,
    ) -> None:
        self._values = values
        self._where = where
        self._names = names
        self._findings = findings
        self._used: set[str] = set()
        self._missing: list[str] = []

    def take(self, name: str) -> object:
        """Return a value, or None."""
        self._used.add(name)
        return self._values.get(name)

    def unused(self) -> list[str]:
        """Return the unused parameters."""
        return [name for name in self._values if name not in self._used]

    def missing(self) -> list[str]:
        """Return the parameters that only other workloads of the test case have."""
        return list(dict.fromkeys(self._missing))

    def fill(self, operation: OpT, place: str) -> OpT:
        """Return an operation with values for the parameters that it names.

        Args:
            operation: The operation.
            place: Its place, for messages.
        """
        changes: dict[str, object] = {}
        for field in attrs.fields(type(operation)):
            value = getattr(operation, field.name)
            if not value:
                continue
            path = join_path(place, camel_case(field.name))
            if field.name == _TEMPLATE:
                changes[_TEMPLATE] = dict(self._template_values(value, path))
            elif field.name == _MULTIPLIER:
                count = changes.get("count", getattr(operation, "count", 0))
                factor = self._read(value, path, int)
                if factor is not None:
                    changes["count"] = cast(int, count) * cast(int, factor)
            elif field.name.endswith(_SUFFIX):
                target = field.name.removesuffix(_SUFFIX)
                read = self._read(value, path, type(getattr(operation, target)))
                if read is not None:
                    changes[target] = read
        return attrs.evolve(operation, **changes)  # type: ignore[misc]  # is attrs

    def _read(self, reference: str, path: str, kind: type) -> object:
        """The value of ``$name``, or None with a finding."""
        value = self.take(reference[1:])
        if value is None:
            self._note_missing(reference[1:], path)
            return None
        read = _read_value(value, kind)
        if read is None:
            message = f"expected {_EXPECTED[kind]} for {reference}, got {show(value)}"
            self._findings.add(path, f"{message} in {self._where}")
        return read

    def _note_missing(self, name: str, path: str) -> None:
        if name in self._names:
            # Upstream's own files have such workloads, which fail upstream.
            self._missing.append(name)
            return
        names = ", ".join(self._values) or "none"
        hint = did_you_mean(name, self._values) or f" (known: {names})"
        self._findings.add(path, f"{self._where} has no parameter {name!r}{hint}")

    def _template_values(
        self, given: Mapping[str, object], path: str
    ) -> Iterator[tuple[str, object]]:
        for key, value in given.items():
            if not isinstance(value, str) or not value.startswith("$"):
                yield key, value
                continue
            name, bar, default = value[1:].partition("|")
            if name in self._values:
                yield key, self.take(name)
            elif bar and name:
                yield key, self._default(default, join_path(path, key))
            else:
                self._note_missing(name, join_path(path, key))

    def _default(self, text: str, path: str) -> object:
        """The value behind the bar of ``$name|default``, which is YAML."""
        try:
            values = list(documents(text.encode(), unique_keys=True))
        except YamlError as error:
            message = f"expected a default value in YAML, got {text!r}: {error}"
            self._findings.add(path, message)
            return None
        return values[0] if values else None


_EXPECTED: Final = {
    int: "a number of at least 0",
    bool: "true or false",
    timedelta: "a duration such as 15s",
}


def _read_value(value: object, kind: type) -> object:
    if kind is int:
        is_count = isinstance(value, int | float) and not isinstance(value, bool)
        return int(cast(float, value)) if is_count and cast(float, value) >= 0 else None
    if kind is timedelta:
        return parse_duration(value) if isinstance(value, str) else None
    return value if isinstance(value, kind) else None
