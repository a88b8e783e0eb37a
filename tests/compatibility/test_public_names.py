"""No public name goes away, nor any argument or member of one."""

import json
from functools import cache

import pytest

from tests.compatibility.promised import RECORD, Promises, promises, recorded
from tests.kit.internals.packages import ADDED

pytestmark = pytest.mark.house


@cache
def today() -> Promises:
    return promises()


def test_each_name_that_was_promised_is_there() -> None:
    lost = [
        (module, name)
        for module, names in recorded().items()
        for name in names
        if name not in today().get(module, {})
    ]
    assert lost == []


def test_each_argument_and_member_that_was_promised_is_there() -> None:
    lost = {
        (module, name): missing
        for module, names in recorded().items()
        for name, parts in names.items()
        if (missing := {*parts} - {*today().get(module, {}).get(name, parts)})
    }
    assert not lost


def test_names_that_a_later_version_has_added_are_listed_with_it() -> None:
    # `plugins check` computes from this list which version a package needs.
    before: set[tuple[str, str]] = set()
    added: dict[str, dict[str, frozenset[str]]] = {}
    records = sorted(
        RECORD.parent.glob("public-*.json"),
        key=lambda record: tuple(map(int, record.stem[len("public-") :].split("."))),
    )
    for record in records:
        names = json.loads(record.read_text(encoding="utf-8"))
        found = {(module, name) for module, each in names.items() for name in each}
        new = found - before if before else set()
        version = record.stem.removeprefix("public-")
        for module in sorted({module for module, _ in new}):
            names_of = frozenset(name for owner, name in new if owner == module)
            added.setdefault(version, {})[module] = names_of
        before |= found
    assert added == ADDED
