"""The recordings of a control plane as a recorded set."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.conformance.recorded_set import Outcome, RecordedSet
from tests.world.cases import FILES, Tree, family_of, read_cases
from tests.world.judge import answer_to, differences
from tests.world.listed import on_page

__all__ = ["WORLD"]

_ON_PAGE: Final = "listed in docs/reference/simulated-controllers.md"


def _stored(_version: str) -> Iterator[Tree]:
    for file in FILES.values():
        yield from read_cases(file)


def _outcomes(case: Tree) -> Iterator[Outcome]:
    what = case.get("what", family_of(case))
    texts = (f"{case['id']} ({what}): {text}" for text in differences(case))
    reason = _ON_PAGE if case["id"] in _listed() else ""
    yield Outcome.of("\n".join(texts), reason)


@cache
def _listed() -> frozenset[str]:
    return frozenset(on_page())


WORLD: Final = RecordedSet(
    name="world",
    read=lambda path, _version: read_cases(path),
    stored=_stored,
    versions=("1.37",),
    family_of=family_of,
    answer=answer_to,
    outcomes=_outcomes,
)
