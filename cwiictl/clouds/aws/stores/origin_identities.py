"""CloudFront's older identities towards a bucket. We make none: ccoctl does, and what is taken over from it must be taken down too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cwiictl import names
from cwiictl.clouds.aws.resources.distribution import OriginIdentityState
from cwiictl.clouds.aws.stores.cloudfront import gone
from cwiictl.clouds.aws.stores.errors import told
from cwiictl.engine.resource import Mark

if TYPE_CHECKING:
    from types_boto3_cloudfront import CloudFrontClient


class OriginIdentities:
    """Addressed by id. The comment says whose it is: to ccoctl it is its tag's key, to us our mark."""

    kind, bulk, patience = "aws/origin-identity", True, 300.0

    def __init__(self, cloudfront: CloudFrontClient, cluster: str) -> None:
        self.cloudfront, self.cluster = cloudfront, cluster

    @told("cloudfront")
    def get(self, ids: Collection[str], /) -> Mapping[str, OriginIdentityState]:
        return {
            item["Id"]: OriginIdentityState(owner=self._mark(item))
            for item in self._all()
            if item["Id"] in ids
        }

    @told("cloudfront")
    def put(
        self, id_: str, want: OriginIdentityState, _have: OriginIdentityState | None, /
    ) -> OriginIdentityState:
        found: Any = self.cloudfront.get_cloud_front_origin_access_identity_config(Id=id_)
        config: Any = {
            **found["CloudFrontOriginAccessIdentityConfig"],
            "Comment": names.described(want.owner) if want.owner else "",
        }
        self.cloudfront.update_cloud_front_origin_access_identity(
            Id=id_, IfMatch=found["ETag"], CloudFrontOriginAccessIdentityConfig=config
        )
        return want

    @told("cloudfront")
    def drop(self, id_: str, /) -> None:
        with gone("NoSuchCloudFrontOriginAccessIdentity"):
            etag = self.cloudfront.get_cloud_front_origin_access_identity_config(Id=id_)["ETag"]
            self.cloudfront.delete_cloud_front_origin_access_identity(Id=id_, IfMatch=etag)

    @told("cloudfront")
    def owned(self, cluster: str, /) -> Mapping[str, Mark]:
        marks = {item["Id"]: self._mark(item) for item in self._all()}
        return {id_: mark for id_, mark in marks.items() if mark and mark.cluster == cluster}

    def _mark(self, item: Any) -> Mark | None:
        comment = item.get("Comment", "")
        return (
            names.mark({comment: "owned"}, self.cluster)
            if comment.startswith(names.CCOCTL_KEY)
            else names.undescribed(comment)
        )

    def _all(self) -> Iterator[Any]:
        for page in self.cloudfront.get_paginator(
            "list_cloud_front_origin_access_identities"
        ).paginate():
            yield from page.get("CloudFrontOriginAccessIdentityList", {}).get("Items", ())
