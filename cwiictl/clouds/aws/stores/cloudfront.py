"""CloudFront: distributions, and their identity towards a bucket. All is read from lists: nothing here has an address of our choice."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cwiictl import names
from cwiictl.clouds.aws.resources.distribution import DistributionState, OriginAccessState
from cwiictl.clouds.aws.stores.errors import code, told
from cwiictl.clouds.aws.stores.tags import listed, read, retagged
from cwiictl.engine.resource import Mark, changed
from cwiictl.errors import NotYet
from cwiictl.model import Cluster

if TYPE_CHECKING:
    from types_boto3_cloudfront import CloudFrontClient

MINUTES = 60.0


class OriginAccesses:
    """Found by name; whose it is, its description says."""

    kind, bulk, patience = "aws/origin-access", True, 5 * MINUTES

    def __init__(self, cloudfront: CloudFrontClient) -> None:
        self.cloudfront = cloudfront

    @told("cloudfront")
    def get(self, wanted: Collection[str], /) -> Mapping[str, OriginAccessState]:
        return {
            item["Name"]: _access(item)
            for item in accesses(self.cloudfront)
            if item["Name"] in wanted
        }

    @told("cloudfront")
    def put(
        self, name: str, want: OriginAccessState, have: OriginAccessState | None, /
    ) -> OriginAccessState:
        config: Any = {
            "Name": name,
            "Description": names.described(want.owner) if want.owner else "",
            "SigningProtocol": want.protocol,
            "SigningBehavior": want.signing,
            "OriginAccessControlOriginType": "s3",
        }
        if have is None:
            made: Any = self.cloudfront.create_origin_access_control(
                OriginAccessControlConfig=config
            )
        else:
            etag = self.cloudfront.get_origin_access_control(Id=have.id)["ETag"]
            made = self.cloudfront.update_origin_access_control(
                Id=have.id, IfMatch=etag, OriginAccessControlConfig=config
            )
        return OriginAccessState(
            signing=want.signing,
            protocol=want.protocol,
            id=made["OriginAccessControl"]["Id"],
            owner=want.owner,
        )

    @told("cloudfront")
    def drop(self, name: str, /) -> None:
        for item in accesses(self.cloudfront):
            if item["Name"] == name:
                etag = self.cloudfront.get_origin_access_control(Id=item["Id"])["ETag"]
                with gone("NoSuchOriginAccessControl"):
                    self.cloudfront.delete_origin_access_control(Id=item["Id"], IfMatch=etag)

    @told("cloudfront")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {
            item["Name"]: names.undescribed(item.get("Description", ""))
            for item in accesses(self.cloudfront)
        }
        return {name: mark for name, mark in marks.items() if mark and mark.cluster == cluster}


def accesses(cloudfront: CloudFrontClient) -> Iterator[Any]:
    more: Any = {}
    while True:
        page: Any = cloudfront.list_origin_access_controls(**more).get(
            "OriginAccessControlList", {}
        )
        yield from page.get("Items", ())
        if not page.get("NextMarker"):
            return
        more = {"Marker": page["NextMarker"]}


class Distributions:
    """Found by the bucket that it serves, then by its tags."""

    kind, bulk, patience = "aws/distribution", True, 30 * MINUTES

    def __init__(self, cloudfront: CloudFrontClient, cluster: str) -> None:
        self.cloudfront, self.cluster = cloudfront, cluster

    @told("cloudfront")
    def get(self, distributions: Collection[str], /) -> Mapping[str, DistributionState]:
        return {name: self._state(item) for name in distributions if (item := self._chosen(name))}

    @told("cloudfront")
    def put(
        self, name: str, want: DistributionState, have: DistributionState | None, /
    ) -> DistributionState:
        if have is None:
            config: Any = {
                "DistributionConfig": {"CallerReference": name, **_config(name, want)},
                "Tags": {"Items": listed(want)},
            }
            self.cloudfront.create_distribution_with_tags(DistributionConfigWithTags=config)
        else:
            self._mend(
                name, self._without_ours(want) if have.owner and want.owner is None else want, have
            )
        return self.get([name])[name]

    def _without_ours(self, want: DistributionState) -> DistributionState:
        """What is let go does not keep our access to the bucket: as long as it did, that could not go."""
        marks = {
            item["Id"]: names.undescribed(item.get("Description", ""))
            for item in accesses(self.cloudfront)
        }
        mark = marks.get(want.access)
        return (
            replace(want, access="")
            if mark and mark.cluster == self.cluster and mark.hold == "owned"
            else want
        )

    @told("cloudfront")
    def drop(self, name: str, /) -> None:
        """Disabled, which takes minutes, and then deleted."""
        if item := self._chosen(name):
            self._disable(name, item)
            now = self.cloudfront.get_distribution(Id=item["Id"])
            if now["Distribution"]["Status"] != "Deployed":
                raise NotYet(f"{self.kind}/{name} is being disabled, which takes minutes")
            with gone("NoSuchDistribution"):
                self.cloudfront.delete_distribution(Id=item["Id"], IfMatch=now["ETag"])

    @told("cloudfront")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        """Only what serves a bucket of ours is asked for its tags."""
        ours = names.bucket(Cluster(names.own(cluster)))
        mark = (
            names.mark(self._tags(item["ARN"]), cluster)
            if (item := self._chosen(ours, cluster))
            else None
        )
        return {ours: mark} if mark and mark.cluster == cluster else {}

    def _chosen(self, name: str, cluster: str = "") -> Any:
        """Of several that serve the bucket, the one that bears our mark: the user may have another before it."""
        found = [item for item in self._all() if _name(item) == name]
        marks = (
            [names.mark(self._tags(item["ARN"]), cluster or self.cluster) for item in found]
            if len(found) > 1
            else []
        )
        ours = (
            item
            for item, mark in zip(found, marks, strict=False)
            if mark and mark.cluster == (cluster or self.cluster)
        )
        return next(ours, found[0] if found else None)

    def _mend(self, name: str, want: DistributionState, have: DistributionState) -> None:
        if changed(want, have) - {"tags"}:
            id_ = have.arn.rpartition("/")[2]
            now: Any = self.cloudfront.get_distribution_config(Id=id_)
            config: Any = {**now["DistributionConfig"], **_config(name, want)}
            self.cloudfront.update_distribution(
                Id=id_, IfMatch=now["ETag"], DistributionConfig=config
            )
        add, take = retagged(want, have)
        if add:
            self.cloudfront.tag_resource(Resource=have.arn, Tags={"Items": add})
        if take:
            self.cloudfront.untag_resource(Resource=have.arn, TagKeys={"Items": take})

    def _disable(self, name: str, item: Any) -> None:
        if item["Enabled"]:
            now: Any = self.cloudfront.get_distribution_config(Id=item["Id"])
            off: Any = {**now["DistributionConfig"], "Enabled": False}
            self.cloudfront.update_distribution(
                Id=item["Id"], IfMatch=now["ETag"], DistributionConfig=off
            )
            raise NotYet(f"{self.kind}/{name} is being disabled, which takes minutes")

    def _state(self, item: Any) -> DistributionState:
        tags = self._tags(item["ARN"])
        owner = names.mark(tags, self.cluster)
        origins, behaviour = item["Origins"]["Items"], item["DefaultCacheBehavior"]
        return DistributionState(
            origin=origins[0]["DomainName"],
            access=origins[0].get("OriginAccessControlId", ""),
            enabled=item["Enabled"],
            viewers=behaviour["ViewerProtocolPolicy"],
            caching=behaviour.get("CachePolicyId", ""),
            tags=names.apart(tags, owner),
            domain=item["DomainName"],
            arn=item["ARN"],
            owner=owner,
        )

    def _tags(self, arn: str) -> dict[str, str]:
        return read(self.cloudfront.list_tags_for_resource(Resource=arn)["Tags"].get("Items", []))

    def _all(self) -> Iterator[Any]:
        for page in self.cloudfront.get_paginator("list_distributions").paginate():
            yield from page.get("DistributionList", {}).get("Items", ())


def _name(item: Any) -> str:
    """The bucket that is its only origin."""
    origins = item["Origins"]["Items"]
    return origins[0]["DomainName"].partition(".s3.")[0] if len(origins) == 1 else ""


def _access(item: Any) -> OriginAccessState:
    return OriginAccessState(
        signing=item["SigningBehavior"],
        protocol=item["SigningProtocol"],
        id=item["Id"],
        owner=names.undescribed(item.get("Description", "")),
    )


def _config(name: str, want: DistributionState) -> dict[str, Any]:
    origin = {
        "Id": "documents",
        "DomainName": want.origin,
        "OriginAccessControlId": want.access,
        "S3OriginConfig": {"OriginAccessIdentity": ""},
    }
    methods = {
        "Quantity": 2,
        "Items": ["HEAD", "GET"],
        "CachedMethods": {"Quantity": 2, "Items": ["HEAD", "GET"]},
    }
    return {
        "Comment": name,
        "Enabled": want.enabled,
        "Origins": {"Quantity": 1, "Items": [origin]},
        "DefaultCacheBehavior": {
            "TargetOriginId": "documents",
            "ViewerProtocolPolicy": want.viewers,
            "CachePolicyId": want.caching,
            "AllowedMethods": methods,
        },
    }


@contextmanager
def gone(absent: str) -> Generator[None]:
    """Twice dropped is dropped."""
    try:
        yield
    except ClientError as e:
        if code(e) != absent:
            raise
