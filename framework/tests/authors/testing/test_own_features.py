"""Authors pass features of their own to `pods` and `nodes`."""

import re

import pytest

from quaymaster.testing import nodes, pods

MIXED = [{"labels": {"tier": "gold"}}, {"priority": 5}, {"host_ports": [8080]}]
"""Its inferred type is ``list[object]``; mypy checks that `pods` accepts it."""


def test_mixed_list_of_features_is_accepted() -> None:
    assert pods(*MIXED) is not None
    assert nodes(*[{"labels": {"disk": "ssd"}}, {"unschedulable": True}]) is not None


def test_feature_that_is_not_a_dict_is_rejected() -> None:
    text = "pods: expected arguments of make_pod in a dict, such as "
    with pytest.raises(TypeError, match=f"^{text}.*, got 'gold'$"):
        pods("gold")
    with pytest.raises(TypeError, match=r"^pods: expected .*, got \[\{"):
        pods(MIXED)


def test_feature_with_an_unknown_argument_is_rejected() -> None:
    text = "nodes: make_node has no argument 'lables'; did you mean 'labels'?"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        nodes({"lables": {"disk": "ssd"}})
