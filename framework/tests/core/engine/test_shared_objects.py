"""Objects that plugins of all profiles share live as long as the engine."""

from typing import ClassVar

from quaymaster import Handle, hookimpl
from quaymaster.testing import SchedulerHarness
from tests.kit.documents import HEADER


class Ledger:
    """The shared object."""


class Keeping:
    """Gets the shared object in its constructor."""

    seen: ClassVar[list[Ledger]] = []

    def __init__(self, _args: object, handle: Handle) -> None:
        self.seen.append(handle.shared(Ledger, Ledger))

    @hookimpl
    def filter(self) -> None: ...


def config_of(*profiles: str) -> dict[str, object]:
    plugins = {"multiPoint": {"enabled": [{"name": "Keeping"}]}}
    named = [{"schedulerName": name, "plugins": plugins} for name in profiles]
    return {**HEADER, "profiles": named}


def test_profiles_share_one_object_and_so_do_their_successors() -> None:
    Keeping.seen.clear()
    plugins = {"Keeping": Keeping}
    harness = SchedulerHarness(plugins=plugins, config=config_of("a", "b"))
    harness.reload(config_of("c"))
    harness.settle()
    assert len(Keeping.seen) == 3
    assert len(set(map(id, Keeping.seen))) == 1


def test_schedulers_share_nothing() -> None:
    Keeping.seen.clear()
    for _ in range(2):
        SchedulerHarness(plugins={"Keeping": Keeping}, config=config_of("a"))
    assert len(set(map(id, Keeping.seen))) == 2
