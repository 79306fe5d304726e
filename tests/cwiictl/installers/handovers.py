"""What an installer is handed, as small as it can be."""

from __future__ import annotations

from cwiictl.model import Binding, Handover, Workload

ISSUER = "https://prod-oidc.s3.eu-west-1.amazonaws.com"
ROLE = "arn:aws:iam::123456789012:role/prod-shop-billing"
WORDS = {
    "cwii.dev/aws-inject": "true",
    "cwii.dev/aws-role-arn": ROLE,
    "cwii.dev/aws-audience": "sts.amazonaws.com",
}


def a_binding(name: str = "billing", *accounts: str) -> Binding:
    return Binding(
        Workload("shop", name, accounts or ("billing", "billing-jobs"), asker="webhook"),
        "aws",
        {"credentials": "x"},
        WORDS,
    )


def a_file() -> Binding:
    """Google's, which is mounted."""
    return Binding(
        Workload("shop", "billing", ("billing",), asker="webhook"),
        "gcp",
        {"service_account.json": b"{}"},
    )


def a_handover(
    *bindings: Binding,
    private: bytes | None = b"private",
    jwks_uri: str = f"{ISSUER}/keys.json",
    former: str = "",
) -> Handover:
    return Handover(ISSUER, jwks_uri, bindings, b"public", private, cluster="prod", former=former)
