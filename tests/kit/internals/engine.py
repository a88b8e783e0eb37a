"""What tests see of ``quaymaster._core.engine``."""

from quaymaster._core.engine.binding_cycle import BindingCycle
from quaymaster._core.engine.changes import PodChanges, node_changes
from quaymaster._core.engine.effective_slices import EffectiveSlices
from quaymaster._core.engine.event_handlers import EventHandlers
from quaymaster._core.engine.failure import FailureHandler
from quaymaster._core.engine.framework import Framework, FrameworkBuilder
from quaymaster._core.engine.group_handlers import GroupEventHandlers
from quaymaster._core.engine.handle import EngineHandle, Services
from quaymaster._core.engine.inbox import Inbox
from quaymaster._core.engine.informers import ChangeHandler, EngineInformers
from quaymaster._core.engine.pod_patches import PodPatches
from quaymaster._core.engine.progress import Progress

__all__ = [
    "BindingCycle",
    "ChangeHandler",
    "EffectiveSlices",
    "EngineHandle",
    "EngineInformers",
    "EventHandlers",
    "FailureHandler",
    "Framework",
    "FrameworkBuilder",
    "GroupEventHandlers",
    "Inbox",
    "PodChanges",
    "PodPatches",
    "Progress",
    "Services",
    "node_changes",
]
