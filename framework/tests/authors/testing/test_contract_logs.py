"""What a plugin logs during a check does not bury the finding."""

import logging

import pytest

from quaymaster import Pod, Status, hookimpl
from quaymaster.cluster import ApiError
from quaymaster.testing import ContractError, check_plugin
from tests.kit.internals.testing import CHECKS, quiet_logs
from tests.kit.planted.calls import StopsAfterAFailure

log = logging.getLogger("acme")


class LogsFailures(StopsAfterAFailure):
    """Logs each failure, and makes a mistake after it."""

    @hookimpl
    def post_filter(self, pod: Pod) -> Status:
        log.warning("no room for %s", pod.key)
        return super().post_filter(pod)

    def create(self, pod: Pod) -> None:
        try:
            super().create(pod)
        except ApiError as error:
            log.warning("no call for %s: %s", pod.key, error)
            raise


def warn(text: str, *args: object) -> None:
    log.warning(text, *args)


def fail(error: Exception) -> None:
    try:
        try:
            raise error
        except ApiError as cause:
            raise ValueError("no call") from cause
    except ValueError:
        log.exception("it failed")


def test_a_line_that_logs_is_in_the_report_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with quiet_logs():
        for number in range(3):
            warn("pod %s", number)
    warn("as usual")
    warn("as usual")
    assert caplog.messages == ["pod 0", "as usual", "as usual"]


def test_injected_faults_are_not_in_the_report(
    caplog: pytest.LogCaptureFixture,
) -> None:
    injected = ApiError("injected: the call failed")
    with quiet_logs():
        warn("no call: %s", injected)
        fail(injected)
        assert not caplog.messages
        warn("no call: %s", ApiError("down"))
        fail(ApiError("down"))
    assert caplog.messages == ["no call: down", "it failed"]


def test_a_handler_of_the_plugin_gets_each_record() -> None:
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    try:
        with quiet_logs():
            for number in range(3):
                warn("pod %s", number)
    finally:
        log.removeHandler(handler)
    assert messages == ["pod 0", "pod 1", "pod 2"]


def test_a_record_that_cannot_be_formatted_is_an_error() -> None:
    with quiet_logs(), pytest.raises(TypeError, match="not all arguments"):
        warn("no placeholder", 1)


@pytest.mark.long
def test_a_check_with_faults_reports_the_finding_and_few_records(
    caplog: pytest.LogCaptureFixture,
) -> None:
    others = dict.fromkeys(CHECKS, "not asked here")
    del others["failed writes"]
    with pytest.raises(ContractError, match="failed writes"):
        check_plugin(LogsFailures, opt_outs=others)
    assert [message.partition(" for ")[0] for message in caplog.messages] == ["no room"]
