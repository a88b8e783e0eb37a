"""Checks the host names and the DNS of pods.

Mirrors ``validatePodDNSConfig``, ``validatePodHostName`` and ``ValidateHostAliases``
(Kubernetes v1.37, ``pkg/apis/core/validation/validation.go``).
"""

import re
from typing import Final

from quaymaster._api.objects.addresses import is_address
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.syntax import DNS_LABEL, SUBDOMAIN

__all__ = ["check_network"]

_POLICIES: Final = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_ADDRESS: Final = "an IP address without leading zeros"
_MAX_SERVERS: Final = 3
_MAX_SEARCHES: Final = 32
_MAX_SEARCH_LENGTH: Final = 2048
_MAX_HOST_NAME: Final = 64
_MAX_DOMAIN: Final = 253
_LABEL: Final = r"_?[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_SEARCH: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)


def check_network(spec: Part) -> None:
    """Check the fields of a pod's spec about names and addresses."""
    policy = spec.text("dnsPolicy")
    if policy:
        spec.report.one_of(policy, _POLICIES, spec.at("dnsPolicy"))
    _check_dns(spec, policy)
    for field in ("hostname", "subdomain"):
        if spec.text(field):
            spec.report.formed(spec.text(field), DNS_LABEL, spec.at(field))
    _check_host_name(spec)
    for alias in spec.parts("hostAliases"):
        address = alias.text("ip")
        alias.expect(is_address(address), "ip", _ADDRESS, address)
        for index, name in enumerate(alias.items("hostnames")):
            path = f"{alias.at('hostnames')}[{index}]"
            alias.report.formed(str(name or ""), SUBDOMAIN, path)


def _check_host_name(spec: Part) -> None:
    if not spec.has("hostnameOverride"):
        return
    name = spec.text("hostnameOverride")
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.is_true(field):
            spec.add("hostnameOverride", f"expected none, since {field} is true")
    if len(name) > _MAX_HOST_NAME:
        expected = f"at most {_MAX_HOST_NAME} characters"
        spec.expect(False, "hostnameOverride", expected, name)
    spec.report.formed(name, SUBDOMAIN, spec.at("hostnameOverride"))


def _check_dns(spec: Part, policy: str) -> None:
    config = spec.part("dnsConfig")
    if policy == "None" and not (config and config.items("nameservers")):
        field = "dnsConfig.nameservers" if config else "dnsConfig"
        spec.add(field, "expected a name server for the policy None, got none")
        return
    if config is None:
        return
    servers = config.items("nameservers")
    if len(servers) > _MAX_SERVERS:
        expected = f"at most {_MAX_SERVERS}"
        config.expect(False, "nameservers", expected, len(servers))
    for index, address in enumerate(servers):
        is_right = isinstance(address, str) and is_address(address)
        config.expect(is_right, f"nameservers[{index}]", _ADDRESS, address)
    _check_searches(config)
    for option in config.parts("options"):
        if not option.text("name"):
            option.report.add(option.path, "expected a name, got none")


def _check_searches(config: Part) -> None:
    searches = [str(search or "") for search in config.items("searches")]
    if len(searches) > _MAX_SEARCHES:
        config.expect(False, "searches", f"at most {_MAX_SEARCHES}", len(searches))
    length = len(" ".join(searches))
    if length > _MAX_SEARCH_LENGTH:
        expected = f"at most {_MAX_SEARCH_LENGTH} characters"
        config.expect(False, "searches", expected, length)
    for index, search in enumerate(searches):
        domain = search.removesuffix(".")
        is_domain = len(domain) <= _MAX_DOMAIN and bool(_SEARCH.fullmatch(domain))
        expected = "a domain, or '.'"
        config.expect(
            search == "." or is_domain, f"searches[{index}]", expected, search
        )
