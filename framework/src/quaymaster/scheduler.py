"""The scheduler itself: its loop, options, clocks, executors and observer."""

from quaymaster._core.binding.executor import Executor, WorkerExecutor
from quaymaster._core.contract.clock import Clock, RealClock, Timer, VirtualClock
from quaymaster._core.contract.hook_calls import HookCall, HookObserver
from quaymaster._core.contract.options import HookError, SchedulerOptions, SlowHook
from quaymaster._core.contract.plugin_metrics import (
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
)
from quaymaster._core.contract.queueing import PendingPod, QueueName
from quaymaster._core.contract.trace import Trace, TraceTopic
from quaymaster._core.engine.attempts import PastAttempt
from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._core.engine.reports import Observer
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._core.runtime.timings import HookTiming, HookTimings

__all__ = [
    "AttemptHistory",
    "Clock",
    "CounterMetric",
    "Executor",
    "Failure",
    "FailureKind",
    "GaugeMetric",
    "HistogramMetric",
    "HookCall",
    "HookError",
    "HookObserver",
    "HookTiming",
    "HookTimings",
    "Observer",
    "PastAttempt",
    "PendingPod",
    "PluginMetric",
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
