"""The errors of more than one topic; all derive from `QuaymasterError`.

An error that belongs to one topic is there: `quaymaster.cluster.ConflictError`.
"""

from quaymaster._contract.cycle_state import StateCloneError, StateNotFoundError
from quaymaster._contract.handle import UnfollowedKindError
from quaymaster._errors import (
    KindError,
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
from quaymaster._extenders.errors import ExtenderError
from quaymaster._registry.registry import (
    DuplicatePluginError,
    PluginLoadError,
    UnknownPluginError,
)
from quaymaster._runtime.build import ProfileError

__all__ = [
    "DuplicatePluginError",
    "ExtenderError",
    "KindError",
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
