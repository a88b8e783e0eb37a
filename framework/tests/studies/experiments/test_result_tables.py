"""The values of the runs decide on the types of columns."""

import pytest

from quaymaster.experiments import RunResult
from tests.kit.internals.experiments import results_table


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([1, 2], "int64", [1, 2]),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([1, None], "int64", [1, None]),
        ([1, 2**63], "double", [1.0, 2.0**63]),
        ([True, False], "bool", [True, False]),
        (["a", None], "string", ["a", None]),
        ([None, None], "string", [None, None]),
        ([1, True], "string", ["1", "true"]),
        ([1, "auto"], "string", ["1", '"auto"']),
    ],
    ids=str,
)
def test_a_column_has_the_type_of_all_its_values(
    values: list[bool | int | float | str | None],
    kind: str,
    expected: list[object],
) -> None:
    rows = [
        ({"seed": seed}, RunResult(values={"found": value}, curves={}))
        for seed, value in enumerate(values)
    ]
    table = results_table(["seed"], rows)
    assert table.column_names == ["seed", "found"]
    assert str(table.schema.field("found").type) == kind
    assert table.column("found").to_pylist() == expected


def test_missing_values_of_a_run_are_empty() -> None:
    table = results_table(
        ["seed", "weight"],
        [
            ({"seed": 1, "weight": [1, 2]}, RunResult(values={"a": 1}, curves={})),
            ({"seed": 2}, RunResult(values={"b": 2}, curves={})),
        ],
    )
    assert table.to_pylist() == [
        {"seed": 1, "weight": "[1, 2]", "a": 1, "b": None},
        {"seed": 2, "weight": None, "a": None, "b": 2},
    ]
