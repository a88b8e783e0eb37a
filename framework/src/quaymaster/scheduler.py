"""The scheduler itself: its loop, options, clocks, executors and observer."""

from quaymaster._binding.executor import Executor, WorkerExecutor
from quaymaster._contract.clock import Clock, RealClock, Timer, VirtualClock
from quaymaster._contract.hook_calls import HookCall, HookObserver
from quaymaster._contract.options import HookError, SchedulerOptions, SlowHook
from quaymaster._contract.queueing import PendingPod, QueueName
from quaymaster._contract.trace import Trace, TraceTopic
from quaymaster._engine.failure import Failure, FailureKind
from quaymaster._engine.history import AttemptHistory, PastAttempt
from quaymaster._engine.reports import Observer
from quaymaster._engine.scheduler import Scheduler
from quaymaster._registry.registry import PluginRegistry, RegisteredPlugin
from quaymaster._runtime.timings import HookTiming, HookTimings

__all__ = [
    "AttemptHistory",
    "Clock",
    "Executor",
    "Failure",
    "FailureKind",
    "HookCall",
    "HookError",
    "HookObserver",
    "HookTiming",
    "HookTimings",
    "Observer",
    "PastAttempt",
    "PendingPod",
    "PluginRegistry",
    "QueueName",
    "RealClock",
    "RegisteredPlugin",
    "Scheduler",
    "SchedulerOptions",
    "SlowHook",
    "Timer",
    "Trace",
    "TraceTopic",
    "VirtualClock",
    "WorkerExecutor",
]
