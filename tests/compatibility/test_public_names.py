"""No public name goes away, nor any argument or member of one."""

import pytest

from tests.compatibility.promised import promises, recorded

PROMISED = recorded()
TODAY = promises()


@pytest.mark.parametrize("module", PROMISED)
def test_each_name_that_was_promised_is_there(module: str) -> None:
    assert set(PROMISED[module]) <= set(TODAY.get(module, {}))


@pytest.mark.parametrize("module", PROMISED)
def test_each_argument_and_member_that_was_promised_is_there(module: str) -> None:
    lost = {
        name: gone
        for name, parts in PROMISED[module].items()
        if (gone := set(parts) - set(TODAY[module][name]))
    }
    assert not lost
