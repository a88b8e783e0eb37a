"""Alarms: errors of the engine that no fault explains."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from quaymaster.scheduler import Failure, FailureKind, HookError
from tests.chaos.fault_plan import FaultPlan, PlannedError
from tests.kit.internals.engine import FailureHandler
from tests.kit.internals.queue import QueuedPod

__all__ = ["Alarms"]

_LOGS = ("quaymaster", "quaymaster_dynamic_resources")
_PLANNED = re.compile(r"injected: |there is none|sabotage|'(?:Doorman|Saboteur)'")
"""Injected faults, pods that were deleted meanwhile, and planned failures of plugins.
"""

_BINDING = re.compile(r"running (?:PreBind|Bind) plugin ")
_OVERTAKEN = re.compile(
    r"injected: |there is none|its uid is|does not exist any more|read it again"
    r"|not found|annotation reset|node affinity doesn't match"
    r"|in the meantime|could not find ResourceClaim|device binding (?:timeout|failed)"
)
"""Errors of a binding whose objects have changed since the decision."""

_ERRORS_OF_UPSTREAM = re.compile(
    r'running "DynamicResources" filter plugin: claim \S+, request \S+: '
    r"asks for all devices, but resource pool \S+ is currently "
    r"(?:being updated|invalid)"
)
"""Errors in upstream, too; they are not reasons to reject a node."""


class Alarms(logging.Handler):
    """Collects unexpected errors, from failed attempts and from the engine's log.

    Args:
        plan: Has the pods whose plugins fail by plan.

    Attributes:
        problems: The unexpected errors, in order.
    """

    def __init__(self, plan: FaultPlan) -> None:
        super().__init__(logging.ERROR)
        self._plan = plan
        self.problems: list[str] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the logs of the engine, and of one plugin, inside the block."""
        loggers = [logging.getLogger(name) for name in _LOGS]
        propagated = [logger.propagate for logger in loggers]
        for logger in loggers:
            logger.propagate = False
            logger.addHandler(self)
        try:
            yield
        finally:
            for logger, propagate in zip(loggers, propagated, strict=True):
                logger.removeHandler(self)
                logger.propagate = propagate

    def emit(self, record: logging.LogRecord) -> None:
        """Check a log record."""
        error = record.exc_info[1] if record.exc_info else None
        self._check(f"was logged: {record.getMessage()}", error)

    def hook_failed(self, failure: HookError) -> None:
        """Check an exception of a hook; not all of them are logged."""
        what = f"{failure.hook} of '{failure.plugin}' failed for {failure.pod}"
        self._check(what, failure.error)

    def _check(self, text: str, error: BaseException | None) -> None:
        if isinstance(error, PlannedError):
            return
        if error is not None:
            text = f"{text}: {error!r}"
        if not _PLANNED.search(text):
            self.problems.append(text)

    def watch(self, failures: FailureHandler) -> None:
        """Check all failed attempts from now on."""
        failed = failures.attempt_failed

        def judge_and_fail(
            queued: QueuedPod, failure: Failure, *, was_nominated: bool = False
        ) -> None:
            self._judge(queued, failure)
            failed(queued, failure, was_nominated=was_nominated)

        vars(failures).update(attempt_failed=judge_and_fail)

    def _judge(self, queued: QueuedPod, failure: Failure) -> None:
        """Report an error, unless it was planned or a binding came too late."""
        message = failure.message
        if failure.kind is not FailureKind.ERROR:
            return
        if queued.pod.uid in self._plan.spoiled:
            return
        is_overtaken = _BINDING.match(message) and _OVERTAKEN.search(message)
        if not is_overtaken and not _ERRORS_OF_UPSTREAM.match(message):
            self.problems.append(f"the attempt of {queued.key} broke: {message}")
