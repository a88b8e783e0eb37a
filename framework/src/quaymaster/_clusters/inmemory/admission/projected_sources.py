"""Checks projected volumes: files of several sources in one directory.

Mirrors ``validateProjectedVolumeSource`` and ``validateProjectionSources`` (Kubernetes
v1.37, ``pkg/apis/core/validation/validation.go``), and ``ValidateSignerName``
(``names.go``). As by API servers with the admission plugin ServiceAccount, the pods of
tokens need not name a service account: the plugin does.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from quaymaster._api.objects import LabelSelector
from quaymaster._api.objects.file_paths import check_file
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import DNS_LABEL, LABEL_KEY, SUBDOMAIN
from quaymaster._api.objects.volumes import JsonObject
from quaymaster._clusters.inmemory.admission.file_sources import (
    check_downward_file,
    check_item,
    check_mode,
)
from quaymaster._clusters.inmemory.admission.placement_checks import check_selector

__all__ = ["check_projected"]

_MIN_TOKEN: Final = 600
_MAX_TOKEN: Final = 2**32
_MIN_CERTIFICATE: Final = 3600
_DAY: Final = 86400
_MAX_CERTIFICATE: Final = 91 * _DAY
_KEY_TYPES: Final = (
    "RSA3072",
    "RSA4096",
    "ECDSAP256",
    "ECDSAP384",
    "ECDSAP521",
    "ED25519",
)
_CERTIFICATE_PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")
_MAX_ANNOTATIONS: Final = 256 * 1024


def check_projected(source: JsonObject, path: str, report: Report) -> None:
    """Check the sources of a projected volume, whose files must not collide."""
    volume = Part(source, path, report)
    check_mode(volume, "defaultMode")
    files: set[str] = set()
    for item in volume.parts("sources"):
        parts = [part for kind in _CHECKS if (part := item.part(kind)) is not None]
        for part in parts:
            kind = part.path.rpartition(".")[2]
            # Checks are generators, so a problem of a file is reported before its
            # collision, as upstream does.
            for file in _CHECKS[kind](part, path):
                # All sources share one directory.
                report.expect(file not in files, path, "a path of its own", file)
                files.add(file)
        if len(parts) > 1:
            report.add(item.path, "expected one source, got several")


def _check_items(part: Part, _: str) -> Iterator[str]:
    part.require("name")
    for item in part.parts("items"):
        check_item(item)
        if item.text("path"):
            yield item.text("path")


def _check_downward(part: Part, _: str) -> Iterator[str]:
    for file in part.parts("items"):
        # As upstream, the paths of problems do not have the file's index.
        check_downward_file(Part(file.tree, part.path, part.report))
        if file.text("path"):
            yield file.text("path")


def _check_token(part: Part, path: str) -> Iterator[str]:
    part.in_range("expirationSeconds", _MIN_TOKEN, _MAX_TOKEN)
    file = part.text("path")
    if file:
        check_file(file, f"{path}.path", part.report)
    else:
        part.report.add(f"{path}.path", "expected one, got none")
    # Upstream compares the paths of tokens with no others.
    yield from ()


def _check_trust_bundle(part: Part, _: str) -> Iterator[str]:
    has_name, has_signer = part.has("name"), part.has("signerName")
    if has_name == has_signer:
        got = "both" if has_name else "none"
        part.report.add(part.path, f"expected either name or signerName, got {got}")
    elif has_name:
        _check_bundle_name(part)
    else:
        _check_signer(part)
        _check_selector(part)
    part.require("path")
    check_file(part.text("path"), part.at("path"), part.report)
    yield part.text("path")


def _check_bundle_name(part: Part) -> None:
    """Check the name of a bundle; that of a signer's begins with the signer."""
    # The name of a signer's bundle is ``example.com:signer:name``; only the last part
    # must be a subdomain.
    name = part.text("name").rpartition(":")[2]
    part.report.named(name, SUBDOMAIN, part.at("name"))
    if part.has("labelSelector"):
        part.add("labelSelector", "expected none beside a name")


def _check_selector(part: Part) -> None:
    tree = part.tree.get("labelSelector")
    try:
        selector = msgspec.convert(tree, LabelSelector | None)
    except msgspec.ValidationError as error:
        part.add("labelSelector", str(error))
    else:
        check_selector(selector, part.at("labelSelector"), part.report)


def _check_certificate(part: Part, _: str) -> Iterator[str]:
    _check_signer(part)
    _check_user_annotations(part)
    part.report.one_of(part.text("keyType"), _KEY_TYPES, part.at("keyType"))
    domain = part.text("signerName").partition("/")[0]
    is_own = f".{domain}".endswith(".kubernetes.io")
    # Kubernetes' own signers issue certificates for a day at most.
    most = _DAY if is_own else _MAX_CERTIFICATE
    part.in_range("maxExpirationSeconds", _MIN_CERTIFICATE, most)
    files = [(field, part.text(field)) for field in _CERTIFICATE_PATHS]
    if not any(file for _, file in files):
        message = f"expected one of {', '.join(_CERTIFICATE_PATHS)}, got none"
        part.report.add(part.path, message)
    for field, file in files:
        if file:
            check_file(file, part.at(field), part.report)
            yield file


def _check_user_annotations(part: Part) -> None:
    annotations = part.mapping("userAnnotations")
    for key in annotations:
        # A domain is required here, unlike in annotations of objects.
        is_key = "/" in key and LABEL_KEY.fits(key.lower())
        expected = "a key with a domain, such as example.com/app"
        part.expect(is_key, "userAnnotations", expected, key)
    size = sum(len(f"{key}{value}".encode()) for key, value in annotations.items())
    if size > _MAX_ANNOTATIONS:
        expected = f"at most {_MAX_ANNOTATIONS} bytes"
        part.expect(False, "userAnnotations", expected, size)


def _check_signer(part: Part) -> None:
    name = part.text("signerName")
    domain, _, path = name.partition("/")
    labels = domain.split(".")
    is_signer = (
        len(labels) > 1
        and len(domain) <= 253
        and all(map(DNS_LABEL.fits, labels))
        and all(map(SUBDOMAIN.fits, path.split(".")))
    )
    expected = "a domain and a path such as example.com/signer"
    part.expect(is_signer, "signerName", expected, name)


_CHECKS: Final[Mapping[str, Callable[[Part, str], Iterator[str]]]] = {
    "secret": _check_items,
    "configMap": _check_items,
    "downwardAPI": _check_downward,
    "serviceAccountToken": _check_token,
    "clusterTrustBundle": _check_trust_bundle,
    "podCertificate": _check_certificate,
}
"""Checks a source, and returns the paths of its files."""
