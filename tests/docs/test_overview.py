"""The docstring of the package names every public module, and nothing else."""

import re

import pytest

import quaymaster
from tests.kit.front_door import MODULES

pytestmark = pytest.mark.house


def test_docstring_of_the_package_names_every_public_module() -> None:
    named = re.findall(r"`(\w+)`", quaymaster.__doc__ or "")
    public = [name.partition(".")[2] for name in MODULES]
    assert sorted(named) == sorted(filter(None, public))
