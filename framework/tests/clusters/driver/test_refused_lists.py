"""Resources that cannot be listed: what is logged, and how often."""

import logging

import pytest

from quaymaster import Pod
from quaymaster.cluster import ApiError
from tests.kit.internals.driver import Current, Followed, Trouble


def test_refused_list_is_raised_and_left_to_the_caller_to_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    followed = Followed(Pod)
    followed.receive(Trouble(0, "forbidden", 403))
    with caplog.at_level(logging.WARNING), pytest.raises(ApiError, match="forbidden"):
        followed.listed()
    assert caplog.text == ""


def test_later_refusal_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    followed = Followed(Pod)
    followed.receive(Current(0))
    followed.listed()
    followed.receive(Trouble(0, "forbidden", 403))
    with caplog.at_level(logging.WARNING):
        followed.watch(lambda: None).take()
    assert caplog.text.count("cannot be followed: forbidden") == 1
