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
# A number, since a kubelet cannot check ``runAsNonRoot`` for a name.
_NOBODY: Final = "65532:65532"


def requirements_of(
    plugins: Iterable[str], registry: PluginRegistry, version: str
) -> Sequence[str]:
    """Return the requirements for pip: this version, and the plugins' distributions.

    Args:
        plugins: The names of the plugins.
        registry: The plugins by name.
        version: The version of the framework.
    """
    default_distributions = set(_default_distributions())
    others = {
        f"{plugin.distribution}=={plugin.version}"
        for plugin in map(registry.__getitem__, plugins)
        if plugin.distribution
        and canonicalize_name(plugin.distribution) not in default_distributions
    }
    return [f"{_OWN}[{_EXTRAS}]=={version}", *sorted(others)]


def _default_distributions() -> Iterator[str]:
    """Yield the distributions of the extra ``default``."""
    try:
        listed = requires(_OWN) or ()
    except PackageNotFoundError:
        listed = ()
    for requirement in map(Requirement, listed):
        if requirement.marker is not None and requirement.marker.evaluate(
            {"extra": "default"}
        ):
            yield canonicalize_name(requirement.name)


def dockerfile_of(requirements: Sequence[str]) -> str:
    """Return a Dockerfile that installs some distributions.

    Args:
        requirements: The requirements for pip.
    """
    listed = " ".join(map(shlex.quote, requirements))
    return f"""\
# Put the wheels of plugins that are not in a package index into wheels/, here.
FROM python:{_PYTHON}-slim AS build
RUN python -m venv /opt/quaymaster
COPY Dockerfile wheels* /wheels/
RUN /opt/quaymaster/bin/pip install --no-cache-dir --find-links /wheels \\
    {listed}

# Nothing is written at run time: the root may be read-only, and the user has no rights.
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
