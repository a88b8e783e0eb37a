"""The finding that a failed call of the cluster has become a rejection."""

from typing import NoReturn

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.check import fail
from quaymaster._core.contract.status import Status

__all__ = ["fail_rejected"]


def fail_rejected(hook: str, answer: Status, *example: ApiObject) -> NoReturn:
    """Report a hook that rejects a pod because a call has failed.

    Raises:
        Finding: Always.
    """
    text = (
        f"returned {shown(answer)} because a call of handle.cluster failed, expected "
        "Status.from_error(error) or the exception itself: a pod that is rejected "
        "waits for an event of the cluster, and none may come; after an error it is "
        "retried"
    )
    fail(hook, text, *example)
