"""The recorded decisions of kube-scheduler as recorded sets."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from quaymaster.config import KUBERNETES_VERSIONS
from quaymaster.scheduler import PluginRegistry
from tests.conformance.recorded_set import Outcome, RecordedSet
from tests.parity.cases import Case, Json, read_cases
from tests.parity.emit import emitted
from tests.parity.families import DEVICE_FAMILIES, FAMILIES
from tests.parity.recorded import recorded
from tests.parity.report import check_cases

__all__ = ["DECISIONS", "DEVICES"]


@cache
def _registry() -> PluginRegistry:
    return PluginRegistry.discover()


def _reader(families: tuple[str, ...]) -> Callable[[str], Iterator[Case]]:
    def stored(version: str) -> Iterator[Case]:
        for family in families:
            yield from recorded(family, version)

    return stored


def _answer(case: Case) -> Json:
    return emitted(case, _registry(), "twin", partial=False)


def _outcomes(case: Case) -> Iterator[Outcome]:
    (report,) = check_cases([case], _registry(), ["twin"])
    if report.needed:
        yield Outcome("not played", reason=f"needs {', '.join(sorted(report.needed))}")
        return
    yield Outcome.of("\n".join(map(str, report.tally.differences)))


def _set(
    name: str, families: tuple[str, ...], versions: tuple[str, ...]
) -> RecordedSet[Case]:
    return RecordedSet(
        name=name,
        read=read_cases,
        stored=_reader(families),
        versions=versions,
        family_of=lambda case: case.family,
        answer=_answer,
        outcomes=_outcomes,
    )


DECISIONS: Final = _set("parity", FAMILIES, KUBERNETES_VERSIONS)
DEVICES: Final = _set("devices", DEVICE_FAMILIES, KUBERNETES_VERSIONS[:1])
