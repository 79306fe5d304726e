"""Certificates by cert-manager: an issuer that is there, or one of our own with a CA of its own."""

from __future__ import annotations

from collections.abc import Iterator

from cwiictl.install.body import Object, body
from cwiictl.install.values import Values

_GROUP = "cert-manager.io"
_VERSION = f"{_GROUP}/v1"
_KEY: Object = {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"}


def issuance(values: Values) -> Iterator[Object]:
    certificates = values.certificates
    if certificates.by != "cert-manager":
        return
    issuer: Object = {
        "name": certificates.issuer.name,
        "kind": certificates.issuer.kind,
        "group": certificates.issuer.group,
    }
    if not certificates.issuer.name:
        yield from _own(values)
        issuer = _ours(f"{values.name}-ca")
    names = [f"{values.name}.{values.namespace}.svc", f"{values.name}.{values.namespace}"]
    said: Object = {
        "secretName": values.serving_secret,
        "duration": certificates.validity,
        "dnsNames": names,
        "issuerRef": issuer,
    }
    yield body(
        values,
        _VERSION,
        "Certificate",
        values.serving_secret,
        spec={**said, "privateKey": _KEY, "usages": ["digital signature", "server auth"]},
    )


def _own(values: Values) -> Iterator[Object]:
    name, signed = f"{values.name}-ca", f"{values.name}-self-signed"
    said: Object = {
        "isCA": True,
        "commonName": name,
        "secretName": name,
        "duration": values.certificates.ca_validity,
        "issuerRef": _ours(signed),
    }
    yield body(values, _VERSION, "Issuer", signed, spec={"selfSigned": {}})
    yield body(
        values,
        _VERSION,
        "Certificate",
        name,
        spec={**said, "privateKey": {**_KEY, "rotationPolicy": "Never"}},
    )
    yield body(values, _VERSION, "Issuer", name, spec={"ca": {"secretName": name}})


def _ours(name: str) -> Object:
    return {"name": name, "kind": "Issuer", "group": _GROUP}
