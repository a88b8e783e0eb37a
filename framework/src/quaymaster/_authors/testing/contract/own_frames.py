"""The frames of a plugin's own code on the stack, and the thread that they run on."""

from collections.abc import Collection
from types import FrameType
from typing import Final

import attrs

from quaymaster._authors.testing.hook_arguments import HOOKS
from quaymaster._core.engine.guarded import outcome_of, pass_on

__all__ = ["NOT_PLUGINS", "OwnFrames", "module_of", "packages_of"]

NOT_PLUGINS: Final = frozenset({"builtins", "abc", "typing", "quaymaster"})
"""The packages of classes from which plugins may derive."""

_WORKER_HOOKS: Final = frozenset({"pre_bind", "bind"})


def packages_of(plugin: type) -> frozenset[str]:
    """Return the packages of a plugin: tests derive classes that read no server."""
    names = {base.__module__.partition(".")[0] for base in plugin.__mro__}
    return frozenset(names - NOT_PLUGINS)


def module_of(frame: FrameType) -> str:
    """Return the name of the module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", ""))


@attrs.frozen
class OwnFrames:
    """Finds the frames of a plugin's own code.

    Attributes:
        packages: Its packages or modules, without parents or children.
    """

    packages: Collection[str]

    def is_own(self, frame: FrameType) -> bool:
        """Return whether a frame runs code of the plugin."""
        return module_of(frame).partition(".")[0] in self.packages

    def nearest(self, frame: FrameType | None) -> FrameType | None:
        """Return the nearest frame of the plugin, unless the framework is nearer."""
        while frame is not None and not self.is_own(frame):
            if module_of(frame).partition(".")[0] == "quaymaster":
                return None
            frame = frame.f_back
        return frame

    def entry(self, frame: FrameType) -> str:
        """Return the name of the function of the plugin that the suite has called."""
        return self._outermost(frame).f_code.co_name

    def _outermost(self, frame: FrameType) -> FrameType:
        while frame.f_back is not None and self.is_own(frame.f_back):
            frame = frame.f_back
        return frame

    def is_on_worker(self, frame: FrameType | None) -> bool:
        """Return whether a scheduler would run a frame of the plugin on a worker.

        Here all run on one thread: a hook may start a task, and wait for its result.
        """
        while frame is not None:
            # Identity: the code of a function is one object.
            if frame.f_code is outcome_of.__code__:
                return True
            if frame.f_code is pass_on.__code__:
                return False
            if self.is_own(frame):
                frame = self._outermost(frame)
                if frame.f_code.co_name in HOOKS:
                    return frame.f_code.co_name in _WORKER_HOOKS
            frame = frame.f_back
        return False
