"""What tests see of ``quaymaster._engine``."""

from quaymaster._engine.binding_cycle import BindingCycle
from quaymaster._engine.changes import PodChanges, node_changes
from quaymaster._engine.event_handlers import EventHandlers
from quaymaster._engine.failure import FailureHandler
from quaymaster._engine.framework import Framework, FrameworkBuilder
from quaymaster._engine.handle import EngineHandle, Services
from quaymaster._engine.inbox import Inbox
from quaymaster._engine.informers import ChangeHandler, EngineInformers
from quaymaster._engine.pod_patches import PodPatches
from quaymaster._engine.progress import Progress

__all__ = [
    "BindingCycle",
    "ChangeHandler",
    "EngineHandle",
    "EngineInformers",
    "EventHandlers",
    "FailureHandler",
    "Framework",
    "FrameworkBuilder",
    "Inbox",
    "PodChanges",
    "PodPatches",
    "Progress",
    "Services",
    "node_changes",
]
