"""The recorded answers of an API server to single objects as a recorded set."""

from collections.abc import Iterator
from typing import Final

from tests.admission.cases import DATA, Case, Tree, read_cases
from tests.admission.compare import differences, is_about_others, unlike_paths
from tests.admission.listed import NOT_CHECKED
from tests.admission.ours import admit, as_record
from tests.conformance.recorded_set import Outcome, RecordedSet

__all__ = ["ADMISSION"]


def _answer(case: Case) -> Tree:
    return as_record(case, admit(case.submitted))


def _outcomes(case: Case) -> Iterator[Outcome]:
    if is_about_others(case):
        yield Outcome("not played", reason="rejected because of objects of other cases")
        return
    outcome = admit(case.submitted)
    texts = differences(case, outcome) or unlike_paths(case, outcome)
    text = "\n".join(f"{case.id}: {text}" for text in texts)
    yield Outcome.of(text, NOT_CHECKED.get(case.id, ""))


ADMISSION: Final = RecordedSet(
    name="admission",
    read=lambda path, _version: read_cases(path),
    stored=lambda _version: read_cases(DATA),
    versions=("1.36",),
    family_of=lambda case: case.id.rpartition("-")[0],
    answer=_answer,
    outcomes=_outcomes,
)
