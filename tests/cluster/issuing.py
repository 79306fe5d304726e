"""Who makes certificates besides us, as far as an installation meets them: cert-manager, and OpenShift's service CA. They see what they go by, and fill it."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from cwii_webhook.certificates import pki
from cwii_webhook.certificates.pem import KeyPair
from cwii_webhook.certificates.pki import Lifetime
from cwii_webhook.settings.flags import parse_duration

from tests.cluster.kube.client import Client, Object, Refused

GROUP = "/apis/cert-manager.io/v1"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
SERVED, INJECTED = (
    "service.beta.openshift.io/serving-cert-secret-name",
    "service.beta.openshift.io/inject-cabundle",
)
LIFE = Lifetime(timedelta(days=90), timedelta(days=30))

Look = Callable[[Client], None]


@contextmanager
def at_work(admin: Client, look: Look) -> Generator[None]:
    """Somebody else may write at the same time: then it looks again."""
    over, broke = threading.Event(), list[Exception]()

    def work() -> None:
        while not over.wait(0.3) and not broke:
            try:
                look(admin)
            except Refused as refused:
                if refused.status not in {404, 409}:
                    broke.append(refused)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not broke, broke


def cert_manager(admin: Client) -> None:
    """The controller of Certificates, and the injector of their CAs."""
    for certificate in admin.list(f"{GROUP}/certificates"):
        about, spec = certificate["metadata"], certificate["spec"]
        place = f"/api/v1/namespaces/{about['namespace']}/secrets/{spec['secretName']}"
        if not (admin.exists(place) and admin.get(place).get("data")):
            _issued(admin, certificate, place)
    for configuration in admin.list(CONFIGURATIONS):
        words = configuration["metadata"].get("annotations", {})
        if called := words.get("cert-manager.io/inject-ca-from"):
            namespace, _, name = called.partition("/")
            secret = admin.get(f"{GROUP}/namespaces/{namespace}/certificates/{name}")["spec"][
                "secretName"
            ]
            _believed(
                admin,
                configuration,
                admin.get(f"/api/v1/namespaces/{namespace}/secrets/{secret}")["data"]["ca.crt"],
                "cainjector",
            )


def service_ca(authority: KeyPair) -> Look:
    def look(admin: Client) -> None:
        for service in admin.list("/api/v1/services"):
            about = service["metadata"]
            if called := about.get("annotations", {}).get(SERVED):
                place = f"/api/v1/namespaces/{about['namespace']}/secrets"
                if not admin.exists(f"{place}/{called}"):
                    pair = pki.sign(
                        pki.service_spec(about["name"], about["namespace"], LIFE),
                        authority,
                        datetime.now(UTC),
                    )
                    owner = {
                        "apiVersion": "v1",
                        "kind": "Service",
                        "name": about["name"],
                        "uid": about["uid"],
                    }
                    admin.create(
                        place,
                        {
                            "metadata": {"name": called, "ownerReferences": [owner]},
                            "type": "kubernetes.io/tls",
                            "data": _data(pair),
                        },
                    )
        for configuration in admin.list(CONFIGURATIONS):
            if configuration["metadata"].get("annotations", {}).get(INJECTED) == "true":
                _believed(
                    admin,
                    configuration,
                    base64.b64encode(authority.certificate).decode(),
                    "service-ca-operator",
                )

    return look


def _issued(admin: Client, certificate: Object, place: str) -> None:
    """By the Issuer that it names, whose own CA may have yet to come. Applied, as cert-manager does it."""
    about, spec = certificate["metadata"], certificate["spec"]
    issuer = admin.get(
        f"{GROUP}/namespaces/{about['namespace']}/issuers/{spec['issuerRef']['name']}"
    )["spec"]
    life, now = (
        Lifetime(
            timedelta(seconds=parse_duration(spec["duration"])),
            timedelta(seconds=parse_duration(spec["duration"]) / 3),
        ),
        datetime.now(UTC),
    )
    if "selfSigned" in issuer:
        made = signer = pki.create_authority(spec["commonName"], life, now)
    else:
        data = admin.get(
            f"/api/v1/namespaces/{about['namespace']}/secrets/{issuer['ca']['secretName']}"
        )["data"]
        signer = KeyPair(*(base64.b64decode(data[key]) for key in ("tls.crt", "tls.key")))
        made = pki.sign(
            pki.CertificateSpec(
                spec["dnsNames"][0], life, dns_names=tuple(spec["dnsNames"]), server_auth=True
            ),
            signer,
            now,
        )
    marks = {
        "name": spec["secretName"],
        "annotations": {"cert-manager.io/certificate-name": about["name"]},
        "labels": {"controller.cert-manager.io/fao": "true"},
    }
    filled = {**_data(made), "ca.crt": base64.b64encode(signer.certificate).decode()}
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": marks,
        "type": "kubernetes.io/tls",
        "data": filled,
    }
    admin.patch(f"{place}?fieldManager=cert-manager-certificates-issuing&force=true", body, "apply")


def _believed(admin: Client, configuration: Object, bundle: str, manager: str) -> None:
    entries = configuration["webhooks"]
    if any(entry["clientConfig"].get("caBundle") != bundle for entry in entries):
        for entry in entries:
            entry["clientConfig"]["caBundle"] = bundle
        admin.put(
            f"{CONFIGURATIONS}/{configuration['metadata']['name']}?fieldManager={manager}",
            configuration,
        )


def _data(pair: KeyPair) -> dict[str, str]:
    return {
        key: base64.b64encode(pem).decode()
        for key, pem in {"tls.crt": pair.certificate, "tls.key": pair.key}.items()
    }
