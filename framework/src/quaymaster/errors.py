"""The errors of more than one topic; all derive from `QuaymasterError`.

An error of one topic is in its module: `quaymaster.cluster.ConflictError`.
"""

from quaymaster._base.errors import (
    EndlessLoopError,
    KindError,
    MissingPackageError,
    ObjectError,
    ObserverError,
    PluginError,
    Problem,
    QuantityError,
    QuaymasterError,
    SelectorError,
    TimeError,
    UnknownObjectionError,
    VerificationError,
)
from quaymaster._core.contract.cycle_state import (
    LateAnnotationError,
    StateCloneError,
    StateNotFoundError,
)
from quaymaster._core.contract.informers import UnfollowedKindError
from quaymaster._core.contract.plugin_metrics import MetricError
from quaymaster._core.extenders.errors import ExtenderError
from quaymaster._core.registry.registered import PluginLoadError
from quaymaster._core.registry.registry import DuplicatePluginError, UnknownPluginError
from quaymaster._core.runtime.build import ProfileError

__all__ = [
    "DuplicatePluginError",
    "EndlessLoopError",
    "ExtenderError",
    "KindError",
    "LateAnnotationError",
    "MetricError",
    "MissingPackageError",
    "ObjectError",
    "ObserverError",
    "PluginError",
    "PluginLoadError",
    "Problem",
    "ProfileError",
    "QuantityError",
    "QuaymasterError",
    "SelectorError",
    "StateCloneError",
    "StateNotFoundError",
    "TimeError",
    "UnfollowedKindError",
    "UnknownObjectionError",
    "UnknownPluginError",
    "VerificationError",
]
