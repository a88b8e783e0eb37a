"""Makes the tables of the page on conformance by playing the recorded calls."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.kit.internals.testing import read_cases
from tests.upstream.families import DATA, PLAYED
from tests.upstream.judge import Counts, counted

__all__ = ["CONFORMANCE", "conformance_page", "counts_of_families"]

CONFORMANCE: Final = Path(__file__).parents[2] / "docs" / "reference" / "conformance.md"

_FAMILIES: Final = """\
| upstream's tests | cases | calls | equal | listed | not played |
| --- | --- | --- | --- | --- | --- |
"""
_REASONS: Final = """\
| calls | reason |
| --- | --- |
"""
_END: Final = "<!-- end of the table -->"

_PLACES: Final[Mapping[str, str]] = {
    "cache": "pkg/scheduler/backend",
    "config": "pkg/scheduler/apis/config",
    "dra": "staging/src/k8s.io/dynamic-resource-allocation",
    "framework": "pkg/scheduler",
    "helpers": "staging/src/k8s.io/component-helpers",
    "plugins": "pkg/scheduler/framework/plugins",
    "queue": "pkg/scheduler/backend",
    "runtime": "pkg/scheduler/framework",
}


def conformance_page() -> str:
    """Return the page with its tables as the recorded calls are answered now."""
    text = CONFORMANCE.read_text(encoding="utf-8")
    text = _with_table(text, _FAMILIES, "".join(_family_rows()))
    return _with_table(text, _REASONS, "".join(_reason_rows()))


def _with_table(text: str, head: str, rows: str) -> str:
    before, _, rest = text.partition(head)
    _, _, after = rest.partition(_END)
    return before + head + rows + _END + after


@cache
def counts_of_families() -> Mapping[str, Counts]:
    """Play all recorded calls, once, and return family -> what became of them."""
    cases = (case for file in PLAYED for case in read_cases(DATA / f"{file}.jsonl.gz"))
    return counted(cases)


def _family_rows() -> Iterator[str]:
    total: Counter[str] = Counter()
    cases = 0
    for family, counts in sorted(counts_of_families().items()):
        file, _, package = family.partition("/")
        yield _row(f"`{_PLACES[file]}`, {package}", counts.cases, counts.calls)
        total += counts.calls
        cases += counts.cases
    yield _row("all", cases, total)


def _row(name: str, cases: int, calls: Counter[str]) -> str:
    words = ("equal", "listed", "not played")
    numbers = [cases, calls.total(), *(calls[word] for word in words)]
    return f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} |\n"


def _reason_rows() -> Iterator[str]:
    reasons: Counter[str] = Counter()
    for counts in counts_of_families().values():
        reasons += counts.reasons
    for reason, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"| {count:,} | {reason} |\n"
