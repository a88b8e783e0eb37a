"""The autoscalers of experiments: files with some settings changed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import attrs

from quaymaster._base.errors import Problem
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.yaml_file import read_content, read_yaml
from quaymaster._core.registry.offers import Offer
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.files import autoscaler_of, offer_of
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.overriding import (
    FieldPathError,
    parse_field_path,
    set_field,
)
from quaymaster._studies.simulation.autoscaler import AutoscalerFactory, files_of

__all__ = ["AutoscalerFile", "check_setting", "read_autoscaler_file"]

_FLAG: Final = "--"


@attrs.frozen(kw_only=True)
class AutoscalerFile:
    """The content of an autoscaler's file; it can be pickled.

    Attributes:
        source: Its path, for messages.
        document: The content.
    """

    source: str
    document: Mapping[str, object] = attrs.field(repr=False)

    def with_setting(self, setting: str, value: object) -> "AutoscalerFile":
        """Return the file with another value of a field, or of a flag.

        Args:
            setting: The path of a field, or a flag such as ``--scan-interval``, which
                is added to ``flags``: the last one counts.
            value: The value.

        Raises:
            FieldPathError: The path leads through another type of value.
        """
        if setting.startswith(_FLAG):
            flags = self.document.get("flags", ())
            if not isinstance(flags, list | tuple):
                raise FieldPathError("expected a list of flags")
            changed = {**self.document, "flags": [*flags, _flag(setting, value)]}
        else:
            path = parse_field_path(setting)
            tree = set_field(dict(self.document), path, value)
            changed = cast("dict[str, object]", tree)
        return attrs.evolve(self, document=changed)

    def factory(self) -> AutoscalerFactory:
        """Return what makes the autoscaler.

        Raises:
            ConfigErrors: The content is invalid.
            AutoscalerError: The content describes no autoscaler.
        """
        return autoscaler_of(self.document, self.source)

    @property
    def offer(self) -> Offer:
        """The entry point of the distribution that makes the autoscaler.

        Raises:
            AutoscalerError: The content describes no autoscaler.
        """
        return offer_of(self.document, self.source)

    def files(self) -> Sequence[Path]:
        """Return the files that the autoscaler reads beside this one.

        Raises:
            ConfigErrors: The content is invalid.
            AutoscalerError: The content describes no autoscaler.
        """
        return files_of(self.factory())

    def check(self, remark: str = "") -> None:
        """Check the content.

        Args:
            remark: What was changed, for messages.

        Raises:
            ExperimentErrors: The content is invalid.
        """
        try:
            self.factory()
        except ConfigErrors as error:
            problems = [
                attrs.evolve(each, where=f"{each.where}{remark}")
                for each in error.problems
            ]
            raise ExperimentErrors(problems) from error
        except AutoscalerError as error:
            where = error.where.replace(self.source, f"{self.source}{remark}", 1)
            problem = Problem(where=where, message=error.problem)
            raise ExperimentErrors([problem]) from error


def read_autoscaler_file(path: Path) -> AutoscalerFile:
    """Read the file of an autoscaler.

    Args:
        path: The file.

    Raises:
        ConfigErrors: It is unreadable, or not YAML.
        ExperimentErrors: It is not a mapping.
    """
    source = str(path)
    document = read_yaml(read_content(path, source), source)
    if not isinstance(document, dict):
        problem = Problem(where=source, message=f"expected a mapping, got {document!r}")
        raise ExperimentErrors([problem])
    return AutoscalerFile(source=source, document=document)


def check_setting(setting: str) -> None:
    """Check the name of a setting.

    Raises:
        FieldPathError: It is neither a flag nor a path.
    """
    if not setting.startswith(_FLAG):
        parse_field_path(setting)


def _flag(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{name}={str(value).lower()}"
    return f"{name}={value}"
