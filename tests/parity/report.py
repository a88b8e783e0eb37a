"""Reports the comparison of whole families, as lines of text."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import attrs

from quaymaster.scheduler import PluginRegistry
from tests.parity.cases import Case
from tests.parity.cluster import Path
from tests.parity.compare import Tally, compare
from tests.parity.coverage import missing_plugins, needed_plugins
from tests.parity.driver import play

__all__ = ["FamilyReport", "check_cases"]


@attrs.define(eq=False)
class FamilyReport:
    """The result of one family on one path.

    Attributes:
        family: The family.
        path: The hooks that judged nodes.
        cases: The number of cases.
        covered: The number of compared cases.
        needed: Missing plugin -> the number of cases that it affected.
        dropped: Missing plugin -> how often configurations named it.
        tally: The values of the covered cases.
    """

    family: str
    path: Path
    cases: int = 0
    covered: int = 0
    needed: Counter[str] = attrs.field(factory=Counter)
    dropped: Counter[str] = attrs.field(factory=Counter)
    tally: Tally = attrs.field(factory=Tally)

    def add(self, case: Case, registry: PluginRegistry) -> None:
        """Play and compare a case, if it is covered."""
        self.cases += 1
        missing = missing_plugins(registry)
        needed = needed_plugins(case, missing)
        self.needed.update(needed)
        if needed:
            return
        self.covered += 1
        played = play(case, registry, self.path)
        self.dropped.update(played.dropped)
        self.tally.add(compare(played, missing))

    def lines(self, differences: int) -> Iterator[str]:
        """Return the report: the coverage, then one line per plugin.

        Args:
            differences: The number of differences to print in full.
        """
        head = f"{self.family:<24} {self.path:<6}"
        if self.needed:
            plugins = ", ".join(sorted(self.needed))
            left_out = self.cases - self.covered
            yield (
                f"{head} not covered: {left_out} of {self.cases} cases need {plugins}"
            )
        else:
            yield f"{head} covered: all of {self.cases} cases"
        if self.dropped:
            yield f"{head} left out of configurations: {_counted(self.dropped)}"
        for subject in sorted(self.tally.compared):
            compared = self.tally.compared[subject]
            differed = self.tally.differed[subject]
            yield (
                f"{head} {subject:<32} compared {compared:>7}  "
                f"agreed {compared - differed:>7}  differed {differed:>5}"
            )
        for check in self.tally.differences[:differences]:
            yield str(check)


def check_cases(
    cases: Iterable[Case], registry: PluginRegistry, paths: Collection[Path]
) -> list[FamilyReport]:
    """Play cases on each path and compare them with their records."""
    reports: dict[tuple[str, Path], FamilyReport] = {}
    for case in cases:
        for path in paths:
            key = case.family, path
            report = reports.setdefault(key, FamilyReport(*key))
            report.add(case, registry)
    return list(reports.values())


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count} times" for name, count in sorted(counts.items()))
