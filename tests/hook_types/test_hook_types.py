import pytest

from quaymaster.hookspecs import EXTENSION_POINTS
from tests.hook_types.generate import MODULE, calls_of, hook_types, module_text


class Some:
    """A plugin with a hook that has a result, and one that has none."""

    def filter(self, node: object, pod: object) -> str:
        return f"{node}{pod}"

    def post_bind(self, node_name: str) -> None:
        pass


@pytest.mark.house
def test_module_that_mypy_checks_is_up_to_date() -> None:
    assert MODULE.read_text(encoding="utf-8") == module_text()


@pytest.mark.house
def test_every_hook_has_types() -> None:
    assert set(hook_types()) == {
        hook for point in EXTENSION_POINTS for hook in point.hooks
    }


def test_hooks_are_called_with_what_they_take() -> None:
    assert list(calls_of(Some)) == [
        "_filter: Status | None = plugin.filter(node=given.node, pod=given.pod)",
        "plugin.post_bind(node_name=given.node_name)",
    ]
