"""No public name goes away, nor any argument or member of one."""

from functools import cache

import pytest

from tests.compatibility.promised import Promises, promises, recorded

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
