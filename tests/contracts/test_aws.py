"""AWS's stores, on the sandbox through the real SDK, keep what every store promises."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.config import Config
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cwiictl import oidc
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.bucket import PublicAccess
from cwiictl.clouds.aws.stores.iam import OidcProviders, Roles
from cwiictl.clouds.aws.stores.objects import Documents, KeySets
from cwiictl.clouds.aws.stores.s3 import Buckets
from cwiictl.errors import Failed, NotYet
from cwiictl.issuer.documents import DocumentState, KeySetState
from cwiictl.sandbox import Sandbox
from cwiictl.sandbox.aws.keyring import KEY, SECRET
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT, a_bucket, a_provider, a_role

CLUSTER = "a-cluster"
BUCKET = f"{CLUSTER}-oidc"
PLACE = f"{BUCKET}/keys.json"
OTHER = policy.canonical(policy.allow("s3:GetObject", Principal="*", Resource=f"arn:aws:s3:::{BUCKET}/keys.json"))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


@pytest.fixture
def clients(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """As the program makes them, but told where the door is."""
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with ExitStack() as stack:
        session: Any = boto3.Session(aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1")
        config = Config(proxies={"https": sandbox.proxy}, retries={"total_max_attempts": 1})
        made = {service: session.client(service, config=config, verify=str(sandbox.ca_file)) for service in ("iam", "s3")}
        for client in made.values():
            stack.callback(client.close)
        yield made


@cache
def key(number: int) -> oidc.VerificationKey:
    del number  # each its own
    public = rsa.generate_private_key(65537, 2048).public_key()
    return oidc.public_key(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "a key")


def a_key_set(number: int, *, exact: bool = True) -> KeySetState:
    return KeySetState(kids=frozenset({key(number).kid}), exact=exact, keys=(key(number),))


class TestRoles(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Roles(clients["iam"], CLUSTER)
        want = a_role()
        trusted = policy.allow("sts:AssumeRoleWithWebIdentity", Principal={"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"})
        other = a_role(
            description="another",
            trust=policy.canonical(trusted),
            policy=policy.canonical(policy.allow(["s3:GetObject", "s3:PutObject"], Resource="*")),
            tags={"Name": "another"},
        )
        return Specimen(store, "a-cluster-role", want, other)

    def test_a_role_goes_with_all_that_hangs_on_it(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        iam = clients["iam"]
        document = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]})
        iam.put_role_policy(RoleName=specimen.name, PolicyName="theirs", PolicyDocument=document)
        arn = iam.create_policy(PolicyName="theirs", PolicyDocument=document)["Policy"]["Arn"]
        iam.attach_role_policy(RoleName=specimen.name, PolicyArn=arn)
        iam.create_instance_profile(InstanceProfileName="theirs")
        iam.add_role_to_instance_profile(InstanceProfileName="theirs", RoleName=specimen.name)

        specimen.drop()

        assert specimen.get() is None

    def test_a_role_without_its_inline_policy_has_none(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].delete_role_policy(RoleName=specimen.name, PolicyName=specimen.name)

        assert specimen.get().policy is None

    def test_what_others_have_tagged_stays(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].tag_role(RoleName=specimen.name, Tags=[{"Key": "costs", "Value": "theirs"}])
        specimen.put(specimen.other, specimen.mark)
        specimen.put(specimen.get(), None)

        assert specimen.get().tags == {"Name": "another", "costs": "theirs"}


class TestOidcProviders(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = OidcProviders(clients["iam"], CLUSTER, f"arn:aws:iam::{ACCOUNT}:oidc-provider/")
        place = "bucket.s3.us-east-1.amazonaws.com"
        clients["s3"].create_bucket(Bucket="bucket")
        want = a_provider(url=f"https://{place}")
        return Specimen(store, place, want, a_provider(url=f"https://{place}", audiences=frozenset({"sts.amazonaws.com", "vault"}), tags={"Name": "another"}))


class TestBuckets(StoreContract):
    @pytest.fixture(params=["us-east-1", "eu-west-1"])
    def specimen(self, clients: dict[str, Any], request: pytest.FixtureRequest) -> Specimen:
        store: Any = Buckets(clients["s3"], CLUSTER)
        want = a_bucket(BUCKET, region=request.param)
        other = a_bucket(BUCKET, region=request.param, policy=OTHER, tags={"Name": "another"}, public_access=PublicAccess(block_policy=False))
        return Specimen(store, BUCKET, want, other, unknown="unknown-oidc")

    def test_a_bucket_without_a_policy_or_a_block_has_none(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["s3"].delete_bucket_policy(Bucket=BUCKET)
        clients["s3"].delete_public_access_block(Bucket=BUCKET)

        found = specimen.get()

        assert found.policy is None
        assert found.public_access == PublicAccess(block_acls=False, ignore_acls=False, block_policy=False, restrict=False)

    def test_a_bucket_goes_with_its_documents_and_with_nothing_else(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        for name in (".well-known/openid-configuration", "keys.json", "theirs"):
            clients["s3"].put_object(Bucket=BUCKET, Key=name, Body=b"x")

        with pytest.raises(Failed, match="theirs"):
            specimen.drop()
        clients["s3"].delete_object(Bucket=BUCKET, Key="theirs")
        specimen.drop()

        assert specimen.get() is None


class InBucket(StoreContract):
    @pytest.fixture(autouse=True)
    def bucket(self, clients: dict[str, Any]) -> None:
        clients["s3"].create_bucket(Bucket=BUCKET)


class TestDocuments(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Documents(clients["s3"], CLUSTER)
        other = DocumentState(body={"issuer": "another"}, cache_control="no-store", content_type="application/jwk-set+json")
        return Specimen(store, f"{BUCKET}/.well-known/openid-configuration", DocumentState(body={"issuer": "x"}), other, bears=(), stays=True)

    def test_a_document_in_no_bucket_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere-oidc/keys.json"]) == {}


class TestKeySets(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = KeySets(clients["s3"], CLUSTER)
        return Specimen(store, PLACE, a_key_set(0), a_key_set(1), bears=(), stays=True)

    def test_a_key_that_is_added_takes_no_other_away(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(0, exact=False), None)
        specimen.put(a_key_set(1, exact=False), None)

        assert specimen.get().kids == {key(0).kid, key(1).kid}

    def test_what_a_rival_wrote_in_between_is_not_lost(self, specimen: Specimen, clients: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
        """Read, merge, write: S3 refuses the write, because it names what was read."""
        specimen.put(a_key_set(0), None)
        rival = KeySets(clients["s3"], CLUSTER)
        store: Any = specimen.store
        fetch, rivals = store._fetch, [a_key_set(1, exact=False)]

        def fetched(name: str) -> Any:
            seen = fetch(name)
            if rivals:
                rival.put(name, rivals.pop(), None)
            return seen

        monkeypatch.setattr(store, "_fetch", fetched)
        with pytest.raises(NotYet):
            store.put(PLACE, a_key_set(2, exact=False), None)
        store.put(PLACE, a_key_set(2, exact=False), None)

        assert specimen.get().kids == {key(number).kid for number in range(3)}

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"keys": 1}'])
    def test_what_is_malformed_is_told_and_not_raised(self, specimen: Specimen, clients: dict[str, Any], body: bytes) -> None:
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=body)

        found = specimen.get()

        assert found.malformed
        assert found.kids == frozenset()


class TestLag:
    """IAM shows for a while what has gone, and not yet what has come."""

    def test_a_policy_that_has_gone_and_shows_does_not_keep_its_role(self, clients: dict[str, Any], sandbox: Sandbox) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)
        specimen = Specimen(store, "a-cluster-role", a_role(), a_role(), bears=())
        specimen.put(specimen.want, None)
        sandbox.faults.lag = 1.0
        clients["iam"].delete_role_policy(RoleName=specimen.name, PolicyName=specimen.name)
        assert clients["iam"].list_role_policies(RoleName=specimen.name)["PolicyNames"] == [specimen.name]

        store.drop(specimen.name)

        time.sleep(1.1)
        assert specimen.get() is None
