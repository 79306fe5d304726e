"""What goes wrong in the field between a cluster and its clouds, planted one at a time where all is right, and how verify is to name it.

The issuer is in S3. Each is (what it is called, how it is planted, at which thing it is told, in which words, how severe it is).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from cwiictl import oidc
from cwiictl.sandbox.exchange import Request, Response
from cwiictl.sandbox.faults import Flaw
from tests.examples import ACCOUNT
from tests.journeys import ground as aws
from tests.journeys.azure import ground as azure
from tests.journeys.gcp import by_hand
from tests.journeys.gcp import ground as gcp
from tests.journeys.ground import BUCKET, HOST, ISSUER, PROVIDER, SUBJECT, Ground, a_key, kid_of
from tests.journeys.three import All

DISCOVERY, KEYS = ".well-known/openid-configuration", "keys.json"
WEB = f"issuer/{ISSUER}"
PROVIDER_ = f"aws/oidc-provider/{HOST}"
ROLE = f"aws/role/{aws.INGRESS}"
IDENTITY = f"azure/identity/{azure.GROUP}/{azure.INGRESS}"
TELLS = "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml"
POOL, GPROVIDER = f"gcp/pool/{gcp.POOL}", f"gcp/provider/{gcp.POOL}/{gcp.PROVIDER}"


@dataclass(frozen=True)
class Fault:
    name: str
    plant: Callable[[All], None]
    thing: str
    check: str
    words: str
    severity: str = "failed"


# --- the documents ---


def put(ground: Ground, key: str, body: Mapping[str, Any] | str, **headers: str) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    with ground.aws("s3") as s3:
        s3.put_object(
            Bucket=BUCKET,
            Key=key,
            Body=text.encode(),
            **{"ContentType": "application/json", **headers},
        )


def got(ground: Ground, key: str) -> Any:
    with ground.aws("s3") as s3:
        return json.loads(s3.get_object(Bucket=BUCKET, Key=key)["Body"].read())


def said(**changes: Any) -> Callable[[Ground], None]:
    """The discovery document says something else."""
    return lambda ground: put(ground, DISCOVERY, {**got(ground, DISCOVERY), **changes})


def lacking(field: str) -> Callable[[All], None]:
    return lambda ground: put(
        ground,
        DISCOVERY,
        {key: value for key, value in got(ground, DISCOVERY).items() if key != field},
    )


def served(key: str, **headers: str) -> Callable[[All], None]:
    """The same document under other headers."""
    return lambda ground: put(ground, key, got(ground, key), **headers)


def published(key: int = 0, **changes: Any) -> Callable[[All], None]:
    """In the key set, in place of the cluster's, the key of this number."""
    return lambda ground: put(
        ground,
        KEYS,
        {"keys": [{**oidc.public_key(aws.public_pem(a_key(key)), "a key").jwk, **changes}]},
    )


def closed(ground: All) -> None:
    with ground.aws("s3") as s3:
        s3.delete_bucket_policy(Bucket=BUCKET)


def lost(ground: All) -> None:
    with ground.aws("s3") as s3:
        s3.delete_object(Bucket=BUCKET, Key=KEYS)


# --- what is between ---


def answered(status: int, **headers: str) -> Callable[[All], None]:
    """By whatever stands before the issuer's host."""

    def spoil(request: Request, response: Response) -> Response:
        asked = (
            request.host == HOST
            and request.path == f"/{DISCOVERY}"
            and not request.header("Authorization")
        )
        return (
            Response(
                status, tuple((key.replace("_", "-"), value) for key, value in headers.items())
            )
            if asked
            else response
        )

    def plant(ground: All) -> None:
        ground.sandbox.faults.spoil = spoil

    return plant


def certified(flaw: Flaw) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        ground.sandbox.faults.certificates[HOST] = flaw

    return plant


def late(seconds: float) -> Callable[[All], None]:
    """The whole world's clock but ours: that is as good as ours alone."""

    def plant(ground: All) -> None:
        clock = ground.sandbox.settings.clock
        ground.sandbox.faults.clock = lambda: clock() + seconds

    return plant


# --- AWS ---


def iam(act: Callable[[Any], Any]) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        with ground.aws("iam") as client:
            act(client)

    return plant


def trusting(replaced: str, by: str) -> Callable[[All], None]:
    """The role of ingress, with another trust."""

    def act(client: Any) -> None:
        text = json.dumps(client.get_role(RoleName=aws.INGRESS)["Role"]["AssumeRolePolicyDocument"])
        assert replaced in text
        client.update_assume_role_policy(
            RoleName=aws.INGRESS, PolicyDocument=text.replace(replaced, by)
        )

    return iam(act)


def denied(client: Any) -> None:
    trust = client.get_role(RoleName=aws.INGRESS)["Role"]["AssumeRolePolicyDocument"]
    no = {"Effect": "Deny", "Principal": "*", "Action": "sts:AssumeRoleWithWebIdentity"}
    client.update_assume_role_policy(
        RoleName=aws.INGRESS,
        PolicyDocument=json.dumps({**trust, "Statement": [*trust["Statement"], no]}),
    )


def opened(client: Any) -> None:
    anybody = {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}
    client.update_assume_role_policy(
        RoleName=aws.INGRESS,
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [anybody]}),
    )


def undone(client: Any) -> None:
    for name in client.list_role_policies(RoleName=aws.INGRESS)["PolicyNames"]:
        client.delete_role_policy(RoleName=aws.INGRESS, PolicyName=name)
    client.delete_role(RoleName=aws.INGRESS)


# --- Azure ---


def credential(**changes: Any) -> Callable[[All], None]:
    return lambda ground: ground.azure.changed(
        f"{ground.azure.identity(azure.INGRESS)}/federatedIdentityCredentials/ingress-operator",
        **changes,
    )


def another_tenant(file: str) -> Callable[[All], None]:
    def plant(ground: All) -> None:
        text = (ground.folder / file).read_text()
        assert azure.TENANT in text
        (ground.folder / file).write_text(
            text.replace(azure.TENANT, "99999999-9999-4999-8999-999999999999")
        )

    return plant


# --- Google Cloud ---


def gcp_account(ground: All) -> str:
    return ground.gcp.account(gcp.INGRESS)


def acted_by(ground: All, subject: str) -> None:
    by_hand.trust(
        ground.gcp,
        gcp_account(ground),
        [{"role": by_hand.IMPERSONATE, "members": [gcp.principal(subject)]}],
    )


def service_account(ground: All) -> str:
    """Its address."""
    return f"gcp/service-account/{gcp_account(ground).partition('@')[0]}"


OTHER = "system:serviceaccount:openshift-ingress-operator:other"
GOOGLES = "the service account of ingress"  # whose address says nothing: it is looked up

FAULTS = (
    Fault(
        "trailing slash",
        said(issuer=f"{ISSUER}/"),
        WEB,
        "discovery document",
        "a slash at its end is a part of it",
    ),
    Fault(
        "issuer of another",
        said(issuer="https://other.example.org"),
        WEB,
        "discovery document",
        "is the document of the issuer https://other.example.org",
    ),
    Fault(
        "keys not on https",
        said(jwks_uri=f"http://{HOST}/{KEYS}"),
        WEB,
        "discovery document",
        "which is not https",
    ),
    Fault(
        "no JSON",
        lambda g: put(g, DISCOVERY, "<html>"),
        WEB,
        "discovery document",
        "is no JSON object",
    ),
    Fault(
        "too large",
        said(padding="x" * (1 << 20)),
        WEB,
        "discovery document",
        "is longer than 1048576 bytes",
    ),
    Fault(
        "wrong content type",
        served(DISCOVERY, ContentType="text/html"),
        WEB,
        "discovery document",
        "is served as text/html",
        "warning",
    ),
    Fault(
        "kept too long",
        served(KEYS, CacheControl="public, max-age=86400"),
        WEB,
        "key set",
        "may be kept for 86400 seconds",
        "warning",
    ),
    Fault(
        "fields that AWS asks for",
        lacking("subject_types_supported"),
        WEB,
        "discovery document",
        "lacks subject_types",
        "warning",
    ),
    Fault(
        "anonymous access closed",
        closed,
        WEB,
        "discovery document",
        "answers 403: it is not for everybody, or not there",
    ),
    Fault("keys lost", lost, WEB, "key set", "it is not for everybody, or not there"),
    Fault(
        "redirect",
        answered(301, Location="https://elsewhere.example.org/"),
        WEB,
        "discovery document",
        "leads to https://elsewhere.example.org/",
    ),
    Fault(
        "host is broken",
        answered(500),
        WEB,
        "discovery document",
        "answers 500, which is no document",
    ),
    Fault(
        "certificate expired",
        certified("expired"),
        WEB,
        "discovery document",
        "is not believed: certificate has expired",
    ),
    Fault(
        "certificate of nobody",
        certified("strange"),
        WEB,
        "discovery document",
        "is not believed: self-signed certificate in certificate chain",
    ),
    Fault(
        "certificate of another",
        certified("another's"),
        WEB,
        "discovery document",
        "is not believed: Hostname mismatch",
    ),
    Fault(
        "malformed key set",
        lambda g: put(g, KEYS, '{"keys": [{'),
        WEB,
        "key set",
        "it is not valid JSON",
    ),
    Fault(
        "key not published",
        published(1),
        WEB,
        "signing key",
        f"the cluster's key {kid_of(a_key(0))} is not published",
    ),
    Fault("key id altered", published(0, kid="other"), WEB, "signing key", "under the id other"),
    Fault(
        "id of another key",
        published(1, kid=kid_of(a_key(0))),
        WEB,
        "signing key",
        f"has another key under the id {kid_of(a_key(0))}",
    ),
    Fault(
        "clock a little off",
        late(200.0),
        WEB,
        "clock",
        "seconds behind that of the issuer's host",
        "warning",
    ),
    Fault(
        "AWS: no provider",
        iam(lambda i: i.delete_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)),
        PROVIDER_,
        "trust",
        "has no OIDC provider",
    ),
    Fault(
        "AWS: audience",
        iam(
            lambda i: i.remove_client_id_from_open_id_connect_provider(
                OpenIDConnectProviderArn=PROVIDER, ClientID="openshift"
            )
        ),
        PROVIDER_,
        "trust",
        "the provider takes tokens for sts.amazonaws.com, and not openshift",
    ),
    Fault("AWS: no role", iam(undone), ROLE, "trust", f"there is no role {aws.INGRESS}"),
    Fault(
        "AWS: subject",
        trusting(SUBJECT, OTHER),
        ROLE,
        "trust",
        f"the role trusts {OTHER}, and not {SUBJECT}",
    ),
    Fault(
        "AWS: issuer of the role",
        trusting(f"oidc-provider/{HOST}", "oidc-provider/other.example.org"),
        ROLE,
        "trust",
        f"and not arn:aws:iam::{ACCOUNT}",
    ),
    Fault(
        "AWS: issuer in conditions",
        trusting(f'"{HOST}:sub"', '"other.example.org:sub"'),
        ROLE,
        "trust",
        f"are of the issuer other.example.org, and not {HOST}",
    ),
    Fault("AWS: anybody", iam(opened), ROLE, "trust", "anybody in AWS may assume the role"),
    Fault("AWS: denied", iam(denied), ROLE, "trust", "denies somebody something"),
    Fault(
        "Azure: trailing slash",
        credential(issuer=f"{ISSUER}/"),
        IDENTITY,
        "trust",
        f"{ISSUER}/, and not {ISSUER}: a slash at its end is a part of it",
    ),
    Fault(
        "Azure: audience",
        credential(audiences=["api://AzureADTokenExchange"]),
        IDENTITY,
        "trust",
        "for api://AzureADTokenExchange, and not openshift",
    ),
    Fault(
        "Azure: subject",
        credential(subject=SUBJECT.upper()),
        IDENTITY,
        "trust",
        "large and small letters are not the same",
    ),
    Fault(
        "Azure: no identity",
        lambda g: g.azure.arm("DELETE", g.azure.identity(azure.INGRESS)),
        IDENTITY,
        "trust",
        "there is no identity",
    ),
    Fault(
        "Azure: wrong tenant",
        another_tenant(TELLS),
        TELLS,
        "what is told",
        "azure_tenant_id of openshift-ingress-operator/cloud-credentials is 99999999",
    ),
    Fault(
        "Azure: wrong tenant for the webhook",
        another_tenant("out/webhook.yaml"),
        "out/webhook.yaml",
        "what is told",
        "tenantId is 99999999",
    ),
    Fault(
        "Google: pool disabled",
        lambda g: by_hand.pool(g.gcp, disabled=True),
        POOL,
        "trust",
        "is disabled",
    ),
    Fault(
        "Google: no pool",
        lambda g: by_hand.gone(g.gcp, f"{gcp.POOLS}/{gcp.POOL}"),
        POOL,
        "trust",
        "is deleted",
    ),
    Fault(
        "Google: provider disabled",
        lambda g: by_hand.provider(g.gcp, disabled=True),
        GPROVIDER,
        "trust",
        "is disabled",
    ),
    Fault(
        "Google: audience",
        lambda g: by_hand.provider(
            g.gcp, mask="oidc.allowedAudiences", oidc={"allowedAudiences": ["other"]}
        ),
        GPROVIDER,
        "trust",
        "takes tokens for other, and not",
    ),
    Fault(
        "Google: condition",
        lambda g: by_hand.provider(g.gcp, attributeCondition="assertion.sub == 'me'"),
        GPROVIDER,
        "trust",
        "assertion.sub == 'me'",
    ),
    Fault(
        "Google: account disabled",
        lambda g: g.gcp.rest("POST", "iam", f"{gcp.ACCOUNTS}/{gcp_account(g)}:disable", {}),
        GOOGLES,
        "trust",
        "is disabled",
    ),
    Fault(
        "Google: subject",
        lambda g: acted_by(g, OTHER),
        GOOGLES,
        "trust",
        f"is {OTHER}, and not {SUBJECT}",
    ),
)
