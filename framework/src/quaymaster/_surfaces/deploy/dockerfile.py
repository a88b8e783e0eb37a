"""The image of a scheduler: a Dockerfile on a stock image of Python."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from quaymaster._core.registry.registry import PluginRegistry

__all__ = ["dockerfile_of", "requirements_of"]

_PYTHON: Final = "3.13"
_OWN: Final = "quaymaster"
_EXTRAS: Final = "default,kubernetes"
_NOBODY: Final = "65532:65532"


def requirements_of(
    plugins: Iterable[str], registry: PluginRegistry, version: str
) -> Sequence[str]:
    """What pip is asked for: this version, and the distributions of some plugins.

    Args:
        plugins: The names of the plugins.
        registry: Where they are found.
        version: The version of the framework.
    """
    known = set(_default_distributions())
    others = {
        f"{plugin.distribution}=={plugin.version}"
        for plugin in map(registry.__getitem__, plugins)
        if plugin.distribution and canonicalize_name(plugin.distribution) not in known
    }
    return [f"{_OWN}[{_EXTRAS}]=={version}", *sorted(others)]


def _default_distributions() -> Iterator[str]:
    """What the extra ``default`` installs."""
    try:
        listed = requires(_OWN) or ()
    except PackageNotFoundError:
        listed = ()
    for one in map(Requirement, listed):
        if one.marker is not None and one.marker.evaluate({"extra": "default"}):
            yield canonicalize_name(one.name)


def dockerfile_of(requirements: Sequence[str]) -> str:
    """A Dockerfile that installs some distributions.

    Args:
        requirements: As pip takes them.
    """
    listed = " ".join(map(shlex.quote, requirements))
    return f"""\
# Plugins that no package index has: put their wheels into wheels/, beside this file.
FROM python:{_PYTHON}-slim AS build
RUN python -m venv /opt/quaymaster
COPY Dockerfile wheels* /wheels/
RUN /opt/quaymaster/bin/pip install --no-cache-dir --find-links /wheels \\
    {listed}

# Nothing is written at run time: the root may be read-only, and the user is nobody.
FROM python:{_PYTHON}-slim
COPY --from=build /opt/quaymaster /opt/quaymaster
ENV PATH=/opt/quaymaster/bin:$PATH \\
    PYTHONDONTWRITEBYTECODE=1 \\
    PYTHONUNBUFFERED=1
USER {_NOBODY}
EXPOSE 10259
ENTRYPOINT ["quaymaster"]
CMD ["run", "--bind-address=0.0.0.0"]
"""
