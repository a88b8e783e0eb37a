"""Reports mistakes in a configuration's extenders before any of them is called.

Of these mistakes, kube-scheduler rejects only unreadable certificates. With the others
it starts, and fails at every call (Kubernetes v1.36, ``pkg/scheduler/extender.go``).
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from quaymaster._base.errors import Problem
from quaymaster._core.config.naming import show
from quaymaster._core.config.settings import Extender, ExtenderTLS
from quaymaster._core.extenders.errors import ExtenderError
from quaymaster._core.extenders.tls import tls_context
from quaymaster._core.extenders.transport import EXAMPLE_URL, is_url

__all__ = ["doubts", "mistakes"]

_VERBS: Final = ("filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb")


def mistakes(extenders: Iterable[Extender], source: str) -> list[Problem]:
    """Return the mistakes that make every call of an extender fail.

    Args:
        extenders: The extenders, in the order of the configuration.
        source: The name of their file.
    """
    return _problems(extenders, source, _mistakes)


def doubts(extenders: Iterable[Extender], source: str) -> list[Problem]:
    """Return probable mistakes; the arguments are those of `mistakes`."""
    return _problems(extenders, source, _doubts)


def _problems(
    extenders: Iterable[Extender],
    source: str,
    check: Callable[[Extender], Iterator[tuple[str, str]]],
) -> list[Problem]:
    return [
        Problem(where=source, path=f"extenders[{index}].{field}", message=message)
        for index, extender in enumerate(extenders)
        for field, message in check(extender)
    ]


def _mistakes(extender: Extender) -> Iterator[tuple[str, str]]:
    url = extender.url_prefix
    if not is_url(url):
        yield "urlPrefix", f"expected a URL such as {EXAMPLE_URL}, got {show(url)}"
    for field, verb in _verbs(extender):
        if any(
            character.isspace() or not character.isprintable() for character in verb
        ):
            yield field, f"expected a path without spaces, got {show(verb)}"
    settings = extender.tls_config
    if settings is not None and not list(_missing_files(settings)):
        try:
            tls_context(extender)
        except ExtenderError as error:
            yield "tlsConfig", str(error).partition("tlsConfig: ")[2]


def _doubts(extender: Extender) -> Iterator[tuple[str, str]]:
    if not is_url(extender.url_prefix):
        return
    yield from _doubts_of_calls(extender)
    settings = extender.tls_config
    if urlsplit(extender.url_prefix).scheme == "http":
        plain = "since urlPrefix begins with http, nothing is encrypted"
        if extender.enable_https:
            yield "enableHTTPS", f"has no effect: {plain}"
        if settings is not None:
            yield "tlsConfig", f"has no effect: {plain}"
    if settings is None:
        return
    has_certificate = bool(settings.cert_file or settings.cert_data)
    if has_certificate != bool(settings.key_file or settings.key_data):
        lacking = "a key" if has_certificate else "a certificate"
        yield (
            "tlsConfig",
            f"expected {lacking} as well, or no client certificate is sent",
        )
    for field, file in _missing_files(settings):
        yield f"tlsConfig.{field}", f"no such file here: {show(file)}"


def _doubts_of_calls(extender: Extender) -> Iterator[tuple[str, str]]:
    parts = urlsplit(extender.url_prefix)
    if parts.query or parts.fragment:
        got = show(extender.url_prefix)
        yield (
            "urlPrefix",
            f"expected no query and no fragment before the verb, got {got}",
        )
    verbs = dict(_verbs(extender))
    for field, verb in verbs.items():
        if verb.startswith("/"):
            yield field, f"expected no slash at the beginning, got {show(verb)}"
    has_effect = any(item.ignored_by_scheduler for item in extender.managed_resources)
    if not verbs and not has_effect:
        yield "urlPrefix", f"is never called: expected one of {', '.join(_VERBS)}"


def _verbs(extender: Extender) -> Iterator[tuple[str, str]]:
    """Return the verbs that are set, by field."""
    verbs = (
        extender.filter_verb,
        extender.prioritize_verb,
        extender.preempt_verb,
        extender.bind_verb,
    )
    for field, verb in zip(_VERBS, verbs, strict=True):
        if verb:
            yield field, verb


def _missing_files(settings: ExtenderTLS) -> Iterator[tuple[str, str]]:
    """Return the missing files of the settings, by field."""
    for field, file, data in (
        ("certFile", settings.cert_file, settings.cert_data),
        ("keyFile", settings.key_file, settings.key_data),
        ("caFile", settings.ca_file, settings.ca_data),
    ):
        if file and not data and not Path(file).is_file():
            yield field, file
