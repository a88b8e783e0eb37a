"""Compares our record of a case with upstream's, value by value."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final

import attrs

from tests.parity.cases import Json
from tests.parity.coverage import projected, projected_profiles
from tests.parity.device_records import comparable
from tests.parity.driver import Played
from tests.parity.observation import Observation
from tests.parity.record import record

__all__ = ["FRAMEWORK", "Check", "Tally", "compare"]

FRAMEWORK: Final = "(framework)"
"""The subject of values that do not belong to a single plugin."""

_PREEMPTION: Final = "DefaultPreemption"
_FILTER_BY_PLUGIN: Final = "filterByPlugin"
_EMPTY: Final[tuple[object, ...]] = (None, [], {}, "", False)


@attrs.frozen(kw_only=True)
class Check:
    """One value of ours, with upstream's.

    Attributes:
        subject: The plugin that returned it, or `FRAMEWORK`.
        where: The path: the case, the pod and the field.
        want: Upstream's value.
        got: Our value.
    """

    subject: str
    where: str
    want: object
    got: object

    @property
    def agrees(self) -> bool:
        """Whether both are equal; a missing value counts as an empty one."""
        return bool(self.want == self.got) or (
            self.want in _EMPTY and self.got in _EMPTY
        )

    def __str__(self) -> str:
        return f"{self.where} ({self.subject})\n  want {self.want}\n  got  {self.got}"


@attrs.define(eq=False)
class Tally:
    """The number of compared values by subject, and the differences.

    Attributes:
        compared: Subject -> the number of compared values.
        differed: Subject -> the number of different values.
        differences: The different values, in order.
    """

    compared: Counter[str] = attrs.field(factory=Counter)
    differed: Counter[str] = attrs.field(factory=Counter)
    differences: list[Check] = attrs.field(factory=list)

    def add(self, checks: Iterable[Check]) -> None:
        """Add values to the counts."""
        for check in checks:
            self.compared[check.subject] += 1
            if not check.agrees:
                self.differed[check.subject] += 1
                self.differences.append(check)


def compare(played: Played, missing: Set[str]) -> Iterator[Check]:
    """Compare a played case with its record.

    Args:
        played: The case with our decisions.
        missing: The plugins whose values are not compared.
    """
    case, got = played.case, record(played)
    want = case.expect or {}
    if want.get("error") or played.config_error:
        # Both reject the configuration; the texts differ by product.
        where = f"{case.case_id} configuration refused"
        refused = bool(want.get("error")), bool(played.config_error)
        yield _check(FRAMEWORK, where, *refused)
        return
    if "profiles" in want:
        lists = projected_profiles(want["profiles"], missing)
        yield from _profiles(f"{case.case_id} profiles", lists, got["profiles"])
    entries = zip(want["pods"], got["pods"], played.attempts, strict=True)
    for index, (theirs, ours, attempt) in enumerate(entries):
        where = f"{case.case_id} pods[{index}] {theirs['pod']}"
        sides = projected(theirs, missing), projected(ours, missing)
        if case.has_devices:
            sides = comparable(sides[0]), comparable(sides[1])
        yield from _entry(where, *sides, attempt)
    field = "finalPodsByNode"
    yield from _by_key(FRAMEWORK, f"{case.case_id} {field}", *_both(want, got, field))


def _profiles(where: str, want: Json, got: Json) -> Iterator[Check]:
    for name in sorted({*want, *got}):
        yield from _by_key(FRAMEWORK, f"{where}/{name}", *_both(want, got, name))


def _entry(where: str, want: Json, got: Json, attempt: Observation) -> Iterator[Check]:
    for field in sorted({*want, *got} - {_FILTER_BY_PLUGIN}):
        path = f"{where} {field}"
        if field == "preEnqueue":
            plugin = (want.get(field) or got[field])["plugin"]
            yield _check(plugin, path, want.get(field), got.get(field))
        elif field == "preFilter":
            yield from _pre_filter(path, *_both(want, got, field))
        elif field == "score":
            yield from _score(path, *_both(want, got, field))
        elif field == "postFilter":
            yield from _by_key(_PREEMPTION, path, *_both(want, got, field))
        elif field in ("filter", "nodeState", "podRequest"):
            yield from _by_key(FRAMEWORK, path, *_both(want, got, field))
        else:
            yield _check(FRAMEWORK, path, want.get(field), got.get(field))
    both = _both(want, got, _FILTER_BY_PLUGIN)
    yield from _filter_by_plugin(f"{where} {_FILTER_BY_PLUGIN}", *both, attempt)


def _pre_filter(where: str, want: Json, got: Json) -> Iterator[Check]:
    for part in sorted({*want, *got} - {"plugins"}):
        yield _check(FRAMEWORK, f"{where}/{part}", want.get(part), got.get(part))
    theirs, ours = _both(want, got, "plugins")
    for plugin in sorted({*theirs, *ours}):
        path = f"{where}/plugins/{plugin}"
        yield _check(plugin, path, theirs.get(plugin), ours.get(plugin))


def _filter_by_plugin(
    where: str, want: Json, got: Json, attempt: Observation
) -> Iterator[Check]:
    """Compare every verdict; a node that passes is in neither record."""
    verdicts: Mapping[str, Mapping[str, object]] = {}
    if attempt.examination is not None:
        verdicts = attempt.examination.alone_filter
    for node in sorted({*want, *verdicts}):
        theirs, ours = _both(want, got, node)
        for plugin in sorted({*theirs, *verdicts.get(node, {})}):
            path = f"{where}/{node}/{plugin}"
            yield _check(plugin, path, theirs.get(plugin), ours.get(plugin))


def _score(where: str, want: Json, got: Json) -> Iterator[Check]:
    for part in ("nodes", "skip", "total"):
        yield _check(FRAMEWORK, f"{where}/{part}", want.get(part), got.get(part))
    nodes = want.get("nodes") or got["nodes"]
    for part in ("raw", "weighted"):
        theirs, ours = _both(want, got, part)
        for plugin in sorted({*theirs, *ours}):
            path = f"{where}/{part}/{plugin}"
            both = (
                dict(zip(nodes, scores.get(plugin, ()), strict=False))
                for scores in (theirs, ours)
            )
            yield from _by_key(plugin, path, *both)


def _by_key(
    subject: str, where: str, want: Mapping[str, object], got: Mapping[str, object]
) -> Iterator[Check]:
    for key in sorted({*want, *got}):
        yield _check(subject, f"{where}/{key}", want.get(key), got.get(key))


def _both(want: Json, got: Json, field: str) -> tuple[Json, Json]:
    return want.get(field) or {}, got.get(field) or {}


def _check(subject: str, where: str, want: object, got: object) -> Check:
    return Check(subject=subject, where=where, want=want, got=got)
