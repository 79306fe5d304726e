"""What Talos wants: patches of its machine configuration, whose documents have changed with 1.14. The key is in them."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from cwiictl import manifests
from cwiictl.installers import folder
from cwiictl.installers.flags import JWKS_URI, flags, former
from cwiictl.installers.folder import Files
from cwiictl.manifests import Template
from cwiictl.model import Handover, Succession, Workload

name = "talos"
folders = folder.folders(name)

OLD = "talos/machine-config.yaml"
NEW = "talos/machine-config-1.14.yaml"
issuer_in = OLD
public_in = ""
END = "-----END PUBLIC KEY-----\n"
BEFORE = "talos/no-issuers.yaml"  # Talos adds to a list, and an issuer that is told twice keeps the API server from starting
ACCOUNTS, SERVER = "talos/service-accounts.yaml", "talos/api-server.yaml"


def paths(workloads: Iterable[Workload]) -> tuple[str, ...]:
    return folder.paths(name, workloads, (NEW, OLD, BEFORE), (NEW,))


def render(handover: Handover, template: Template) -> dict[str, bytes]:
    return folder.rendered(name, handover, template, _own, {NEW: _own})


def succeeded(succession: Succession, template: Template) -> dict[str, bytes]:
    """Since 1.14 other keys than that which signs can be told, too. What a patch has of a list is added to it: none can take a key away."""
    if succession.stage == "forget":
        return folder.succeeded(name, succession, template, {"old.pub": succession.old})
    patch = manifests.template(template(ACCOUNTS))
    del patch["issuer"]
    keys = [f"{key}{END}" for key in succession.accepted.decode().split(END) if key.strip()]
    signs = (
        {"issuer": {"privateKey": succession.private_key.decode()}}
        if succession.private_key
        else {}
    )
    return folder.succeeded(
        name,
        succession,
        template,
        {
            "machine-config-1.14.yaml": manifests.dump(
                patch | signs | {"accepted": {"publicKeys": keys}}
            )
        },
    )


def _own(handover: Handover, template: Template) -> Files:
    documents = [_accounts(manifests.template(template(ACCOUNTS)), handover)]
    if handover.jwks_uri:
        server = manifests.template(template(SERVER))
        server["extraArgs"][JWKS_URI] = handover.jwks_uri
        documents.append(server)
    if handover.runs:
        yield BEFORE, manifests.dump(manifests.template(template(BEFORE)))
    yield NEW, manifests.dump_all(documents)
    yield OLD, manifests.dump(_cluster(manifests.template(template(OLD)), handover))


def _cluster(filled: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """The audience that Talos has for the API server, its endpoint, stays as long as none is given. A flag has one value here."""
    filled["cluster"]["apiServer"]["extraArgs"] = flags(handover, {})
    if handover.private_key is not None:
        filled["cluster"]["serviceAccount"] = {
            "key": base64.b64encode(handover.private_key).decode()
        }
    return filled


def _accounts(filled: dict[str, Any], handover: Handover) -> dict[str, Any]:
    """Without audiences the issuer would become the only one, and tokens that pods have be refused."""
    filled["issuer"]["issuerURL"] = handover.issuer
    if handover.private_key is not None:
        filled["issuer"]["privateKey"] = handover.private_key.decode()
    had = former(handover)
    audiences = [*(handover.audiences or ((had,) if had else ()))]
    accepted = {
        "issuers": [had] if had else [],
        "audiences": [*dict.fromkeys([*audiences, *([handover.issuer] if audiences else ())])],
    }
    return filled | (
        {"accepted": {field: values for field, values in accepted.items() if values}}
        if audiences
        else {}
    )
