"""What all of it is for: a token that the cluster signs is worth credentials, and no other token is."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
import yaml
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.examples import ACCOUNT, an_object, text
from tests.journeys.conftest import Enter
from tests.journeys.ground import INGRESS, REGISTRY, Ground, a_key, kid_of, public_pem

ROLE = f"arn:aws:iam::{ACCOUNT}:role/{INGRESS}"
MANIFEST = "out/manifests/openshift-ingress-operator-cloud-credentials-credentials.yaml"
POD = (
    "import boto3; print(boto3.client('sts', region_name='us-east-1').get_caller_identity()['Arn'])"
)


@pytest.fixture
def made(ground: Ground) -> Ground:
    ground.keys()
    assert ground.create_all().code == 0
    return ground


def assumed(ground: Ground, token: str, role: str = ROLE) -> Any:
    """As a pod asks: with nothing but the token."""
    with ground.aws("sts", config=Config(signature_version=UNSIGNED)) as sts:
        return sts.assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="pod", WebIdentityToken=token
        )


def refusal(ground: Ground, token: str, role: str = ROLE) -> str:
    with pytest.raises(ClientError) as raised:
        assumed(ground, token, role)
    found: Any = raised.value.response
    return found["Error"]["Code"]


def test_a_token_of_the_cluster_is_worth_the_roles_credentials(made: Ground) -> None:
    credentials = assumed(made, made.token())["Credentials"]

    known = {
        "aws_access_key_id": credentials["AccessKeyId"],
        "aws_secret_access_key": credentials["SecretAccessKey"],
        "aws_session_token": credentials["SessionToken"],
    }
    with made.aws("sts", **known) as sts:
        assert (
            sts.get_caller_identity()["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/{INGRESS}/pod"
        )


def test_every_service_account_of_a_request_may_assume_its_role_and_no_other(made: Ground) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/{REGISTRY}"
    for account in ("registry", "cluster-image-registry-operator"):
        token = made.token(sub=f"system:serviceaccount:openshift-image-registry:{account}")
        assert assumed(made, token, role)["AssumedRoleUser"]["Arn"].endswith(f"/{REGISTRY}/pod")
        assert refusal(made, token) == "AccessDenied"


@pytest.mark.parametrize("audience", ["openshift", ["sts.amazonaws.com"], ["openshift", "another"]])
def test_both_audiences_are_believed(made: Ground, audience: Any) -> None:
    assert assumed(made, made.token(aud=audience))["Credentials"]


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"aud": ["vault"]}, "InvalidIdentityToken"),
        ({"sub": "system:serviceaccount:openshift-ingress-operator:mallory"}, "AccessDenied"),
        ({"sub": "system:serviceaccount:default:ingress-operator"}, "AccessDenied"),
        ({"iss": "https://another-oidc.s3.us-east-1.amazonaws.com"}, "InvalidIdentityToken"),
        ({"iat": 1_000_000_000, "exp": 1_000_003_600}, "ExpiredTokenException"),
        ({"nbf": int(time.time()) + 3600}, "InvalidIdentityToken"),
    ],
)
def test_another_token_is_refused_as_sts_does(
    made: Ground, claims: dict[str, Any], code: str
) -> None:
    assert refusal(made, made.token(**claims)) == code


def test_another_key_is_refused_whatever_it_calls_itself(made: Ground) -> None:
    assert refusal(made, made.token(1)) == "InvalidIdentityToken"
    assert refusal(made, made.token(1, kid=kid_of(a_key(0)))) == "InvalidIdentityToken"


def test_after_delete_no_token_is_believed_any_more(made: Ground) -> None:
    made.delete("--yes")

    assert refusal(made, made.token()) == "InvalidIdentityToken"


def test_with_the_key_added_the_tokens_of_both_are_believed_and_replaced_only_the_new_ones(
    made: Ground,
) -> None:
    made.write("new.pub", public_pem(a_key(1)))

    made.create_all("--public-key-file", "new.pub", "--add-key")
    assert assumed(made, made.token(0))["Credentials"]
    assert assumed(made, made.token(1))["Credentials"]

    made.create_all("--public-key-file", "new.pub", "--replace-keys")
    assert refusal(made, made.token(0)) == "InvalidIdentityToken"
    assert assumed(made, made.token(1))["Credentials"]


@pytest.mark.parametrize("told", ["by the Secret", "by the environment"])
def test_an_unmodified_sdk_in_a_pod_finds_its_credentials(enter: Enter, told: str) -> None:
    """The Secret's file as it is mounted, or the variables that a webhook sets."""
    ground = enter()
    ground.keys()
    path = ground.write("token", ground.token())
    ground.requests(
        {"a.yaml": text(an_object("a", "openshift-ingress-operator", "cloud-credentials", "ingress-operator", cloudTokenPath=str(path)))}
    )  # fmt: skip
    ground.create_all()
    secret = yaml.safe_load((ground.folder / MANIFEST).read_text(encoding="utf-8"))
    mounted = ground.write("mounted/credentials", secret["stringData"]["credentials"])
    environment = {
        name: value
        for name, value in ground.sandbox.environment().items()
        if name not in {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
    }
    environment |= {
        "by the Secret": {"AWS_SHARED_CREDENTIALS_FILE": str(mounted)},
        "by the environment": {"AWS_WEB_IDENTITY_TOKEN_FILE": str(path), "AWS_ROLE_ARN": ROLE},
    }[told]

    pod = subprocess.run(
        [sys.executable, "-c", POD],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert pod.returncode == 0, pod.stderr
    assert f":assumed-role/{INGRESS}/" in pod.stdout
