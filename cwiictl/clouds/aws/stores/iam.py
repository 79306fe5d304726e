"""IAM: OIDC providers, and the policies that are too long for their role."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws import policy
from cwiictl.clouds.aws.resources.managed_policy import ManagedPolicyState
from cwiictl.clouds.aws.resources.oidc_provider import OidcProviderState
from cwiictl.clouds.aws.stores.errors import absent, denied, gone, told
from cwiictl.clouds.aws.stores.tags import Tags, listed, read, retag
from cwiictl.engine.pace import Job, Pace, run
from cwiictl.engine.resource import Mark, changed
from cwiictl.errors import BadInput, NotYet
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from types_boto3_iam import IAMClient

PATIENCE = 120.0


class OidcProviders:
    """Addressed by host and path of the issuer, as in their ARNs."""

    kind, bulk, patience = "aws/oidc-provider", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str, arn: str) -> None:
        self.iam, self.cluster, self.arn = (
            iam,
            cluster,
            arn,
        )  # the ARN of every provider up to its name
        self.tags = Tags("iam", self._places, self._ask)

    @told("iam")
    def get(self, places: Collection[str], /) -> Mapping[str, OidcProviderState]:
        found = {place: self._read(place) for place in places}
        return {place: state for place, state in found.items() if state}

    @told("iam")
    def put(
        self, place: str, want: OidcProviderState, have: OidcProviderState | None, /
    ) -> OidcProviderState:
        if have is None:
            self.iam.create_open_id_connect_provider(
                Url=want.url, ClientIDList=sorted(want.audiences), Tags=listed(want)
            )
            return want
        for audience in sorted(want.audiences - have.audiences):
            self.iam.add_client_id_to_open_id_connect_provider(
                OpenIDConnectProviderArn=self.arn + place, ClientID=audience
            )
        for audience in sorted(have.audiences - want.audiences - set(want.spared)):
            self.iam.remove_client_id_from_open_id_connect_provider(
                OpenIDConnectProviderArn=self.arn + place, ClientID=audience
            )
        provider = {"OpenIDConnectProviderArn": self.arn + place}
        retag(
            want,
            have,
            partial(self.iam.tag_open_id_connect_provider, **provider),
            partial(self.iam.untag_open_id_connect_provider, **provider),
        )
        return want

    @told("iam")
    def drop(self, place: str, /) -> None:
        with gone():
            self.iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return self.tags.owned(cluster)

    def issuers(self, cluster: str) -> Iterator[str]:
        """That bear the mark of the cluster."""
        return (f"https://{place}" for place in self.owned(cluster))

    def lent(self, cluster: str) -> Iterator[str]:
        """Where the documents of the cluster's issuers were put, if that was a place of the user's own: `bucket/` or `bucket/path/`."""
        for tags in self.tags.all(cluster).values():
            mark = names.mark(tags, cluster)
            if mark and mark.cluster == cluster and names.DOCUMENTS_KEY in tags:
                yield tags[names.DOCUMENTS_KEY]

    def _places(self, _cluster: str) -> Iterator[str]:
        for provider in self.iam.list_open_id_connect_providers()["OpenIDConnectProviderList"]:
            yield provider.get("Arn", "").removeprefix(self.arn)

    def _ask(self, place: str) -> Any:
        """What may not be looked at is somebody else's, unless it bears our bucket's name."""
        try:
            return self.iam.list_open_id_connect_provider_tags(
                OpenIDConnectProviderArn=self.arn + place
            )["Tags"]
        except ClientError as e:
            if denied(e) and not place.startswith(names.bucket(Cluster(self.cluster))):
                return []
            raise

    def _read(self, place: str) -> OidcProviderState | None:
        try:
            found = self.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=self.arn + place)
        except ClientError as e:
            if absent(e):
                return None
            raise
        tags = read(found.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        return OidcProviderState(
            url=f"https://{found['Url']}",
            audiences=frozenset(found["ClientIDList"]),
            tags=names.apart(tags, owner),
            owner=owner,
        )


class Standing:
    """Which provider roles are to trust that are made without it. It is asked while a plan is made, and so it has to be patient by itself."""

    patience = 8.0  # seconds: one that was made a moment ago may not show yet

    def __init__(self, providers: OidcProviders) -> None:
        self.providers = providers

    def url(self, cluster: str, place: str = "") -> str:
        """At this host and path; or whichever bears the mark of the cluster."""
        found = self._found(
            lambda: sorted(self.providers.get([place])) if place else self._marked(cluster)
        )
        if not found:
            raise BadInput(
                f"AWS IAM has no OIDC provider {place or f'of {cluster}'}, so nobody could assume a role that trusts it",
                remedy="see that it is written right, or make it with create-identity-provider"
                if place
                else "make it with create-identity-provider, or say where the cluster's issuer is with --issuer-url URL --issuer-exists",
            )
        if len(found) > 1:
            raise BadInput(
                f"AWS IAM has {len(found)} OIDC providers of {cluster}: {', '.join(found)}",
                remedy="say with --issuer-url URL --issuer-exists which one the roles are to trust; create-all --prune drops what is left over",
            )
        return f"https://{found[0]}"

    def _marked(self, cluster: str) -> list[str]:
        return sorted(self.providers.owned(cluster) or self.providers.owned(names.ccoctls(cluster)))

    def _found(self, look: Callable[[], list[str]]) -> list[str]:
        found: list[str] = []

        def read(_kind: str, _tried: int) -> str:
            found[:] = look()
            if not found:
                raise NotYet("there is no OIDC provider yet")
            return "read"

        ran = run(
            Job({"aws/oidc-provider": ()}, read, patience=lambda _kind: self.patience),
            Pace(1, longest=1.0),
        )
        if not any(type(e) is NotYet for e in ran.failed.values()):
            ran.checked()
        return found


class ManagedPolicies:
    """Addressed by name under our path; IAM keeps five versions, and we one."""

    kind, bulk, patience = "aws/policy", False, PATIENCE

    def __init__(self, iam: IAMClient, cluster: str, arn: str) -> None:
        self.iam, self.cluster, self.arn = (
            iam,
            cluster,
            arn,
        )  # the ARN of every policy of ours up to its name
        self.tags = Tags(
            "iam", self._candidates, lambda name: iam.list_policy_tags(PolicyArn=arn + name)["Tags"]
        )

    @told("iam")
    def get(self, policies: Collection[str], /) -> Mapping[str, ManagedPolicyState]:
        found = {name: self._read(name) for name in policies}
        return {name: state for name, state in found.items() if state}

    @told("iam")
    def put(
        self, name: str, want: ManagedPolicyState, have: ManagedPolicyState | None, /
    ) -> ManagedPolicyState:
        if have is None:
            self.iam.create_policy(
                PolicyName=name, PolicyDocument=policy.dump(want.policy), Tags=listed(want)
            )
            return want
        if "policy" in changed(want, have):
            self._forget_versions(name)
            self.iam.create_policy_version(
                PolicyArn=self.arn + name,
                PolicyDocument=policy.dump(want.policy),
                SetAsDefault=True,
            )
        retag(
            want,
            have,
            partial(self.iam.tag_policy, PolicyArn=self.arn + name),
            partial(self.iam.untag_policy, PolicyArn=self.arn + name),
        )
        return want

    @told("iam")
    def drop(self, name: str, /) -> None:
        with gone():
            self._forget_versions(name)
            self.iam.delete_policy(PolicyArn=self.arn + name)

    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        return self.tags.owned(cluster)

    def _candidates(self, cluster: str) -> Iterator[str]:
        for page in self.iam.get_paginator("list_policies").paginate(Scope="Local"):
            for item in page["Policies"]:
                if item.get("Arn", "").startswith(self.arn + names.role_prefix(names.own(cluster))):
                    yield item.get("PolicyName", "")

    def _forget_versions(self, name: str) -> None:
        for version in self.iam.list_policy_versions(PolicyArn=self.arn + name)["Versions"]:
            if not version.get("IsDefaultVersion"):
                self.iam.delete_policy_version(
                    PolicyArn=self.arn + name, VersionId=version.get("VersionId", "")
                )

    def _read(self, name: str) -> ManagedPolicyState | None:
        try:
            found: Any = self.iam.get_policy(PolicyArn=self.arn + name)["Policy"]
            version = self.iam.get_policy_version(
                PolicyArn=self.arn + name, VersionId=found["DefaultVersionId"]
            )["PolicyVersion"]
        except ClientError as e:
            if absent(e):
                return None
            raise
        tags = read(found.get("Tags", []))
        owner = names.mark(tags, self.cluster)
        return ManagedPolicyState(
            arn=found["Arn"],
            policy=policy.read(version.get("Document", "")),
            tags=names.apart(tags, owner),
            owner=owner,
        )
