"""No dependency has a licence that asks users to publish their own code."""

import pytest

from tests.releasing.licences import is_accepted, licences

pytestmark = pytest.mark.house


def test_licences_of_all_dependencies_are_accepted() -> None:
    assert [name for name, licence in licences() if not is_accepted(licence)] == []


@pytest.mark.parametrize(
    ("licence", "is_fine"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("LGPL-3.0-or-later", True),
        ("GPL-3.0-only", False),
        ("GNU Affero General Public License v3", False),
        ("", False),
    ],
)
def test_copyleft_is_not_accepted(licence: str, is_fine: bool) -> None:
    assert is_accepted(licence) is is_fine


def test_what_users_install_is_on_the_list_and_what_developers_run_is_not() -> None:
    names = {name for name, _ in licences()}

    assert {"numpy", "pluggy", "optuna", "tornado"} <= names
    assert not {"pytest", "ruff", "codespell"} & names
