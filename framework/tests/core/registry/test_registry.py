"""Plugins are found by entry points; unusable ones are reported."""

import sys
from collections.abc import Iterator
from typing import ClassVar

import attrs
import pytest

from quaymaster import Pod, hookimpl
from quaymaster.errors import DuplicatePluginError, PluginLoadError, UnknownPluginError
from quaymaster.scheduler import PluginRegistry
from tests.kit.packages import MakeDistribution


class Picky:
    @hookimpl
    def score(self) -> int:
        return 0

    @hookimpl
    def normalize_score(self) -> None: ...

    @hookimpl
    def filter(self, pod: Pod) -> None: ...

    permit = "none needed"


class Watcher:
    @hookimpl(wrapper=True)
    def score(self) -> Iterator[None]:
        yield


class Quiet:
    """Implements nothing at all."""


def test_an_installed_plugin_is_found_by_its_entry_point(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-tides",
        {"Tides": "acme_tides:TidesPlugin"},
        version="2.1",
        module="acme_tides",
        code="class TidesPlugin: pass",
    )

    plugin = PluginRegistry.discover()["Tides"]

    assert plugin.distribution == "acme-tides"
    assert plugin.version == "2.1"
    assert plugin.origin == "acme_tides:TidesPlugin"
    assert plugin.load().__name__ == "TidesPlugin"
    assert str(plugin) == "plugin 'Tides' (acme-tides 2.1)"


def test_plugins_are_imported_on_first_use(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-lazy",
        {"Lazy": "acme_lazy:Lazy"},
        module="acme_lazy",
        code="class Lazy: pass",
    )

    registry = PluginRegistry.discover()

    assert "Lazy" in registry
    assert "acme_lazy" not in sys.modules
    registry.load("Lazy")
    assert "acme_lazy" in sys.modules


def test_a_name_that_two_distributions_offer_is_an_error_that_names_both(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution("acme-one", {"Tides": "acme_one:Tides"}, version="1.2")
    make_distribution("acme-two", {"Tides": "acme_two:Tides"}, version="3.4")

    with pytest.raises(DuplicatePluginError) as caught:
        PluginRegistry.discover()

    assert str(caught.value) == (
        "plugin 'Tides' is offered by acme-one 1.2 (acme_one:Tides) and "
        "acme-two 3.4 (acme_two:Tides); uninstall all but one"
    )
    assert [offer.version for offer in caught.value.offers] == ["1.2", "3.4"]


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        pytest.param(
            "import no_such_module",
            "could not be imported: ModuleNotFoundError: "
            "No module named 'no_such_module'",
            id="a module that fails",
        ),
        pytest.param(
            "import sys\nsys.exit(3)",
            "could not be imported: SystemExit: 3",
            id="a module that ends the process",
        ),
        pytest.param(
            "",
            "could not be imported: AttributeError: "
            "module 'acme_bad' has no attribute 'Bad'",
            id="no such class",
        ),
        pytest.param(
            "def Bad(): pass",
            "expected a class that is built with (args, handle), got function 'Bad'",
            id="a function",
        ),
        pytest.param(
            "class Bad: Args = dict",
            "Bad.Args: expected an attrs class, got <class 'dict'>",
            id="arguments that are not an attrs class",
        ),
        pytest.param(
            "import attrs\n@attrs.frozen\nclass BadArgs: a: 'Missing'\n"
            "class Bad: Args = BadArgs",
            "BadArgs: name 'Missing' is not defined (import the names in "
            "its annotations at run time)",
            id="arguments of unknown types",
        ),
    ],
)
def test_a_plugin_that_cannot_be_used_is_a_warning_until_it_is_loaded(
    make_distribution: MakeDistribution, code: str, problem: str
) -> None:
    make_distribution("acme-bad", {"Bad": "acme_bad:Bad"}, module="acme_bad", code=code)
    registry = PluginRegistry.discover()
    message = f"plugin 'Bad' (acme-bad 1.0), entry point 'acme_bad:Bad': {problem}"

    assert message in registry.warnings
    assert str(registry["Bad"].error) == message
    with pytest.raises(PluginLoadError) as caught:
        registry.load("Bad")
    assert str(caught.value) == message
    assert caught.value.distribution == "acme-bad"


def test_the_cause_of_a_failed_import_is_kept(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-bad", {"Bad": "acme_bad:Bad"}, module="acme_bad", code="1 / 0"
    )

    error = PluginRegistry.discover()["Bad"].error

    assert error is not None
    assert isinstance(error.__cause__, ZeroDivisionError)


def test_extension_points_are_those_of_the_marked_methods_in_call_order() -> None:
    plugin = PluginRegistry.of({"Picky": Picky})["Picky"]

    assert [point.key for point in plugin.extension_points] == ["filter", "score"]
    assert plugin.extends("filter")
    assert not plugin.extends("permit")


def test_a_misspelt_hook_makes_a_plugin_unusable() -> None:
    class Misspelt:
        @hookimpl
        def fliter(self) -> None: ...

    error = PluginRegistry.of({"Misspelt": Misspelt})["Misspelt"].error

    assert error is not None
    assert error.problem == "unknown hook 'fliter'; did you mean 'filter'?"


def test_a_wrapper_makes_a_class_a_plugin_of_what_it_wraps() -> None:
    assert PluginRegistry.of({"Watcher": Watcher})["Watcher"].extends("score")


def test_a_plugin_declares_the_class_of_its_arguments() -> None:
    @attrs.frozen(kw_only=True)
    class TidesArgs:
        height: int = 0

    class Tides:
        Args: ClassVar[type] = TidesArgs

    registry = PluginRegistry.of({"Tides": Tides, "Quiet": Quiet})

    assert registry["Tides"].args_class is TidesArgs
    assert registry["Quiet"].args_class is None


def test_plugins_come_in_alphabetical_order() -> None:
    registry = PluginRegistry.of({"Zulu": Quiet, "Alpha": Quiet, "Mike": Quiet})

    assert list(registry) == ["Alpha", "Mike", "Zulu"]
    assert len(registry) == 3


def test_an_unknown_plugin_is_an_error_that_lists_the_installed_ones() -> None:
    registry = PluginRegistry.of({"Picky": Picky, "Quiet": Quiet})

    assert registry.get("Nope") is None
    with pytest.raises(UnknownPluginError) as caught:
        registry["Nope"]
    assert str(caught.value) == "unknown plugin 'Nope' (installed: Picky, Quiet)"


def test_with_plugin_adds_one_and_leaves_the_registry_as_it_was() -> None:
    registry = PluginRegistry.of({"Picky": Picky})

    assert list(registry.with_plugin(Quiet)) == ["Picky", "Quiet"]
    assert list(registry.with_plugin(Quiet, "Silent")) == ["Picky", "Silent"]
    assert list(registry) == ["Picky"]


def test_with_plugin_replaces_the_plugin_that_has_the_name() -> None:
    registry = PluginRegistry.of({"Picky": Picky}).with_plugin(Quiet, "Picky")

    assert registry["Picky"].load() is Quiet


def test_a_plugin_is_described_with_its_distribution() -> None:
    registry = PluginRegistry.of({"Picky": Picky})

    assert registry.describe("Picky") == f"plugin 'Picky' ({__name__}:Picky)"
    assert registry.describe("Nope") == "plugin 'Nope' (not installed)"
