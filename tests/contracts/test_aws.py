"""AWS's stores, on the sandbox through the real SDK, keep what every store promises."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import boto3
import pytest
from botocore.config import Config

from cwiictl import oidc
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.bucket import PRIVATE, READABLE, BucketPolicyState, BucketState, PublicAccess
from cwiictl.clouds.aws.resources.distribution import DistributionState, OriginAccessState
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicyState
from cwiictl.clouds.aws.resources.role import RoleState
from cwiictl.clouds.aws.stores.cloudfront import Distributions, OriginAccesses
from cwiictl.clouds.aws.stores.iam import ManagedPolicies, OidcProviders
from cwiictl.clouds.aws.stores.objects import Documents, KeySets
from cwiictl.clouds.aws.stores.roles import Roles
from cwiictl.clouds.aws.stores.s3 import BucketPolicies, Buckets
from cwiictl.engine.resource import Mark
from cwiictl.errors import Conflict, Denied, NotYet
from cwiictl.issuer.documents import DocumentState, Keys
from cwiictl.sandbox import Sandbox, Settings
from cwiictl.sandbox.aws.keyring import KEY, SECRET
from tests.contracts.keys import a_key_set, key
from tests.contracts.store import Specimen, StoreContract
from tests.examples import ACCOUNT, a_provider, a_role

CLUSTER = "a-cluster"
BUCKET = f"{CLUSTER}-oidc"
PLACE = f"{BUCKET}/keys.json"
MANAGED = "arn:aws:iam::aws:policy/ReadOnlyAccess"
BOUNDARY = "arn:aws:iam::aws:policy/PowerUserAccess"


def reading(*keys: str) -> policy.Policy:
    return policy.canonical(policy.allow("s3:GetObject", Principal="*", Resource=[f"arn:aws:s3:::{BUCKET}/{key}" for key in keys]))


def nowhere(_cluster: str) -> list[str]:
    """No documents were put in a place of the user's own."""
    return []


def the_role(**changes: Any) -> RoleState:
    return a_role(**{"managed": frozenset[str](), "session": 3600, **changes})


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(Settings(deploy=0.0)) as running:
        yield running


@pytest.fixture
def clients(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """As the program makes them, but told where the door is."""
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    with ExitStack() as stack:
        session: Any = boto3.Session(aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name="us-east-1")
        config = Config(proxies={"https": sandbox.proxy}, retries={"total_max_attempts": 1})
        made = {service: session.client(service, config=config, verify=str(sandbox.ca_file)) for service in ("iam", "s3", "cloudfront")}
        for client in made.values():
            stack.callback(client.close)
        yield made


class TestRoles(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Roles(clients["iam"], CLUSTER)
        want = the_role()
        trusted = policy.allow("sts:AssumeRoleWithWebIdentity", Principal={"Federated": f"arn:aws:iam::{ACCOUNT}:oidc-provider/issuer.example.org"})
        other = the_role(
            description="another",
            trust=policy.canonical(trusted),
            policy=policy.canonical(policy.allow(["s3:GetObject", "s3:PutObject"], Resource="*")),
            managed=frozenset({MANAGED}),
            session=7200,
            tags={"Name": "another"},
        )
        return Specimen(store, "a-cluster-role", want, other)

    def test_further_policies_are_seen_and_taken_away_whoever_attached_them(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        document = policy.dump(policy.canonical(policy.allow("s3:*", Resource="*")))
        clients["iam"].put_role_policy(RoleName=specimen.name, PolicyName="theirs", PolicyDocument=document)
        clients["iam"].attach_role_policy(RoleName=specimen.name, PolicyArn=MANAGED)

        found = specimen.get()
        assert (found.others, found.managed) == ({"theirs"}, {MANAGED})
        specimen.put(specimen.want, specimen.mark)

        found = specimen.get()
        assert (found.others, found.managed) == (frozenset(), frozenset())

    def test_a_boundary_is_set_and_one_that_nobody_asked_for_is_left(self, specimen: Specimen) -> None:
        specimen.put(the_role(boundary=BOUNDARY), specimen.mark)
        assert specimen.get().boundary == BOUNDARY

        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().boundary == BOUNDARY

        specimen.put(the_role(boundary=MANAGED), specimen.mark)
        assert specimen.get().boundary == MANAGED

    def test_a_role_without_a_policy_of_its_own_has_none_and_gets_and_loses_one(self, specimen: Specimen) -> None:
        bare = the_role(policy=None, managed=frozenset({MANAGED}))
        for want in (bare, the_role(), bare):
            specimen.put(want, specimen.mark)
            assert (specimen.get().policy, specimen.get().managed) == (want.policy, want.managed)

    def test_a_role_under_a_path_is_made_there(self, specimen: Specimen) -> None:
        arn = f"arn:aws:iam::{ACCOUNT}:role/clusters/of/ours/{specimen.name}"

        specimen.put(the_role(arn=arn), specimen.mark)

        assert specimen.get().arn == arn
        assert set(specimen.owned(CLUSTER)) == {specimen.name}

    def test_a_mark_that_lost_a_tag_is_not_whole_and_is_put_whole(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["iam"].untag_role(RoleName=specimen.name, TagKeys=["cwii.dev/origin"])
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark
        assert specimen.get().tags == the_role().tags

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


class TestManagedPolicies(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        place = f"arn:aws:iam::{ACCOUNT}:policy/"
        store: Any = ManagedPolicies(clients["iam"], CLUSTER, place)
        grants = [policy.canonical(policy.allow(action, Resource="*")) for action in ("s3:GetObject", ["s3:PutObject", "s3:DeleteObject"])]
        name = "a-cluster-part-1"
        want, other = (
            ManagedPolicyState(arn=place + name, policy=each, tags={"Name": tag}) for each, tag in zip(grants, ("a-cluster", "another"), strict=True)
        )
        return Specimen(store, name, want, other)

    def test_it_is_changed_as_often_as_one_likes(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        """IAM keeps five versions, and refuses a sixth."""
        for want in (specimen.want, specimen.other) * 4:
            specimen.put(want, specimen.mark)

        assert specimen.get() == specimen.other
        versions = clients["iam"].list_policy_versions(PolicyArn=specimen.get().arn)["Versions"]
        assert len(versions) <= 2


class TestBuckets(StoreContract):
    @pytest.fixture(params=["us-east-1", "eu-west-1"])
    def specimen(self, clients: dict[str, Any], request: pytest.FixtureRequest) -> Specimen:
        store: Any = Buckets(clients["s3"], CLUSTER, nowhere)
        want = BucketState(region=request.param, public_access=READABLE, tags={"Name": CLUSTER})
        other = BucketState(region=request.param, public_access=PRIVATE, tags={"Name": "another"})
        return Specimen(store, BUCKET, want, other, unknown="unknown-oidc")

    def test_a_bucket_without_a_block_blocks_nothing(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        clients["s3"].delete_public_access_block(Bucket=BUCKET)

        assert specimen.get().public_access == PublicAccess(block_acls=False, ignore_acls=False, block_policy=False, restrict=False)

    def test_a_bucket_goes_with_its_documents_and_with_nothing_else(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, specimen.mark)
        for name in (".well-known/openid-configuration", "keys.json", "theirs"):
            clients["s3"].put_object(Bucket=BUCKET, Key=name, Body=b"x")

        with pytest.raises(Conflict, match="theirs"):
            specimen.drop()
        assert len(clients["s3"].list_objects_v2(Bucket=BUCKET)["Contents"]) == 3
        clients["s3"].delete_object(Bucket=BUCKET, Key="theirs")
        specimen.drop()

        assert specimen.get() is None

    def test_what_lies_in_a_bucket_that_is_not_ours_is_told(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        specimen.put(specimen.want, None)
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=b"x")
        assert specimen.get().stranger == ""

        clients["s3"].put_object(Bucket=BUCKET, Key="payroll.csv", Body=b"x")

        assert specimen.get().stranger == "payroll.csv"
        specimen.put(specimen.want, specimen.mark)
        assert specimen.get().stranger == ""


class InBucket(StoreContract):
    @pytest.fixture(autouse=True)
    def bucket(self, clients: dict[str, Any]) -> None:
        clients["s3"].create_bucket(Bucket=BUCKET)


class TestBucketPolicies(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any], bucket: None) -> Specimen:  # noqa: ARG002 - it must be there first
        clients["s3"].delete_public_access_block(Bucket=BUCKET)
        store: Any = BucketPolicies(clients["s3"])
        want, other = BucketPolicyState(policy=reading("keys.json")), BucketPolicyState(policy=reading("keys.json", "more"))
        return Specimen(store, BUCKET, want, other, bears=(), stays=True)

    def test_a_bucket_without_one_and_no_bucket_have_none(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        assert specimen.store.get([BUCKET, "nowhere-oidc"]) == {}
        specimen.put(specimen.want, None)
        clients["s3"].delete_bucket_policy(Bucket=BUCKET)

        assert specimen.store.get([BUCKET]) == {}

    def test_while_public_access_is_blocked_it_is_not_yet(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        """For a moment after the bucket's own block was lifted, or because the account has one."""
        blocks = dict.fromkeys(("BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"), True)
        clients["s3"].put_public_access_block(Bucket=BUCKET, PublicAccessBlockConfiguration=blocks)

        with pytest.raises(NotYet, match="public access is blocked") as raised:
            specimen.store.put(BUCKET, specimen.want, None)
        assert "--create-private-s3-bucket" in raised.value.remedy


class TestOriginAccesses(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = OriginAccesses(clients["cloudfront"])
        return Specimen(store, BUCKET, OriginAccessState(), OriginAccessState(signing="no-override"))

    def test_a_description_that_was_written_into_is_a_damaged_mark(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        made = specimen.put(specimen.want, specimen.mark)
        now = clients["cloudfront"].get_origin_access_control(Id=made.id)
        config = now["OriginAccessControl"]["OriginAccessControlConfig"]
        config["Description"] += " of the platform team"
        clients["cloudfront"].update_origin_access_control(Id=made.id, IfMatch=now["ETag"], OriginAccessControlConfig=config)
        assert not specimen.get().owner.whole

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().owner == specimen.mark


class TestDistributions(StoreContract):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        accesses: Any = OriginAccesses(clients["cloudfront"])
        access = accesses.put(BUCKET, OriginAccessState(), None).id
        store: Any = Distributions(clients["cloudfront"], CLUSTER)
        origin = f"{BUCKET}.s3.us-east-1.amazonaws.com"
        want = DistributionState(origin=origin, access=access, tags={"Name": CLUSTER})
        other = DistributionState(origin=origin, access=access, viewers="redirect-to-https", enabled=False, tags={"Name": "another"})
        return Specimen(store, BUCKET, want, other, unknown="unknown-oidc")

    def test_it_is_disabled_before_it_goes_and_that_takes_a_while(self, specimen: Specimen, clients: dict[str, Any], sandbox: Sandbox) -> None:
        specimen.put(specimen.want, specimen.mark)
        sandbox.faults.deploy = 0.5

        with pytest.raises(NotYet, match="disabled"):
            specimen.store.drop(BUCKET)
        with pytest.raises(NotYet, match="disabled"):
            specimen.store.drop(BUCKET)
        (item,) = clients["cloudfront"].list_distributions()["DistributionList"]["Items"]
        assert not item["Enabled"]
        specimen.drop()

        assert specimen.get() is None

    def test_what_is_released_lets_go_of_an_access_of_ours(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        """Which could not go as long as it is used."""
        accesses: Any = OriginAccesses(clients["cloudfront"])
        ours = accesses.put("ours", OriginAccessState(owner=Mark(CLUSTER)), None).id
        have = specimen.put(replace(specimen.want, access=ours), Mark(CLUSTER, "adopted"))

        specimen.store.put(BUCKET, replace(have, owner=None), have)

        assert specimen.get().access == ""
        accesses.drop("ours")

    def test_what_others_have_set_in_it_stays(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        made = specimen.put(specimen.want, specimen.mark)
        id_ = made.arn.rpartition("/")[2]
        now = clients["cloudfront"].get_distribution_config(Id=id_)
        config = {**now["DistributionConfig"], "WebACLId": "theirs", "Enabled": False}
        clients["cloudfront"].update_distribution(Id=id_, IfMatch=now["ETag"], DistributionConfig=config)

        specimen.put(specimen.want, specimen.mark)

        assert specimen.get().enabled
        assert clients["cloudfront"].get_distribution_config(Id=id_)["DistributionConfig"]["WebACLId"] == "theirs"


class TestDocuments(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = Documents(clients["s3"], CLUSTER, nowhere)
        other = DocumentState(body={"issuer": "another"}, cache_control="no-store", content_type="application/jwk-set+json")
        return Specimen(store, f"{BUCKET}/.well-known/openid-configuration", DocumentState(body={"issuer": "x"}), other, bears=(), unknown=f"{BUCKET}/unknown")

    def test_in_a_place_of_the_users_own_it_is_found_by_its_own_mark(self, clients: dict[str, Any]) -> None:
        """And nothing else in that place is."""
        store: Any = Documents(clients["s3"], CLUSTER, lambda _cluster: [f"{BUCKET}/prod/"])
        name = f"{BUCKET}/prod/.well-known/openid-configuration"
        assert store.owned(CLUSTER) == {}

        store.put(name, DocumentState(body={"issuer": "x"}), None)

        assert store.owned(CLUSTER) == {name: Mark(CLUSTER)}
        assert store.owned("another") == {}
        assert store.get([name])[name].owner == Mark(CLUSTER)
        store.drop(name)
        assert store.owned(CLUSTER) == {}

    def test_what_was_there_unmarked_in_a_place_of_the_users_own_is_let_go_of_and_stays(self, clients: dict[str, Any]) -> None:
        """With its tags."""
        store: Any = Documents(clients["s3"], CLUSTER, lambda _cluster: [f"{BUCKET}/prod/"])
        name, where = f"{BUCKET}/prod/.well-known/openid-configuration", {"Bucket": BUCKET, "Key": "prod/.well-known/openid-configuration"}
        clients["s3"].put_object(**where, Body=b"{}", Tagging="team=house")
        assert (store.owned(CLUSTER), store.get([name])[name].owner) == ({}, None)

        store.put(name, DocumentState(body={"issuer": "x"}), store.get([name])[name])
        store.put(name, DocumentState(body={"issuer": "y"}, owner=Mark(CLUSTER)), store.get([name])[name])
        assert store.owned(CLUSTER) == {name: Mark(CLUSTER, "brought")}
        seen = store.get([name])[name]
        store.put(name, replace(seen, owner=None), seen)

        assert store.owned(CLUSTER) == {}
        assert store.get([name])[name].body == {"issuer": "y"}
        assert clients["s3"].get_object_tagging(**where)["TagSet"] == [{"Key": "team", "Value": "house"}]

    def test_a_document_in_no_bucket_is_not_there(self, specimen: Specimen) -> None:
        assert specimen.store.get(["nowhere-oidc/keys.json"]) == {}


class TestKeySets(InBucket):
    @pytest.fixture
    def specimen(self, clients: dict[str, Any]) -> Specimen:
        store: Any = KeySets(clients["s3"], CLUSTER, nowhere)
        return Specimen(store, PLACE, a_key_set(0), a_key_set(1), bears=(), unknown=f"{BUCKET}/unknown")

    def test_a_key_that_is_added_takes_no_other_away(self, specimen: Specimen) -> None:
        specimen.put(a_key_set(0, "add"), None)
        specimen.put(a_key_set(1, "add"), None)

        assert specimen.get().kids == {key(0).kid, key(1).kid}

    @pytest.mark.parametrize("seen", [True, False])
    def test_it_is_put_over_what_was_seen_and_over_nothing_else(self, specimen: Specimen, clients: dict[str, Any], seen: bool) -> None:
        """Read, decide, write: S3 refuses the write, because it names what was read."""
        have = specimen.put(a_key_set(0), None) and specimen.get() if seen else None
        rival: Any = KeySets(clients["s3"], CLUSTER, nowhere)
        rival.put(PLACE, a_key_set(1, "add"), specimen.get())

        for mode in ("published", "add", "replace"):
            with pytest.raises(NotYet):
                specimen.store.put(PLACE, a_key_set(0 if mode == "published" else 2, mode), have)
        assert specimen.get().kids == ({key(0).kid, key(1).kid} if seen else {key(1).kid})
        specimen.store.put(PLACE, a_key_set(2, "add"), specimen.get())

        assert specimen.get().kids >= {key(1).kid, key(2).kid}

    def test_of_two_who_each_publish_their_own_key_one_is_refused(self, specimen: Specimen) -> None:
        """Nobody's key is added unasked: who comes second decides anew."""
        specimen.store.put(PLACE, a_key_set(0, "published"), None)
        with pytest.raises(NotYet):
            specimen.store.put(PLACE, a_key_set(1, "published"), None)
        with pytest.raises(Conflict, match="does not hold our key"):
            specimen.store.put(PLACE, a_key_set(1, "published"), specimen.get())

        assert specimen.get().kids == {key(0).kid}

    def test_only_its_headers_are_mended_where_our_key_is_published(self, specimen: Specimen, clients: dict[str, Any]) -> None:
        body = oidc.dump({"keys": [key(1).jwk, key(0).jwk], "theirs": 1})
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=body, ContentType="text/plain")

        specimen.store.put(PLACE, a_key_set(0, "published"), specimen.get())

        assert specimen.get().content_type == "application/json"
        with clients["s3"].get_object(Bucket=BUCKET, Key="keys.json")["Body"] as found:
            assert found.read() == body

    @pytest.mark.parametrize("mode", ["published", "add"])
    def test_what_became_malformed_is_not_written_over(self, specimen: Specimen, clients: dict[str, Any], mode: Keys) -> None:
        specimen.put(a_key_set(0), None)
        have = specimen.get()
        clients["s3"].put_object(Bucket=BUCKET, Key="keys.json", Body=b"{")

        with pytest.raises(NotYet):
            specimen.store.put(PLACE, a_key_set(0, mode), have)

        assert specimen.get().malformed

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
        specimen = Specimen(store, "a-cluster-role", the_role(), the_role(), bears=())
        specimen.put(specimen.want, None)
        sandbox.faults.lag = 1.0
        clients["iam"].delete_role_policy(RoleName=specimen.name, PolicyName=specimen.name)
        assert clients["iam"].list_role_policies(RoleName=specimen.name)["PolicyNames"] == [specimen.name]

        store.drop(specimen.name)

        time.sleep(1.1)
        assert specimen.get() is None


class TestBulk:
    """Roles are read all at once where that costs less, and one by one where it is denied."""

    NAMES = tuple(f"a-cluster-role-{number}" for number in range(6))

    @pytest.fixture
    def roles(self, clients: dict[str, Any], sandbox: Sandbox) -> Any:
        store: Any = Roles(clients["iam"], CLUSTER)
        for number, name in enumerate(self.NAMES):
            arn = f"arn:aws:iam::{ACCOUNT}:role/{name}"
            store.put(name, the_role(arn=arn, description=name, session=3600 + number, managed=frozenset({MANAGED}), owner=Mark(CLUSTER)), None)
        sandbox.crowd(50)
        return store

    def asked(self, store: Any, sandbox: Sandbox) -> list[str]:
        """What is asked of IAM to read them all."""
        before = len(sandbox.record)
        self.each(store)
        return [seen.action for seen in sandbox.record[before:]]

    def each(self, store: Any) -> dict[str, RoleState]:
        return {name: state for one in (*self.NAMES, "a-cluster-nobody") for name, state in store.get([one]).items()}

    @pytest.mark.usefixtures("roles")
    @pytest.mark.parametrize("denied", ["iam:GetAccountAuthorizationDetails", "iam:ListRoles"])
    def test_what_is_read_at_once_is_what_is_read_one_by_one(self, clients: dict[str, Any], sandbox: Sandbox, denied: str) -> None:
        together = self.each(Roles(clients["iam"], CLUSTER))
        few = self.asked(Roles(clients["iam"], CLUSTER), sandbox)
        sandbox.faults.deny = {denied}

        alone = self.each(Roles(clients["iam"], CLUSTER))

        assert together == alone
        assert set(together) == set(self.NAMES)
        assert {name: state.owner for name, state in together.items()} == dict.fromkeys(self.NAMES, Mark(CLUSTER))
        assert len(few) < len(self.asked(Roles(clients["iam"], CLUSTER), sandbox))

    @pytest.mark.usefixtures("roles")
    def test_it_answers_each_name_once_and_the_second_answer_is_what_is_there_now(self, clients: dict[str, Any]) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)
        self.each(store)
        clients["iam"].update_role(RoleName=self.NAMES[3], Description="another", MaxSessionDuration=3600)
        clients["iam"].create_role(RoleName="a-cluster-nobody", AssumeRolePolicyDocument=policy.dump(the_role().trust))

        found = self.each(store)

        assert found[self.NAMES[3]].description == "another"
        assert "a-cluster-nobody" in found

    @pytest.mark.usefixtures("roles")
    def test_one_role_is_not_worth_reading_all(self, clients: dict[str, Any], sandbox: Sandbox) -> None:
        store: Any = Roles(clients["iam"], CLUSTER)

        before = len(sandbox.record)

        store.get([self.NAMES[0]])
        store.get([self.NAMES[0]])

        assert {"iam:ListRoles", "iam:GetAccountAuthorizationDetails"}.isdisjoint({seen.action for seen in sandbox.record[before:]})

    @pytest.mark.usefixtures("roles")
    def test_strangers_cost_a_page_and_not_a_request_each(self, clients: dict[str, Any], sandbox: Sandbox) -> None:
        few = self.asked(Roles(clients["iam"], CLUSTER), sandbox)
        sandbox.crowd(3000)

        many = self.asked(Roles(clients["iam"], CLUSTER), sandbox)

        assert len(few) <= len(self.NAMES)
        assert len(many) <= len(few) + 8

    @pytest.mark.parametrize("denied", [set[str](), {"iam:GetAccountAuthorizationDetails"}])
    def test_owned_is_the_same_however_it_is_read(self, roles: Any, sandbox: Sandbox, denied: set[str]) -> None:
        sandbox.faults.deny = denied

        assert roles.owned(CLUSTER) == dict.fromkeys(self.NAMES, Mark(CLUSTER))
        assert roles.owned("a") == {}

    def test_if_no_list_may_be_read_nobody_can_say_what_is_ours(self, roles: Any, sandbox: Sandbox) -> None:
        sandbox.faults.deny = {"iam:GetAccountAuthorizationDetails", "iam:ListRoles"}

        with pytest.raises(Denied, match="ListRoles"):
            roles.owned(CLUSTER)
