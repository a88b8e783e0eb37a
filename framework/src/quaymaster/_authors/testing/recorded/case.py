"""A recorded case: the calls that one test in Go makes to a plugin, and the answers."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import (
    DEFAULT_KUBERNETES,
    Kubernetes,
    KubernetesError,
)

__all__ = [
    "CallNotPlayedError",
    "Json",
    "RecordedCase",
    "RecordedCaseError",
    "read_cases",
]

Json: TypeAlias = dict[str, Any]
"""An object of a record."""


class CallNotPlayedError(QuaymasterError):
    """A recorded call has no counterpart here; the text says why."""


class RecordedCaseError(QuaymasterError, ValueError):
    """A file of recorded cases is invalid, see `quaymaster.testing.check_recorded`."""


@attrs.frozen(eq=False)
class RecordedCase:
    """The calls of one test, in order, and the recorded answers.

    Attributes:
        tree: The case as in the file.
        answers: The recorded answer to each call.
    """

    tree: Mapping[str, Any]
    answers: Sequence[Json]

    @property
    def name(self) -> str:
        """The name of the case."""
        return str(self.tree["id"])

    @property
    def calls(self) -> Sequence[Json]:
        """The calls, in order."""
        calls: Sequence[Json] = self.tree["calls"]
        return calls

    def kubernetes(self) -> Kubernetes:
        """Return the version and the gates with which the calls were recorded.

        A gate of ``gates_off`` that cannot be switched off here keeps its default: as a
        rule the answer does not depend on it.

        Raises:
            CallNotPlayedError: The answers depend on a gate that cannot be simulated.
        """
        gates: dict[str, bool] = {}
        for gate in self.tree.get("gates_off", ()):
            if _can_have(gates | {gate: False}):
                gates[gate] = False
        gates |= self.tree.get("gates", {})
        try:
            return Kubernetes(DEFAULT_KUBERNETES.version, feature_gates=gates)
        except KubernetesError as error:
            raise CallNotPlayedError(f"the gate {error.problem}") from error


def read_cases(
    source: Path | str | Iterable[Mapping[str, Any]],
) -> Iterator[RecordedCase]:
    """Read cases, one JSON object a line, from a file that may be compressed by gzip.

    Args:
        source: The file, or the parsed lines.

    Raises:
        RecordedCaseError: A line is not a recorded case.
    """
    if isinstance(source, str | Path):
        yield from _read_file(Path(source))
        return
    for number, record in enumerate(source, 1):
        yield _case(record, f"case {number}")


def _read_file(path: Path) -> Iterator[RecordedCase]:
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            where = f"{path}:{number}"
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise RecordedCaseError(
                    f"{where}: expected JSON, got {error}"
                ) from None
            yield _case(record, where)


def _case(record: object, where: str) -> RecordedCase:
    try:
        tree = record["case"]  # type: ignore[index]  # a wrong type is reported below
        answers = record["expect"]["answers"]  # type: ignore[index]  # as above
        calls = len(tree["calls"])
        tree["id"]
    except (KeyError, TypeError):
        raise RecordedCaseError(
            f"{where}: expected an object with case.id, case.calls and expect.answers"
        ) from None
    if len(answers) != calls:
        raise RecordedCaseError(
            f"{where}: expected an answer to each of {calls} calls, got {len(answers)}"
        )
    # Go writes an empty list as null.
    fields = {key: value for key, value in tree.items() if value is not None}
    return RecordedCase(fields, answers)


def _can_have(gates: Mapping[str, bool]) -> bool:
    try:
        Kubernetes(DEFAULT_KUBERNETES.version, feature_gates=gates)
    except KubernetesError:
        return False
    return True
